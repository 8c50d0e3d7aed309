"""ONNX graphs of additive SVMs."""

import numpy as np
import pytest

from additive_data import mixed_table
from localsvm import AdditiveSVC
from localsvm.export import to_onnx
from onnx_data import assert_same, run


def fitted(dtype, n_classes=2, **parameters):
    X, y, categorical = mixed_table(n_classes=n_classes)
    X = X.astype(dtype)
    settings = {"C": 1.0, "categorical_features": categorical} | parameters
    return AdditiveSVC(**settings).fit(X, y), X


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_graph_gives_labels_and_scores(dtype, n_classes):
    model, X = fitted(dtype, n_classes)
    assert_same(model, X, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("arithmetic", ["float32", "float64"])
def test_values_beside_edges_and_unknown_levels(dtype, arithmetic):
    if (dtype, arithmetic) == ("float64", "float32"):
        pytest.skip("is refused")
    model, X = fitted(dtype)
    real = np.dtype(dtype).type
    bins = model._model.bins
    rows = []
    for k in range(4):
        cuts = bins.cuts[bins.cut_start[k] : bins.cut_start[k + 1]].astype(real)
        values = [cuts, np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf)]
        for value in np.concatenate([*values, [np.nan, 1e30, -1e30, 0.5]]):
            rows.append(X[3].copy())
            rows[-1][k] = value
    rows = np.array(rows, dtype=dtype)
    proto = to_onnx(model, dtype=dtype, arithmetic=arithmetic)
    found = run(proto, rows)
    tolerance = 1e-6 if "float32" in (dtype, arithmetic) else 1e-12
    np.testing.assert_allclose(
        found["scores"], model.decision_function(rows), tolerance, tolerance
    )
    np.testing.assert_array_equal(found["label"], model.predict(rows))


@pytest.mark.parametrize("kind", [[True], [False]])
def test_a_single_column(kind):
    X, y, _ = mixed_table()
    column = X[:, [2 if kind[0] else 0]]
    model = AdditiveSVC(C=1.0, categorical_features=kind).fit(column, y)
    assert_same(model, column, "float64")


def test_levels_that_float32_does_not_have():
    levels = np.array([0.1, 0.25])
    X = np.repeat(levels, 20)[:, np.newaxis]
    model = AdditiveSVC(C=1.0, categorical_features=[0]).fit(X, np.arange(40) % 2)
    single = X.astype(np.float32)
    found = run(to_onnx(model, dtype="float32", arithmetic="float32"), single)
    np.testing.assert_allclose(
        found["scores"], model.decision_function(single), atol=1e-6
    )
