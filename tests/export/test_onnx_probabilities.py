"""Probabilities of ONNX graphs."""

import numpy as np
import pytest
from sklearn.base import clone

from calibration_data import MODELS, draw
from localsvm.export import to_onnx
from onnx_data import run

EXPORTED = sorted(set(MODELS) - {"neighbor", "clustered-cv", "local-cv", "squared"})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", EXPORTED)
def test_probabilities_of_a_graph(name, n_classes, dtype):
    X, y = draw(200, n_classes)
    model = clone(MODELS[name]).fit(X.astype(dtype), y)
    rows = draw(500, n_classes, seed=1)[0].astype(dtype)
    found = run(to_onnx(model, dtype=dtype), rows)
    assert found["probabilities"].dtype == dtype
    labels = model.classes_[found["probabilities"].argmax(axis=1)]
    np.testing.assert_array_equal(labels, found["label"])
    tolerance = 1e-4 if dtype == "float32" else 1e-9
    np.testing.assert_allclose(
        found["probabilities"], model.predict_proba(rows), atol=tolerance
    )


def test_tiny_scores_keep_their_side():
    X, y = draw(200)
    model = clone(MODELS["reduced-linear"]).fit(X, y)
    model._model.coef[:] = [[1e-20, 0.0]]
    model._model.intercept[:] = 0.0
    rows = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]])
    for dtype in ("float32", "float64"):
        found = run(to_onnx(model, dtype=dtype), rows.astype(dtype))
        assert found["probabilities"].argmax(axis=1).tolist() == [1, 0, 0]
        assert model.predict_proba(rows).argmax(axis=1).tolist() == [1, 0, 0]


def test_uncalibrated_model_has_no_such_output():
    X, y = draw(200)
    model = clone(MODELS["clustered"]).fit(X, y)
    model._forget_held_out()
    assert set(run(to_onnx(model, dtype="float64"), X)) == {"label", "scores"}
