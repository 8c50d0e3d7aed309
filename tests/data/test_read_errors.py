"""What is wrong with a file is said in one sentence, with the place."""

import gzip
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from localsvm.data import read_table
from localsvm.data._readers import _arrow

LATIN = "a,b\n1,x\n2,Müller\n".encode("latin-1")
GZIPPED = gzip.compress(np.random.default_rng(0).bytes(9000).hex().encode())

# name, content, options, what the message says
TEXTS = {
    "empty file": ("t.csv", "", {}, "is empty"),
    "blank lines": ("t.csv", "\n \n", {}, "is empty"),
    "names alone": ("t.csv", "a,b\n", {}, "has no rows"),
    "short row": ("t.csv", "a,b\n1,2\n\n3\n", {}, "1 field in line 4, expected 2.*'3'"),
    "long row": ("t.csv", 'a,b\n1,"x\ny"\n3,4,5\n', {}, "3 fields in line 4, exp"),
    "open quote": ("t.csv", 'a,b\n1,2\n3,"x\n4,5\n', {}, "line 3 that never ends"),
    "open quote before": ("t.csv", 'a,b\n1,2\n"3,x\n4,5\n', {}, "1 field in line 3"),
    "latin-1": (
        "t.csv",
        LATIN,
        {},
        "not utf-8 in line 3; pass encoding='latin-1' if.*ü",
    ),
    "latin-1 string": ("t.csv", LATIN, {"strings": "b"}, "not utf-8 in line 3"),
    "latin-1 name": ("t.csv", "ä,b\n1,2\n".encode("latin-1"), {}, "utf-8 in line 1"),
    "not ascii": ("t.csv", "a\nü\n", {"encoding": "ascii"}, "not ascii in line 2"),
    "utf-16": ("t.csv", "a,b\n".encode("utf-16"), {}, "pass encoding='utf-16'"),
    "unknown encoding": ("t.csv", "a\n1\n", {"encoding": "u8x"}, "'u8x' is not known"),
    "bytes of 0": ("t.csv", b"a,b\n\0,1\n", {}, "not text: it has bytes of value 0"),
    "picture": ("t.csv", b"\x89PNG\r\n", {}, "not a table of text but a picture"),
    "spreadsheet": (
        "t.xlsx",
        b"PK\x03\x04..",
        {},
        "spreadsheet; save the table as CSV",
    ),
    "web page": ("t.csv", "<!doctype html>", {}, "not a table of text but HTML"),
    "json": ("t.json", '{"a": [1]}', {}, "not a table of text but JSON"),
    "gzip without ending": ("t.csv", GZIPPED, {}, r"name should end in \.gz"),
    "ending without gzip": ("t.csv.gz", "a,b\n1,2\n", {}, "not compressed as its name"),
    "cut gzip": ("t.csv.gz", GZIPPED[:-20], {}, "Truncated"),
    "two equal names": ("t.csv", "a,b,a\n1,2,3\n", {}, "several columns named 'a'"),
    "two delimiters": (
        "t.csv",
        "1,5;2\n3,5;4\n",
        {"header": False},
        "2 fields by ',' or 2 fields by ';'.*pass delimiter=',' or delimiter=';'",
    ),
    "short row with semicolons": (
        "t.csv",
        "a;b;c\n1,5;2;3\n1;2\n",
        {},
        "2 fields in line 3, expected 3 as in the first line: '1;2'",
    ),
    "long delimiter": (
        "t.csv",
        "a\n1\n",
        {"delimiter": "::"},
        "expected one character",
    ),
    "unknown format": ("t.csv", "a\n1\n", {"format": "xls"}, "format='xls'.*'parquet'"),
    "no such target": (
        "t.csv",
        "age,income\n1,2\n",
        {"target": "Incom"},
        "close.*'income",
    ),
    "nothing like it": (
        "t.csv",
        "age,b\n1,2\n",
        {"target": "zzz"},
        "found: 'age', 'b'",
    ),
    "missing labels": (
        "t.csv",
        "a,y\n1,u\n2,\n3,?\n",
        {"target": "y"},
        r"2 missing values in its target column 'y', .* row 1 .*missing_labels='drop'",
    ),
    "no labels at all": (
        "t.csv",
        "a,y\n1,\n2,\n",
        {"target": "y", "missing_labels": "drop"},
        "has no label in its target column 'y'",
    ),
    "no such drop": (
        "t.csv",
        "a,b\n1,2\n",
        {"drop": ["A", "q"]},
        "columns 'A', 'q'.*'a'",
    ),
    "dropped target": (
        "t.csv",
        "a,b\n1,2\n",
        {"target": "a", "drop": "a"},
        "cannot drop",
    ),
    "no such where": (
        "t.csv",
        "split\n1\n",
        {"where": "spilt=1"},
        "close names: 'split'",
    ),
    "no such row": (
        "t.csv",
        "s\nx\ny\n",
        {"where": "s=z"},
        "'z' in column 's'; found 'x'",
    ),
    "no condition": ("t.csv", "s\nx\n", {"where": "s"}, "expected 'column=value'"),
    "parquet of text": ("t.parquet", "a,b\n1,2\n" * 9, {}, "cannot be read as Parquet"),
    "arrow of text": ("t.arrow", "a,b\n1,2\n", {}, "cannot be read as Arrow"),
    "svmlight words": (
        "t.svm",
        "1 1:2\nx y z\n",
        {},
        "'x y z' in line 2; expected a lab",
    ),
    "svmlight order": (
        "t.svm",
        "1 3:1 2:1\n",
        {},
        "line 1; expected columns in ascend",
    ),
    "svmlight column": ("t.svm", "1 -1:1\n", {}, "'1 -1:1' in line 1"),
    "svmlight wide": ("t.svm", "1 1:1\n0 9:1\n", {"n_features": 3}, "2;.*n_features=3"),
    "svmlight zero": ("t.svm", "1 0:1\n", {"zero_based": False}, "zero_based=False"),
    "svmlight huge": ("t.svm", "1 99999999999:1\n", {}, "expected columns up to"),
    "svmlight label": ("t.svm", "1 1:1\nnan 1:1\n", {}, "label nan in row 1"),
    "svmlight labels": (
        "t.svm",
        "1,2 1:1\n",
        {},
        "'1,2 1:1' in line 1; expected a label",
    ),
    "svmlight target": ("t.svm", "1 1:1\n", {"target": "y"}, "expected target=None"),
    "svmlight where": (
        "t.svm",
        "1 1:1\n",
        {"where": "y=1"},
        "no column names; expected where=None",
    ),
    "svmlight comments": ("t.svm", "# nothing\n", {}, "has no rows"),
    "svmlight cut": ("t.svm.gz", gzip.compress(b"1 1:1\n")[:-9], {}, "Truncated"),
    "arff": (
        "t.arff",
        "@relation r\n@attribute n real\n@data\n1\n",
        {},
        "is an ARFF file, which is not read; expected .* csv, tsv, parquet, arrow, "
        "svmlight, npz or npy. OpenML .* Parquet, and openml:ID",
    ),
    "compressed arff": ("t.ARFF.gz", gzip.compress(b"@data\n1\n"), {}, "an ARFF file"),
    "arff by name": (
        "t.csv",
        "a\n1\n",
        {"format": "arff"},
        "format='arff'; exp.*'csv'",
    ),
    "npz of text": ("t.npz", "hello", {}, "not an npz file"),
    "npy of text": ("t.npy", "hello", {}, "not an npy file"),
}


