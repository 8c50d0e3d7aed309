"""ONNX graphs of mixtures of linear SVMs."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from localsvm import GradientMetric, MixtureSVC
from localsvm.estimators import PaperGate, SoftmaxGate
from localsvm.export import to_onnx
from onnx_data import assert_same, assert_same_beside_borders, run

MODELS = {
    "softmax": MixtureSVC(4),
    "paper": MixtureSVC(4, gate="paper"),
    "two_levels": MixtureSVC(6, gate=SoftmaxGate(2, n_groups=2)),
    "paper_two_levels": MixtureSVC(6, gate=PaperGate(levels=2, n_groups=2)),
    "one": MixtureSVC(1),
    "metric": MixtureSVC(3, metric=GradientMetric(random_state=0)),
}


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    noise = np.random.default_rng(0).standard_normal((4, *X.shape))
    return np.concatenate(X + 0.3 * noise), np.tile(y, 4)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_labels_and_probabilities_are_those_of_the_model(name, n_classes, iris):
    X, y = iris
    y = y if n_classes == 3 else y == 1
    model = MODELS[name].set_params(em_max_iter=5, random_state=0).fit(X[:400], y[:400])
    for dtype in ("float32", "float64"):
        assert_same(model, X, dtype)
        assert_same_beside_borders(model, X, dtype, 10)
        rows = X.astype(dtype)
        found = run(to_onnx(model, dtype=dtype), rows)["probabilities"]
        assert found.dtype == dtype
        tolerance = 1e-5 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(found, model.predict_proba(rows), 0, tolerance)


def test_far_rows_do_not_overflow(iris):
    X, y = iris
    model = MixtureSVC(4, em_max_iter=5, random_state=0).fit(X, y)
    assert_same(model, 1e6 * X, "float64")
    probabilities = run(to_onnx(model, dtype="float64"), 1e6 * X)["probabilities"]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def test_scores_are_rounded_as_those_of_a_model_of_float32(iris):
    X, y = iris
    model = MixtureSVC(4, em_max_iter=5, random_state=0).fit(X.astype(np.float32), y)
    found = run(to_onnx(model, dtype="float64"), X)["scores"]
    np.testing.assert_array_equal(found, found.astype(np.float32))
    assert_same(model, X, "float64", 1e-6)
