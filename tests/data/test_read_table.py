"""Every format of a table gives the same rows back, and the target apart."""

import bz2
import dataclasses
import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from numpy.testing import assert_array_equal
from pandas.testing import assert_frame_equal
from scipy import sparse
from sklearn.utils import Bunch

from localsvm.data import Table, read_batches, read_table
from localsvm.data._readers import _delimited, _openml

FRAME = pd.DataFrame(
    {
        "n": [1, 2, 3, 4],
        "x": [0.5, None, -1.25, 1e300],
        "s": ["a", "b, c", None, 'say "ü"'],
        "b": [True, False, True, False],
        "day": pd.to_datetime(["2024-02-29", "2024-03-01", None, "1969-12-31"]),
    }
)
Y = ["p", "q", "p", "q"]
WHOLE = FRAME.assign(y=Y)


def to_csv(path, **options):
    WHOLE.to_csv(path, index=False, **options)


def to_arrow_stream(path):
    table = pa.Table.from_pandas(WHOLE)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as w:
        w.write_table(table)


def to_arrow_file(path):
    table = pa.Table.from_pandas(WHOLE)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as w:
        w.write_table(table)


WRITERS = {
    "t.csv": to_csv,
    "t.CSV": to_csv,
    "t.csv.gz": to_csv,
    "t.csv.bz2": to_csv,
    "t.csv.zst": lambda path: path.write_bytes(
        pa.compress(WHOLE.to_csv(index=False).encode(), "zstd", asbytes=True)
    ),
    "t.tsv": lambda path: to_csv(path, sep="\t"),
    "t.tab.gz": lambda path: to_csv(path, sep="\t"),
    "t.txt": to_csv,
    "tabs.txt": lambda path: to_csv(path, sep="\t"),
    "t.parquet": WHOLE.to_parquet,
    "indexed.pq": WHOLE.set_axis([7, 3, 5, 1]).to_parquet,
    "t.feather": WHOLE.to_feather,
    "t.arrow": to_arrow_file,
    "stream.arrow": to_arrow_stream,
}


@pytest.mark.parametrize("name", WRITERS)
def test_formats_of_mixed_columns_give_the_rows_back(name, tmp_path):
    path = tmp_path / name
    WRITERS[name](path)
    table = read_table(path, target="y")
    assert table.source == str(path)
    assert table.y.tolist() == Y
    assert table.X["day"].dtype.kind == "M"
    X = table.X.assign(day=table.X["day"].astype(FRAME["day"].dtype))
    assert_frame_equal(X, FRAME, check_dtype=False)


def test_table_is_frozen_and_shows_its_size(tmp_path):
    to_csv(tmp_path / "t.csv")
    table = read_table(tmp_path / "t.csv")
    assert table.y is None
    assert table.X.shape == (4, 6)
    assert "t.csv" in repr(table)
    assert "(4, 6)" in repr(table)
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.y = Y
    assert isinstance(table, Table)


def write(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_where_keeps_rows_and_drops_its_column(tmp_path):
    path = write(tmp_path, "a,split,y\n1,train,u\n2,test,v\n3,train,w\n")
    table = read_table(path, target="y", where="split=train", drop=["split"])
    assert table.X.to_dict("list") == {"a": [1, 3]}
    assert table.X.index.tolist() == [0, 1]
    assert table.y.tolist() == ["u", "w"]


@pytest.mark.parametrize("value", ["2", "2.0", "2e0"])
def test_where_compares_numbers(tmp_path, value):
    path = write(tmp_path, "a,b\n1,x\n2,y\n")
    assert read_table(path, where=f"a={value}").X.to_dict("list") == {"b": ["y"]}


def test_missing_targets_of_other_rows_do_not_matter(tmp_path):
    path = write(tmp_path, "a,split,y\n1,train,u\n2,test,\n")
    assert read_table(path, target="y", where="split=train").y.tolist() == ["u"]


@pytest.mark.parametrize(
    ("fields", "labels"),
    [("1,,0", [1, 0]), ("true,?,false", [True, False]), ("u,,v", ["u", "v"])],
)
def test_rows_without_a_label_can_be_left_out(tmp_path, fields, labels):
    rows = [f"{row},{each}" for row, each in enumerate(fields.split(","))]
    path = write(tmp_path, "\n".join(["a,y", *rows]))
    table = read_table(path, target="y", missing_labels="drop")
    assert table.X["a"].tolist() == [0, 2]
    assert table.y.tolist() == labels
    assert type(table.y.tolist()[0]) is type(labels[0])


def test_drop_takes_one_name_or_several(tmp_path):
    path = write(tmp_path, "a,b,c\n1,2,3\n")
    assert list(read_table(path, drop="b").X) == ["a", "c"]
    assert list(read_table(path, drop=("b", "a", "b")).X) == ["c"]


@pytest.mark.parametrize(
    ("fields", "dtype"),
    [("1\n2", "int64"), ("1.5\n2", "float64"), ("true\nfalse", "bool"), ("u\nv", "O")],
)
def test_target_keeps_its_type(tmp_path, fields, dtype):
    rows = "\n".join(f"0,{field}" for field in fields.split())
    y = read_table(write(tmp_path, f"a,y\n{rows}\n"), target="y").y
    assert y.dtype == dtype


def test_target_of_categories_is_their_values(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "y": pd.Categorical(["v", "u"])})
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet", target="y").y.tolist() == ["v", "u"]


