"""Rows on which an ONNX graph could disagree with its model, and comparisons."""

import numpy as np
import onnxruntime
from onnx_borders import border_rows

from localsvm.export import to_onnx

# Relative to the distance of the two rows between which the border was found.
DISTANCES = {
    "float64": (1e-3, 1e-5, 1e-7, 1e-10),
    "float32": (1e-3, 1e-4, 1e-5, 1e-6),
}


def open_session(proto):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def run(proto, X):
    """Outputs of a graph by name; ``X`` is an array or a dict of inputs."""
    return run_session(open_session(proto), X)


def run_session(session, X):
    names = [output.name for output in session.get_outputs()]
    feed = X if isinstance(X, dict) else {"X": X}
    return dict(zip(names, session.run(names, feed), strict=True))


def assert_same(model, X, dtype, tolerance=None):
    """The graph gives the model's labels on all rows, and its scores nearly."""
    X = X.astype(dtype)
    session = open_session(to_onnx(model, dtype=dtype))
    found, expected = run_session(session, X), model.decision_function(X)
    np.testing.assert_array_equal(found["label"], model.predict(X))
    assert found["scores"].shape == expected.shape
    assert found["scores"].dtype == dtype
    tolerance = tolerance or (2e-5 if dtype == "float32" else 1e-11)
    np.testing.assert_allclose(found["scores"], expected, tolerance, tolerance)
    for n_rows in (0, 1):
        part = run_session(session, X[:n_rows])
        np.testing.assert_array_equal(part["label"], found["label"][:n_rows])
        np.testing.assert_allclose(part["scores"], found["scores"][:n_rows], tolerance)


def assert_same_beside_borders(model, X, dtype, n_pairs=60):
    """The graph gives the model's labels where regions or labels change."""
    X = X.astype(dtype)
    session = open_session(to_onnx(model, dtype=dtype))
    for kind in (model.region, model.predict):
        rows = border_rows(kind, X, n_pairs, DISTANCES[dtype])
        rows = np.concatenate([X[:1], rows])
        found = run_session(session, rows)["label"]
        np.testing.assert_array_equal(found, model.predict(rows))
