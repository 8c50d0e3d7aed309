"""ONNX graphs of staged SVMs."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits

from localsvm import StagedSVC
from onnx_data import assert_same, assert_same_beside_borders

SETTINGS = {
    "standard": {"scaling": "standard"},
    "quantile": {"scaling": "quantile"},
    "ranks": {"scaling": "ranks"},
    "unit": {"scaling": "unit", "n_components": 15},
    "full": {"scaling": "none", "gradient_metric": "full"},
    "diagonal": {"scaling": "standard", "gradient_metric": "diagonal"},
    "first_alone": {"scaling": "standard", "threshold": 0.0},
    "second_alone": {"scaling": "standard", "threshold": np.inf},
    "one_model": {"scaling": "quantile", "cell_size": None},
}


def make(**setting):
    given = {
        "n_components": None,
        "gradient_metric": None,
        "C": 1.0,
        "cell_size": 60,
        "gamma_factor": 2.0,
        "kernel_C": 10.0,
        "threshold": 1.0,
        "n_regions": 12,
        "random_state": 0,
    }
    return StagedSVC(**(given | setting))


@pytest.fixture(scope="module")
def digits():
    """Digits in 26 columns, two of which have the values 0 and 1 alone."""
    X, y = load_digits(return_X_y=True)
    X = X[:, 18:44] / 16 + 0.01 * np.random.default_rng(0).standard_normal((1797, 26))
    X[:, 3:5] = X[:, 3:5] > 0.5
    return X, y


@pytest.mark.parametrize("n_classes", [2, 10])
@pytest.mark.parametrize("name", SETTINGS)
def test_labels_are_those_of_the_model(name, n_classes, digits):
    X, y = digits
    y = y if n_classes == 10 else y % 2
    model = make(**SETTINGS[name]).fit(X[:500], y[:500])
    # Not the training rows: the solver puts some at the threshold to the last digit.
    assert_same(model, X[500:900], "float64")
    assert_same_beside_borders(model, X[500:900], "float64", 10)
    assert_same(model, X[500:900], "float32")


@pytest.mark.parametrize("name", ["quantile", "ranks", "one_model"])
def test_rows_of_float32(name, digits):
    X, y = digits[0].astype(np.float32), digits[1]
    model = make(**SETTINGS[name]).fit(X[:500], y[:500])
    assert_same_beside_borders(model, X[500:900], "float32", 10)
    assert_same(model, X[500:900].astype(np.float64), "float64", 1e-5)


@pytest.mark.parametrize("scaling", ["quantile", "ranks"])
def test_rows_beyond_the_quantiles(scaling, digits):
    X, y = digits
    model = make(scaling=scaling).fit(X[:500], y[:500])
    assert_same(model, 30 * X[500:] - 10, "float64")


def test_sparse_rows(digits):
    X, y = digits
    X = np.where(X < 0.3, 0.0, X)
    model = make(scaling="standard").fit(csr_array(X[:500]), y[:500])
    assert_same(model, X[500:], "float64")


SUM = {"additive": 0.5, "regions": 0.4, "rbf": 0.3, "laplace": 0.2}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("changes", [{}, {"scaling": "quantile", "cell_size": None}])
def test_a_sum_of_rows_with_gaps_and_categories(n_classes, changes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 4))
    X[:, 2] = rng.integers(0, 6, 500)
    y = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] == 3) * (n_classes - 2)
    X[rng.random(500) < 0.1, 1] = np.nan
    X[rng.random(500) < 0.1, 2] = np.nan
    X[:3, 2] = 7
    bias = np.linspace(0.1, -0.1, 1 if n_classes == 2 else n_classes).tolist()
    model = make(
        **{"scaling": "standard", "join": SUM | {"bias": bias}} | changes,
        additive_C=1.0,
        laplace_C=3.0,
        categorical_features=[2],
    ).fit(X[:300], y[:300])
    query = X[300:]
    query[0], query[1, 2] = np.nan, 99
    assert_same(model, query, "float64")