def test_other_delimiters_decimals_and_encodings(tmp_path):
    path = write(tmp_path, "größe;ort\n1,5;Köln\n2,5;Bonn\n".encode("latin-1"))
    table = read_table(path, delimiter=";", decimal=",", encoding="latin-1")
    assert table.X.to_dict("list") == {"größe": [1.5, 2.5], "ort": ["Köln", "Bonn"]}


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("streamed", [False, True])
def test_delimiter_and_decimal_commas_are_found(tmp_path, delimiter, streamed):
    path = tmp_path / "t.csv"
    lines = [
        "größe;ort;preis;n;netto",
        "1,5;Ulm, Donau;1.234,50;7;1,250",
        "-2;Bonn;3;8;",
    ]
    text = "\n".join(lines).replace(";", delimiter)
    path.write_text(text, encoding="latin-1")
    if streamed:
        (table,) = read_batches(path, encoding="latin-1", whole_below=0)
    else:
        table = read_table(path, encoding="latin-1")
    assert table.X["größe"].tolist() == [1.5, -2.0]
    assert table.X["ort"].tolist() == ["Ulm, Donau", "Bonn"]
    assert table.X["preis"].tolist() == [1234.5, 3.0]
    assert table.X["n"].tolist() == [7, 8]
    assert_array_equal(table.X["netto"], [1.25, np.nan])


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ('a,b\n"1,250",0.5\n', {}),  # commas end fields
        ("a;b\n1,250;0.5\n", {}),  # may be a thousand, since b has a point
        ("a;b\n1,5;2\n", {"decimal": "."}),
        ("a;b\n1,5;2\n", {"strings": "a"}),
        ("a;b\n1,5;2\nx;3\n", {}),
    ],
)
def test_commas_that_may_be_something_else_stay(tmp_path, text, options):
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert read_table(path, **options).X["a"][0] in ("1,250", "1,5")


