"""ONNX graphs of tables as codes."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from localsvm import ClusteredSVC
from localsvm.data import TableEncoder
from localsvm.export import onnx_inputs, to_onnx
from localsvm.export._onnx._graph import IR_VERSION, OPSETS, Graph
from localsvm.export._onnx._steps._table import table_rows
from onnx_data import run

pandas = pytest.importorskip("pandas")
MOMENTS = pandas.date_range("1700-01-01 00:45", "2250-01-01", periods=400)


def make_table(n_rows=400, seed=0):
    rng = np.random.default_rng(seed)
    holes = rng.random((6, n_rows)) < 0.1
    frame = pandas.DataFrame(
        {
            "number": rng.normal(size=n_rows).astype(np.float32).astype(float),
            "open": rng.choice([True, False], n_rows),
            "kind": rng.choice(
                ["a", "b", "c", "rare"], n_rows, p=[0.5, 0.3, 0.19, 0.01]
            ),
            "share": rng.choice(["0%", "1 - 10%", "11% up"], n_rows),
            "when": rng.choice(MOMENTS, n_rows),
            "day": rng.choice(MOMENTS, n_rows).astype("datetime64[D]"),
        }
    ).astype({"open": object})
    return frame.mask(holes.T)


@pytest.fixture(scope="module")
def model():
    frame = make_table()
    y = frame["number"].fillna(0) + frame["kind"].isin(["a"]) > 0.5
    encoder = TableEncoder(min_frequency=20, encoding="codes")
    steps = encoder, SimpleImputer(), StandardScaler()
    return make_pipeline(*steps, ClusteredSVC(3)).fit(frame, y)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_codes_of_a_table(model, dtype):
    proto = to_onnx(model, dtype=dtype)
    frame = make_table(seed=1)
    frame.loc[:3, "kind"] = "new"
    found = run(proto, onnx_inputs(proto, frame))
    assert_array_equal(found["label"], model.predict(frame))
    expected = model.decision_function(frame)
    tolerance = 1e-5 if dtype == "float32" else 1e-10
    np.testing.assert_allclose(found["scores"], expected, tolerance, tolerance)


def test_each_feature_is_that_of_the_encoder(model):
    frame = make_table(seed=2)
    graph = Graph("float64", "float64")
    rows = table_rows(graph, model[0], "float64")
    graph.output("features", rows, rows.name)
    helper = pytest.importorskip("onnx.helper")
    opsets = [helper.make_opsetid(each, OPSETS[each]) for each in graph.domains]
    proto = helper.make_model(
        graph.proto("table"), opset_imports=opsets, ir_version=IR_VERSION
    )
    helper.set_model_props(proto, {"columns": json.dumps(graph.columns)})
    found = run(proto, onnx_inputs(proto, frame))["features"]
    assert_array_equal(found, model[0].transform(frame))


def test_new_ordered_texts_are_missing_to_a_graph(model):
    frame = make_table(5)
    proto = to_onnx(model, dtype="float64")
    new = run(proto, onnx_inputs(proto, frame.assign(share="12% up")))["scores"]
    none = run(proto, onnx_inputs(proto, frame.assign(share=None)))["scores"]
    assert_array_equal(new, none)


def test_text_cannot_be_exported():
    texts = [f"{a} {b} {c}" for a in "abc" for b in "defg" for c in ("he", "you")]
    frame = pandas.DataFrame({"words": texts, "n": np.arange(24) + 0.5})
    encoder = TableEncoder(encoding="codes")
    model = make_pipeline(encoder, ClusteredSVC(1)).fit(frame, np.arange(24) % 2)
    with pytest.raises(TypeError, match="Column 'words' is text, which cannot be"):
        to_onnx(model)
