"""``localsvm info``, ``export`` and ``compare``."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import make_pipeline

from forged_files import forge
from localsvm import ClusteredSVC
from localsvm.data import TableEncoder
from localsvm.export import load, onnx_inputs, save, to_c


def test_a_model_is_described(call):
    result = call("info", "people.lsvm")
    assert result.exit_code == 0, result.output
    for words in (
        "ClusteredSVC(",
        "n_regions=4",
        "people.csv",
        "happy",
        "held-out accuracy",
        "town",
        "category",
    ):
        assert words in result.stdout


def test_a_model_as_json(call):
    found = json.loads(call("info", "people.lsvm", "--json", "--regions").stdout)
    assert found["kind"] == "model"
    assert found["steps"] == {"table": "TableEncoder", "model": "ClusteredSVC"}
    assert found["params"]["model__n_regions"] == 4
    assert found["notes"]["target"] == "happy"
    assert found["bytes"] == Path("people.lsvm").stat().st_size
    assert [column["name"] for column in found["columns"]] == ["age", "income", "town"]
    assert sum(region["size"] for region in found["regions"]) == 300


def test_regions_are_those_of_a_model(call):
    text = call("info", "people.lsvm", "--regions").stdout
    assert "top features" in text


def test_notes_of_others_may_be_anything(call):
    model = load("people.lsvm")
    for notes in (None, [1], {"held_out": {"accuracy": 3}, "classes": 7, "read": 1}):
        save(model, "odd.lsvm", notes=notes)
        result = call("info", "odd.lsvm")
        assert result.exit_code == 0, result.output
        assert call("predict", "odd.lsvm", "people.csv").exit_code == 0


_ESCAPE = "\x1b]0;owned\x07\x9b2J"


def _write_hostile_model(rows):
    table = pd.DataFrame({f"a{_ESCAPE}": np.arange(rows), "b": np.arange(rows) % 2})
    labels = np.where(table["b"] == 1, f"yes{_ESCAPE}", f"no{_ESCAPE}")
    encoder = TableEncoder(kinds={f"a{_ESCAPE}": "number"})
    model = make_pipeline(encoder, ClusteredSVC(2, C=0.01)).fit(table, labels)
    notes = {"source": _ESCAPE, "target": _ESCAPE, "classes": {_ESCAPE: 1}}
    save(model, "hostile.lsvm", notes=notes)
    table.assign(label=labels).to_csv("hostile.tsv", index=False, sep="\t")


@pytest.mark.parametrize(
    "arguments",
    [
        ("info", "hostile.lsvm"),
        ("info", "hostile.lsvm", "--regions"),
        ("info", "hostile.lsvm", "--json", "--regions"),
        ("explain", "hostile.lsvm", "hostile.tsv", "--row", "1"),
        ("explain", "hostile.lsvm", "hostile.tsv", "--row", "1", "--json"),
        ("evaluate", "hostile.lsvm", "hostile.tsv", "--target", "label"),
        ("predict", "hostile.lsvm", "people.csv"),
        ("predict", "forged.lsvm", "people.csv"),
        ("info", "forged.lsvm"),
    ],
)
def test_a_model_of_a_stranger_does_not_command_the_terminal(call, arguments):
    _write_hostile_model(60)
    Path("forged.lsvm").write_bytes(Path("hostile.lsvm").read_bytes())

    def rename_step(header, _):
        header["model"]["fitted"]["steps"][1][0] = _ESCAPE
        header["model"]["fitted"]["steps"][1][1]["fitted"].clear()

    forge("forged.lsvm", rename_step)
    result = call(*arguments, color=True)
    assert "1b]0;owned" in result.output, result.output
    for character in "\x1b\x07\x9b":
        assert character not in result.output


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("people.csv", "people.csv is not a file of localsvm: it begins with b'age,"),
        ("no.lsvm", "no.lsvm: no such file or directory."),
        ("cut.lsvm", "cut.lsvm: is truncated"),
        ("new.lsvm", "was written in version 9 of the model format"),
    ],
)
def test_other_files_are_refused(call, name, words):
    whole = Path("people.lsvm").read_bytes()
    Path("cut.lsvm").write_bytes(whole[:300])
    Path("new.lsvm").write_bytes(whole.replace(b"version 2", b"version 9", 1))
    result = call("info", name)
    assert (result.exit_code, result.stdout) == (1, "")
    assert words in result.stderr


def test_the_graph_of_a_table_takes_its_columns(call):
    onnx, onnxruntime = map(pytest.importorskip, ["onnx", "onnxruntime"])
    result = call("export", "people.lsvm", "-o", "people.onnx", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["inputs"] == ["age", "income", "town"]
    model, people = load("people.lsvm"), pd.read_csv("people.csv")
    session = onnxruntime.InferenceSession("people.onnx")
    (labels,) = session.run(["label"], onnx_inputs(onnx.load("people.onnx"), people))
    assert labels.tolist() == model.predict(people).tolist()


def test_text_cannot_be_exported(call):
    people = pd.read_csv("people.csv")
    people["note"] = [f"note {i} of {i % 7} words" for i in range(300)]
    people.to_csv("notes.csv", index=False)
    call("fit", "notes.csv", "-t", "happy", "-o", "notes.lsvm", "-m", "clustered")
    result = call("export", "notes.lsvm", "-o", "notes.onnx")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: notes.lsvm: ")
    assert not Path("notes.onnx").exists()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_export_gives_the_same_labels(call, dtype):
    onnxruntime = pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3)).astype(dtype)
    dump_svmlight_file(X, X[:, 0] * X[:, 1] > 0, "a.svm", zero_based=False)
    call("fit", "a.svm", "-o", "a.lsvm", "-m", "clustered")
    result = call("export", "a.lsvm", "-o", "a.onnx", "--dtype", dtype, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["bytes"] == Path("a.onnx").stat().st_size
    (labels,) = onnxruntime.InferenceSession("a.onnx").run(["label"], {"X": X})
    assert (labels == load("a.lsvm").predict(X)).all()
    assert call("export", "a.lsvm", "-o", "a.onnx").exit_code == 2


def test_comparison_compares_with_others(call):
    command = ("compare", "people.lsvm", "people.csv", "--max-time", "5")
    found = json.loads(call(*command, "--json").stdout)["peers"]
    names = [peer["name"] for peer in found]
    assert names[:3] == ["ClusteredSVC", "LinearSVC", "SVC"]
    assert found[0]["is_given"]
    assert found[0]["n_test"] == 60
    assert found[0]["n_train"] == 240


def test_comparison_of_a_method_on_a_table_of_its_own(call):
    command = ("compare", "clustered", "people.csv", "-t", "happy")
    command += ("--test", "others.csv")
    result = call(*command, "--max-time", "5")
    assert result.exit_code == 0, result.output
    assert "ahead by" in result.stdout
    assert "on the same 100 rows, to which none was fitted" in result.stdout


@pytest.mark.parametrize(
    ("what", "options", "words"),
    [
        ("clusterd", (), "no such model file, and no method; expected one of auto"),
        ("auto", ("--test-size", "0"), "the comparison needs held-out rows"),
    ],
)
def test_comparison_misuse(call, what, options, words):
    result = call("compare", what, "people.csv", "-t", "happy", *options)
    assert result.exit_code == 2
    assert words in result.stderr


def test_numbers_of_json_are_numbers(call):
    found = json.loads(call("info", "people.lsvm", "--json").stdout)
    assert np.isfinite(found["notes"]["held_out"]["accuracy"]["value"])


def test_a_model_of_numbers_is_written_as_c(call):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    save(ClusteredSVC(3, random_state=0).fit(X, X[:, 0] > 0), "a.lsvm")
    result = call("export", "a.lsvm", "--c", "a.h", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["bytes"] == Path("a.h").stat().st_size
    assert Path("a.h").read_text() == to_c(load("a.lsvm"))
    assert call("export", "a.lsvm", "--c", "a.h").exit_code == 2
    for files in ((), ("--c", "b.h", "-o", "b.onnx")):
        result = call("export", "a.lsvm", *files)
        assert result.exit_code == 2
        assert "Give one file to write" in " ".join(result.stderr.split())


def test_a_model_of_a_table_is_no_c(call):
    result = call("export", "people.lsvm", "--c", "people.h")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: people.lsvm: Pipeline cannot be written")
    assert not Path("people.h").exists()
