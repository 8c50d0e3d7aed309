"""Gradients and explanations of LocalSVC, and its time limit."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from localsvm import ClusteredSVC, GradientMetric, LocalSVC
from localsvm.inspect import explain
from oracles.local_svm import make_classes


def numeric_gradients(model, X, step=1e-5):
    columns = [
        (model.decision_function(X + shift) - model.decision_function(X - shift))
        / (2 * step)
        for shift in step * np.eye(X.shape[1])
    ]
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "rbf"},
        {"kernel": "laplace"},
        {"kernel": "linear"},
        {"kernel": "poly", "coef0": 1.0},
        {"metric": GradientMetric(random_state=0)},
    ],
    ids=str,
)
def test_weights_are_the_gradient_of_the_decision(parameters):
    X, y = make_classes(120, 2)
    model = LocalSVC(120, random_state=0, **parameters).fit(X, y)
    coef, intercept = model.local_coef(X[:20])
    np.testing.assert_allclose(
        coef[:, 0], numeric_gradients(model, X[:20]), rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(
        (coef[:, 0] * X[:20]).sum(axis=1) + intercept[:, 0],
        model.decision_function(X[:20]),
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_of_several_classes_and_sparse_rows_sum_to_the_decision(n_classes):
    X, y = make_classes(150, n_classes)
    model = LocalSVC(30, random_state=0).fit(sparse.csr_array(X), y)
    coef, intercept = model.local_coef(sparse.csr_array(X))
    total = np.einsum("ipj,ij->ip", coef, X) + intercept
    np.testing.assert_allclose(
        total, model.decision_function(sparse.csr_array(X)).reshape(150, -1)
    )


def test_shrunk_models_have_the_weights_of_the_global_one_in_theirs():
    X, y = make_classes(120, 2)
    linear = ClusteredSVC(1, random_state=0)
    model = LocalSVC(120, shrink=0.7, global_model=linear, random_state=0).fit(X, y)
    coef, _ = model.local_coef(X[:20])
    np.testing.assert_allclose(
        coef[:, 0], numeric_gradients(model, X[:20]), rtol=1e-4, atol=1e-5
    )


def test_a_global_model_without_weights_is_named():
    X, y = make_classes(60, 2)

    class Distant(LogisticRegression):
        pass

    model = LocalSVC(60, shrink=1.0, global_model=Distant(), random_state=0).fit(X, y)
    with pytest.raises(AttributeError, match=r"local_coef.*got Distant"):
        model.local_coef(X)
    with pytest.raises(ValueError, match="'global_model' parameter"):
        LocalSVC(60, shrink=1.0, global_model=GaussianNB()).fit(X, y)


def test_explanation_says_that_a_kernel_decides():
    X, y = make_classes(150, 2)
    model = LocalSVC(30, random_state=0).fit(X, y)
    for row in range(5):
        explanation = explain(model, X[row])
        assert explanation.is_gradient
        assert "gradient" in str(explanation)
        assert explanation.regions.tolist() == [model.region(X[[row]])[0]]
        total = explanation.contributions.sum() + explanation.intercept
        assert total == pytest.approx(explanation.decision_value)


def test_time_limit_ends_the_solver():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 2)), rng.integers(0, 2, 3000)
    model = LocalSVC(3000, C=1e6, gamma=0.1, tol=1e-9, max_time=0.5, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"max_time=0\.5"):
        model.fit(X, y)
    assert np.isfinite(model.decision_function(X[:5])).all()
    with pytest.raises(ValueError, match="'max_time' parameter"):
        LocalSVC(max_time=-1.0).fit(X[:9], y[:9])