def say(path, **options):
    """The message, which is one line and names the file."""
    with pytest.raises(ValueError) as caught:
        read_table(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", TEXTS)
def test_message_names_file_and_place(tmp_path, monkeypatch, case):
    name, content, options, expected = TEXTS[case]
    monkeypatch.chdir(tmp_path)
    with open(name, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    message = say(name, **options)
    assert re.search(expected, message), message
    unreadable_options = ("unknown encoding", "no condition")
    assert message.startswith(f"{name} ") or case in unreadable_options


def test_absent_file_and_names_like_it(tmp_path):
    (tmp_path / "adult.csv").touch()
    with pytest.raises(FileNotFoundError, match=r"no file .*adlt\.csv.*: adult\.csv\."):
        read_table(tmp_path / "adlt.csv")
    with pytest.raises(FileNotFoundError, match=r"no file .*wine\.csv\.$"):
        read_table(tmp_path / "wine.csv")
    with pytest.raises(FileNotFoundError, match="no file"):
        read_table(tmp_path / "no" / "folder.csv")


def test_folder(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_table(tmp_path)


def test_parquet_folder_that_is_no_table(tmp_path, monkeypatch):
    pd.DataFrame({"a": [1], "b": ["x"]}).to_parquet(tmp_path / "1.parquet")
    pd.DataFrame({"a": [1.5], "b": ["x"]}).to_parquet(tmp_path / "2.parquet")
    assert "'a' is double in 2.parquet, but int64 in 1.parquet" in say(tmp_path)
    (tmp_path / "2.parquet").write_bytes(b"")
    assert "holds 2.parquet, which cannot be read as Parquet" in say(tmp_path)
    monkeypatch.setattr(_arrow, "_MOST_BYTES_OF_FOLDER", 100)
    assert "are read into memory. Fit it without" in say(tmp_path)


@pytest.mark.parametrize("place", [slice(0, 100), slice(5, None), slice(0, 0)])
def test_cut_parquet(tmp_path, place):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": range(100)}).to_parquet(path)
    path.write_bytes(path.read_bytes()[place])
    assert "t.parquet " in say(path)


def test_damaged_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": range(1000)}).to_parquet(path)
    content = bytearray(path.read_bytes())
    content[10:60] = b"\xff" * 50
    path.write_bytes(content)
    assert "cannot be read as Parquet" in say(path)


def test_parquet_without_rows(tmp_path):
    pd.DataFrame({"a": []}).to_parquet(tmp_path / "t.parquet")
    assert "has no rows" in say(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("values", "kind"),
    [([[1], [2]], "list"), ([{"a": 1}] * 2, "struct"), ([b"x"], "bin")],
)
def test_column_that_is_no_column(tmp_path, values, kind):
    table = pa.table({"odd": values})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    assert f"type {kind}" in (message := say(tmp_path / "t.parquet"))
    assert "column 'odd'" in message


def test_equal_names_in_parquet(tmp_path):
    table = pa.table([[1], [2]], names=["a", "a"])
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    assert "several columns named 'a'" in say(tmp_path / "t.parquet")


def test_arrow_with_offsets_outside_its_buffers(tmp_path):
    path = tmp_path / "t.feather"
    table = pa.table({"s": ["a" * 1000, "b"]})
    pyarrow.feather.write_feather(table, path, compression="uncompressed")
    content = path.read_bytes()
    offsets = np.array([0, 1000, 1001], dtype="<i4").tobytes()
    wrong = np.array([0, 2**30, 2**30 + 1], dtype="<i4").tobytes()
    assert offsets in content
    path.write_bytes(content.replace(offsets, wrong))
    assert "cannot be read as Arrow" in say(path)


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ({"X": np.array([[None]], dtype=object)}, "plain arrays: Object arrays"),
        ({"Z": np.eye(2)}, "no array X; found Z"),
        ({"X": np.zeros((2, 3, 4)), "y": np.zeros(2)}, r"X of shape \(2, 3, 4\) and y"),
        ({"X": np.eye(2), "y": np.zeros(3)}, r"y of shape \(3,\)"),
        (
            {"X_train": np.eye(2), "y_train": np.zeros(2)},
            "expected where='split=train'",
        ),
    ],
)
def test_npz_that_is_no_table(tmp_path, arrays, expected):
    np.savez(tmp_path / "t.npz", **arrays)
    message = say(tmp_path / "t.npz")
    assert re.search(expected, message), message


def test_npz_without_the_part(tmp_path):
    np.savez(tmp_path / "t.npz", X_train=np.eye(2), y_train=np.zeros(2))
    with pytest.raises(ValueError, match="no array X_test; found X_train, y_train"):
        read_table(tmp_path / "t.npz", where="split=test")


def test_npz_has_its_own_labels(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.eye(2), y=np.zeros(2))
    assert "expected target=None" in say(tmp_path / "t.npz", target="x0")


@pytest.mark.parametrize("array", [np.zeros(3), np.zeros((2, 2, 2)), np.array(1)])
def test_npy_that_is_no_matrix(tmp_path, array):
    np.save(tmp_path / "t.npy", array)
    assert "expected a matrix" in say(tmp_path / "t.npy")


def test_npy_is_not_unpickled(tmp_path):
    np.save(tmp_path / "t.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    assert "plain array" in say(tmp_path / "t.npy")


def test_openml_without_network():
    with pytest.raises(OSError, match="openml:31 cannot be downloaded, is there a net"):
        read_table("openml:31")


@pytest.mark.parametrize("source", ["openml:", "openml:adult@x"])
def test_openml_of_nothing(source):
    with pytest.raises(ValueError, match="expected openml:NUMBER"):
        read_table(source)


def _damaged(content, rng):
    """The content with a few bytes changed, or without its end."""
    damaged = bytearray(content)
    for place in rng.integers(len(content), size=rng.integers(1, 6)):
        damaged[place] = rng.integers(256)
    return bytes(
        damaged[: rng.integers(1, len(content))] if rng.random() < 0.3 else damaged
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "ending", ["csv", "csv.gz", "parquet", "feather", "svm", "npz", "npy"]
)
def test_damaged_files_raise_nothing_else(tmp_path, ending):
    rng = np.random.default_rng(0)
    path = tmp_path / f"t.{ending}"
    frame = pd.DataFrame({"n": range(30), "s": list("abc") * 10, "x": rng.random(30)})
    text = frame.to_csv(index=False)
    contents = {
        "csv": lambda: path.write_text(text),
        "csv.gz": lambda: path.write_bytes(gzip.compress(text.encode())),
        "parquet": lambda: frame.to_parquet(path),
        "feather": lambda: frame.to_feather(path),
        "svm": lambda: path.write_text("1 1:0.5 2:7 9:1e3\n-1 3:2\n" * 15),
        "npz": lambda: np.savez(path, X=rng.random((30, 3)), y=np.arange(30)),
        "npy": lambda: np.save(path, rng.random((30, 3))),
    }
    contents[ending]()
    content = path.read_bytes()
    read_table(path)
    n_refused = 0
    for _ in range(60):
        path.write_bytes(_damaged(content, rng))
        try:
            read_table(path)
        except (ValueError, OSError):
            n_refused += 1
    assert n_refused > 10


def test_too_little_memory_is_no_damaged_file(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pa.table({"a": [1.0], "b": [2.0]}), path)

    def read(self):
        raise pa.ArrowMemoryError("malloc of size 33305664 failed")

    monkeypatch.setattr(pyarrow.parquet.ParquetFile, "read", read)
    with pytest.raises(MemoryError, match="does not fit into memory: malloc of size"):
        read_table(path)
