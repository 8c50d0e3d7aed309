"""ONNX graphs on real data sets, which are skipped where they are absent."""

import numpy as np
import pytest
from onnx_borders import border_rows
from onnx_parity import MODELS, load

from data_sets import loaded
from localsvm.export import to_onnx
from onnx_data import open_session


@pytest.fixture(scope="module", params=["svmguide1", "vowel"])
def data(request):
    return loaded(load, request.param)


@pytest.mark.parametrize("name", MODELS)
def test_labels_of_every_test_row(name, data):
    X_train, y_train, X_test = data
    for dtype in ("float32", "float64"):
        rows = X_test.astype(dtype)
        model = MODELS[name].set_params(random_state=0)
        model.fit(X_train[:600].astype(dtype), y_train[:600])
        session = open_session(to_onnx(model, dtype=dtype))
        found = session.run(["label"], {"X": rows})[0]
        np.testing.assert_array_equal(found, model.predict(rows))
    border = border_rows(model.predict, rows, 10, (1e-3, 1e-5, 1e-7))
    found = session.run(["label"], {"X": border})[0]
    np.testing.assert_array_equal(found, model.predict(border))
