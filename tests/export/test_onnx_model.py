"""ONNX models as a whole: metadata, labels, blocks of rows, files, errors."""

import json
import sys

import numpy as np
import onnx
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import localsvm
from localsvm import ClusteredSVC, LocalSVC, ReducedSVC, StagedSVC
from localsvm.data import make_xor
from localsvm.estimators import NeighborSVC
from localsvm.export import to_onnx, write_onnx
from onnx_data import open_session, run


@pytest.fixture(scope="module")
def xor():
    return make_xor(300, random_state=0)


def test_metadata(xor):
    pandas = pytest.importorskip("pandas")
    X, y = xor
    frame = pandas.DataFrame(X, columns=["width", "height"])
    model = ClusteredSVC(4).fit(frame, np.where(y > 0, "yes", "no"))
    proto = to_onnx(model)
    properties = {each.key: each.value for each in proto.metadata_props}
    assert properties["class"] == "ClusteredSVC"
    assert properties["localsvm_version"] == localsvm.__version__
    assert json.loads(properties["classes"]) == ["no", "yes"]
    assert json.loads(properties["feature_names"]) == ["width", "height"]
    assert properties["dtype"] == "float32"
    assert proto.producer_name == "localsvm"
    assert proto.ir_version == 8
    assert [(each.domain, each.version) for each in proto.opset_import] == [("", 18)]


@pytest.mark.parametrize(
    "labels",
    [[3, 7], ["no", "yes"], [False, True], [1.0, 2.0], np.array(["a", "b"], object)],
    ids=str,
)
def test_labels_of_any_type(labels, xor):
    X, y = xor
    model = ClusteredSVC(4).fit(X, np.array(labels)[(y > 0).astype(int)])
    found = run(to_onnx(model, dtype="float64"), X)["label"]
    assert (found == model.predict(X)).all()


def test_labels_without_a_type_are_refused(xor):
    X, y = xor
    model = ClusteredSVC(4).fit(X, y)
    model.classes_ = np.array([(1, 2), None], dtype=object)
    with pytest.raises(TypeError, match="no type in ONNX"):
        to_onnx(model)


@pytest.mark.parametrize(
    "model",
    [ClusteredSVC(30), ReducedSVC(), LocalSVC(40), LocalSVC(40, route="center")],
    ids=str,
)
def test_large_batches_in_blocks_of_rows(model, xor):
    """In one piece the intermediate results would take gigabytes."""
    X, y = xor
    rows = np.random.default_rng(0).uniform(-2, 2, size=(100_000, 2)).astype(np.float32)
    model.set_params(random_state=0).fit(X, y)
    session = open_session(to_onnx(model))
    labels = session.run(["label"], {"X": rows})[0]
    part = np.r_[:50, 49_950:50_050, 99_900:100_000]
    assert (labels[part] == session.run(["label"], {"X": rows[part]})[0]).all()
    expected = model.predict(rows[part])
    assert (labels[part] == expected).mean() >= 0.99


def test_blocks_are_a_scan_only_where_rows_take_room(xor):
    X, y = xor
    small = to_onnx(ClusteredSVC(4).fit(X, y))
    large = to_onnx(LocalSVC(40).fit(np.repeat(X, 300, axis=1), y))
    assert "Scan" not in {node.op_type for node in small.graph.node}
    assert "Scan" in {node.op_type for node in large.graph.node}


def test_the_same_model_gives_the_same_bytes(xor):
    X, y = xor
    model = LocalSVC(40, random_state=0).fit(X, y)
    first, second = (to_onnx(model).SerializeToString() for _ in range(2))
    assert first == second


def test_parameters_are_stored_once(xor):
    X, y = xor
    wide = np.hstack([X, np.random.default_rng(0).standard_normal((300, 50))])
    proto = to_onnx(LocalSVC(40, random_state=0).fit(wide, y), dtype="float64")
    rows = [each for each in proto.graph.initializer if 300 in each.dims]
    # The rows themselves, moved and transposed for the products, and their norms.
    assert sum(len(each.raw_data) for each in rows) < 2.2 * wide.nbytes


def test_written_file_is_whole_or_the_old_one(tmp_path, xor):
    X, y = xor
    path = tmp_path / "model.onnx"
    model = ClusteredSVC(4).fit(X, y)
    write_onnx(model, path, dtype="float64")
    assert (run(onnx.load(path), X)["label"] == model.predict(X)).all()
    before = path.read_bytes()
    with pytest.raises(TypeError):
        write_onnx(NeighborSVC().fit(X, y), path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["model.onnx"]


def test_models_that_have_no_graph(xor):
    X, y = xor
    with pytest.raises(TypeError, match=r"NeighborSVC .*fits an SVM for each row"):
        to_onnx(NeighborSVC().fit(X, y))
    with pytest.raises(TypeError, match=r"LinearSVC .*expected one of AdditiveSVC"):
        to_onnx(LinearSVC().fit(X, y))
    with pytest.raises(TypeError, match=r"LinearSVC .*ends with one"):
        to_onnx(make_pipeline(StandardScaler(), LinearSVC()).fit(X, y))
    with pytest.raises(NotFittedError):
        to_onnx(StagedSVC())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dtype": "float16"}, "dtype must be 'float32' or 'float64'. Got 'float16'"),
        ({"arithmetic": "int8"}, "arithmetic must be"),
        ({"dtype": "float64", "arithmetic": "float32"}, "needs dtype='float32'"),
    ],
)
def test_wrong_types_are_refused(parameters, message, xor):
    model = ClusteredSVC(4).fit(*xor)
    with pytest.raises(ValueError, match=message):
        to_onnx(model, **parameters)


def test_too_large_a_graph_is_refused(monkeypatch, xor):
    from localsvm.export._onnx import _model

    monkeypatch.setattr(_model, "_MOST_BYTES", 1000)
    with pytest.raises(ValueError, match=r"has [\d,]+ bytes; expected at most 1,000"):
        to_onnx(ClusteredSVC(4).fit(*xor))


def test_without_onnx_the_error_says_how_to_install_it(monkeypatch, xor):
    for name in [each for each in sys.modules if each.split(".")[0] == "onnx"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"pip install 'localsvm\[onnx\]'"):
        to_onnx(ClusteredSVC(4).fit(*xor))


def test_labels_that_are_booleans_stay_booleans(xor):
    X, y = xor
    for model in (ClusteredSVC(4), make_pipeline(StandardScaler(), ClusteredSVC(4))):
        proto = to_onnx(model.fit(X, y > 0))
        found = run(proto, X.astype(np.float32))["label"]
        assert found.dtype == bool
        assert (found == model.predict(X.astype(np.float32))).all()
    properties = {each.key: each.value for each in proto.metadata_props}
    assert json.loads(properties["classes"]) == [False, True]