def test_thousands_of_a_file_with_a_given_comma(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1.234,5;0.5\n2,5;0.7\n")
    X = read_table(path, decimal=",").X
    assert X["a"].tolist() == [1234.5, 2.5]
    assert X["b"].tolist() == ["0.5", "0.7"]


def test_the_usual_delimiter_is_taken_where_no_other_parts_all_lines(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\nx;y,1\nx|y;z,2\n")
    assert read_table(path).X["a"].tolist() == ["x;y", "x|y;z"]
    path.write_text("a\n1\n2\n")
    assert read_table(path).X["a"].tolist() == [1, 2]
    path = tmp_path / "t.tsv"
    path.write_text("a,b\tc\n1,5\t2\n")
    assert read_table(path).X["c"].tolist() == [2]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_mark_at_the_beginning_is_no_part_of_a_name(tmp_path, encoding):
    mark = "\ufeff" if encoding == "utf-8" else ""  # utf-16 writes its own
    path = write(tmp_path, f"{mark}a,b\n1,2\n".encode(encoding))
    assert list(read_table(path, encoding=encoding).X) == ["a", "b"]


def test_quoted_fields_may_hold_delimiters_and_line_ends(tmp_path):
    path = write(tmp_path, 'a,b\r\n1,"x, y\nz"\r\n2,"say ""hi"""\r\n')
    assert read_table(path).X["b"].tolist() == ["x, y\nz", 'say "hi"']


def test_quoted_line_ends_anywhere_in_a_large_file(tmp_path):
    field = "line\n" * 2000
    path = write(tmp_path, "a,b\n" + f'1,"{field}x"\n' * 1000)
    X = read_table(path).X
    assert len(X) == 1000
    assert X["b"].unique().tolist() == [f"{field}x"]


def test_blanks_around_fields_and_names_do_not_count(tmp_path):
    path = write(tmp_path, "age, sex , n\n39, Male, 1\n 40 , ?, ?\n")
    X = read_table(path).X
    assert list(X) == ["age", "sex", "n"]
    assert X["age"].tolist() == [39, 40]
    assert X["sex"].tolist()[0] == "Male"
    assert X[["sex", "n"]].isna().sum().tolist() == [1, 1]


def test_fields_that_stand_for_missing_values(tmp_path):
    path = write(tmp_path, "a,b\n1,x\n-,y\n?,\n")
    assert read_table(path, missing=("-", "?")).X["a"].isna().tolist() == [0, 1, 1]
    assert read_table(path, missing="-").X["a"].tolist()[2] == "?"


def test_codes_can_be_kept_as_strings(tmp_path):
    path = write(tmp_path, "zip,day\n11234,2024-01-01\n99999,2024-01-02\n")
    assert read_table(path).X["zip"].tolist() == [11234, 99999]
    X = read_table(path, strings=["zip", "day", "not there"]).X
    assert X.iloc[0].tolist() == ["11234", "2024-01-01"]


@pytest.mark.parametrize("streamed", [False, True])
def test_digits_with_leading_zeros_are_strings(tmp_path, streamed):
    path = tmp_path / "t.csv"
    path.write_text("plz,n,shift,zero\n89073,10,-05,0\n 01067,7,10,5\n")
    if streamed:
        (table,) = read_batches(path, whole_below=0)
    else:
        table = read_table(path)
    assert table.X["plz"].tolist() == ["89073", "01067"]
    assert table.X["n"].tolist() == [10, 7]
    assert table.X["shift"].tolist() == [-5, 10]
    assert table.X["zero"].tolist() == [0, 5]


def test_a_leading_zero_far_behind_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(_delimited, "_BLOCK_BYTES", 1024)
    path = tmp_path / "t.csv"
    path.write_text("plz\n" + "89073\n" * 3000 + "01067\n")
    codes = ["89073"] * 3000 + ["01067"]
    assert read_table(path).X["plz"].tolist() == codes
    batches = [batch.X["plz"] for batch in read_batches(path, whole_below=0)]
    assert len(batches) > 1
    assert pd.concat(batches).tolist() == codes


def test_file_without_names(tmp_path):
    path = write(tmp_path, "5.1,3.5,setosa\n4.9,3.0,setosa\n", "iris.data")
    table = read_table(path, header=False, target="x2")
    assert list(table.X) == ["x0", "x1"]
    assert len(table.y) == 2
    with pytest.warns(UserWarning, match=r"looks like data.*5\.1.*header=False"):
        read_table(path)


def test_column_without_a_name_gets_its_number(tmp_path):
    path = write(tmp_path, ",a\n0,5\n1,6\n")
    assert list(read_table(path).X) == ["column_1", "a"]


def test_type_of_a_column_is_found_in_all_rows(tmp_path):
    path = write(tmp_path, "a,b\n" + "1,2\n" * 3_000_000 + "x,2.5\n")
    X = read_table(path).X
    assert X["a"].iloc[[0, -1]].tolist() == ["1", "x"]
    assert X["b"].iloc[[0, -1]].tolist() == [2.0, 2.5]


def test_types_that_pandas_lacks_are_converted(tmp_path):
    table = pa.table(
        {
            "decimal": pa.array(["1.50", "2.25"]).cast(pa.decimal128(5, 2)),
            "time": pa.array([43_200, None], pa.time32("s")),
            "day": pa.array([0, 1], pa.date32()),
            "null": pa.nulls(2),
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    X = read_table(tmp_path / "t.parquet").X
    assert X["decimal"].tolist() == [1.5, 2.25]
    assert X["time"][0] == pd.Timedelta(hours=12)
    assert X["day"].tolist() == [pd.Timestamp("1970-01-01"), pd.Timestamp("1970-01-02")]
    assert X["null"].dtype == float


def test_column_that_is_dropped_may_hold_anything(tmp_path):
    table = pa.table({"tags": [[1], [2, 3]], "a": [1, 2]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    assert list(read_table(tmp_path / "t.parquet", drop="tags").X) == ["a"]


SVMLIGHT = b"# made by hand\n1 1:0.5 3:2\n-1 qid:1 2:-1e-3 # note\n"


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("t.svm", bytes),
        ("t.libsvm", bytes),
        ("t.txt", lambda text: text.removeprefix(b"# made by hand\n")),
        ("a9a", lambda text: text.removeprefix(b"# made by hand\n")),
        ("t.svmlight.gz", gzip.compress),
        ("t.svm.bz2", bz2.compress),
        ("t.svm.zst", lambda text: pa.compress(text, "zstd", asbytes=True)),
    ],
)
def test_svmlight(tmp_path, name, pack):
    table = read_table(write(tmp_path, pack(SVMLIGHT), name))
    assert isinstance(table.X, sparse.csr_array)
    assert_array_equal(table.X.toarray(), [[0.5, 0, 2], [0, -1e-3, 0]])
    assert table.y.tolist() == [1, -1]
    assert table.y.dtype == np.int64


def test_svmlight_columns_are_those_of_the_model(tmp_path):
    path = write(tmp_path, "1 1:1\n0.5 2:1\n", "t.svm")
    assert read_table(path, n_features=7).X.shape == (2, 7)
    assert_array_equal(
        read_table(path, zero_based=True).X.toarray(), [[0, 1, 0], [0, 0, 1]]
    )
    assert read_table(path).X.shape == (2, 2)
    assert read_table(path).y.tolist() == [1, 0.5]
    assert read_table(write(tmp_path, "1 0:1 1:1\n", "0.svm")).X.shape == (1, 2)


def test_npz(tmp_path):
    X, y = np.arange(6.0).reshape(3, 2), np.array(["a", "b", "a"])
    np.savez(tmp_path / "t.npz", X=X, y=y, feature_names=np.array(["u", "v"]))
    table = read_table(tmp_path / "t.npz")
    assert_array_equal(table.X, X)
    assert list(table.X) == ["u", "v"]
    assert_array_equal(table.y, y)
    some = read_table(tmp_path / "t.npz", where="u=2")
    assert some.y.tolist() == ["b"]
    np.savez(tmp_path / "t.npz", X=X)
    assert read_table(tmp_path / "t.npz").y is None
    assert list(read_table(tmp_path / "t.npz").X) == ["x0", "x1"]


@pytest.mark.parametrize(("part", "n_rows"), [("train", 3), ("test", 2)])
def test_npz_with_two_parts(tmp_path, part, n_rows):
    arrays = {"X_train": np.eye(3), "y_train": [0, 1, 2]}
    arrays |= {"X_test": np.eye(3)[:2], "y_test": [5, 6]}
    np.savez(tmp_path / "t.npz", **arrays)
    table = read_table(tmp_path / "t.npz", where=f"split={part}")
    assert_array_equal(table.X, np.eye(3)[:n_rows])
    assert table.y.tolist() == list(arrays[f"y_{part}"])


def test_npy(tmp_path):
    np.save(tmp_path / "t.npy", np.array([[1.0, 0], [2, 1]]))
    table = read_table(tmp_path / "t.npy", target="x1")
    assert table.X.to_dict("list") == {"x0": [1, 2]}
    assert table.y.tolist() == [0, 1]
    np.save(tmp_path / "t.npy", np.array([(1, "u")], dtype=[("n", "i4"), ("s", "U1")]))
    assert read_table(tmp_path / "t.npy", target="s").y.tolist() == ["u"]


@pytest.mark.parametrize(
    ("source", "asked"),
    [
        ("openml:31", {"data_id": 31}),
        ("openml:adult", {"name": "adult", "version": "active"}),
        ("openml:adult@2", {"name": "adult", "version": 2}),
    ],
)
def test_openml(monkeypatch, source, asked):
    frame = pd.DataFrame({"a": [1.0, 2.0], "class": pd.Categorical(["u", "v"])})

    def fetch(as_frame, parser, **options):
        assert as_frame
        assert options == asked
        return Bunch(frame=frame, target_names=["class"])

    monkeypatch.setattr(_openml, "fetch_openml", fetch)
    table = read_table(source)
    assert table.source == source
    assert list(table.X) == ["a"]
    assert table.y.tolist() == ["u", "v"]
    assert read_table(source, target="a").y.tolist() == [1.0, 2.0]


def test_format_can_be_given(tmp_path):
    path = write(tmp_path, "a\tb\n1\t2\n", "t.parquet")
    assert list(read_table(path, format="tsv").X) == ["a", "b"]
