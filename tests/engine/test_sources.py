"""Every kind of blocks gives the same blocks, or says what is wrong."""

import subprocess
import sys

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest
from scipy import sparse

from engine_data import ROWS, make_rows, write_parquet
from localsvm.engine import (
    Batches,
    UnreadableBlockError,
    is_in_blocks,
    options,
)
from localsvm.engine._open import open_blocks


class Method:
    n_jobs = 1

    def get_params(self):
        return {}


def blocks_of(X, y=None, sample_weight=None, **settings):
    settings.setdefault("block_rows", ROWS)
    with options(**settings), open_blocks(Method(), X, y, sample_weight) as rows:
        return rows.source, [part.read() for part in rows.source.parts]


def cut(*columns):
    return [
        tuple(column[first : first + ROWS] for column in columns)
        for first in range(0, len(columns[0]), ROWS)
    ]


def assert_blocks(blocks, X, y, weight):
    expected = cut(X, y, weight)
    assert len(blocks) == len(expected)
    for block, (rows, labels, weights) in zip(blocks, expected, strict=True):
        assert block.X.dtype == X.dtype
        assert block.X.flags.c_contiguous
        np.testing.assert_array_equal(block.X, rows)
        np.testing.assert_array_equal(block.y, labels)
        np.testing.assert_array_equal(block.sample_weight, weights)


@pytest.fixture(params=[np.float32, np.float64])
def data(request):
    return make_rows(dtype=request.param)


def test_batches(data):
    assert_blocks(blocks_of(Batches.of(*data, rows=ROWS))[1], *data)
    one_shot = iter(cut(*data))
    assert_blocks(blocks_of(one_shot)[1], *data)


def test_parquet_file_folder_and_dataset(data, tmp_path):
    path = write_parquet(tmp_path / "rows.parquet", *data)
    source, blocks = blocks_of(path, "label", "weight")
    assert source.feature_names == ("f0", "f1", "f2", "f3")
    assert source.n_rows == len(data[0])
    for X in (str(path), tmp_path, pyarrow.dataset.dataset(path)):
        assert_blocks(blocks_of(X, "label", "weight")[1], *data)
    assert_blocks(blocks, *data)


def test_small_row_groups_of_a_file_are_put_together(data, tmp_path):
    path = write_parquet(tmp_path / "rows.parquet", *data, rows=24)
    assert_blocks(blocks_of(path, "label", "weight")[1], *data)
    assert len(blocks_of(path, "label", "weight", block_rows=1)[1]) == 21


def test_dask_arrays_with_any_chunks(data):
    X, y, weight = data
    rows = da.from_array(X, chunks=(ROWS, 3))
    assert_blocks(blocks_of(rows, da.from_array(y, 7), weight)[1], *data)
    unknown = [
        da.from_array(column, chunks=ROWS)[np.ones(len(y), bool)]
        for column in (y, weight)
    ]
    rows = da.from_array(X, chunks=(ROWS, 4))
    rows = rows[da.ones(len(y), chunks=ROWS, dtype=bool)]
    assert np.isnan(rows.shape[0])
    masked = [column.rechunk(ROWS) for column in unknown]
    assert_blocks(blocks_of(rows, *masked)[1], *data)


def test_dask_frames_with_names_or_columns(data, tmp_path):
    path = write_parquet(tmp_path / "rows.parquet", *data)
    frame = dd.read_parquet(path, split_row_groups=True)
    source, blocks = blocks_of(frame, "label", "weight")
    assert source.feature_names == ("f0", "f1", "f2", "f3")
    assert_blocks(blocks, *data)
    features = frame[["f0", "f1", "f2", "f3"]]
    blocks = blocks_of(features, frame["label"], frame["weight"])[1]
    assert_blocks(blocks, *data)


def test_sparse_rows_stay_sparse():
    X, y, _ = make_rows()
    X = sparse.csr_array(X * (X > 0))
    for form in (Batches.of(X, y, rows=ROWS), iter([(X[:ROWS], y[:ROWS])])):
        blocks = blocks_of(form)[1]
        assert all(sparse.issparse(block.X) for block in blocks)
        np.testing.assert_array_equal(blocks[0].X.toarray(), X[:ROWS].toarray())


def test_labels_of_all_kinds_come_as_plain_arrays(tmp_path):
    X, y, _ = make_rows(60)
    code = (y == "ash").astype(np.int16)
    for labels, kind in ((y, "U"), (code, "i"), (code == 1, "b")):
        path = write_parquet(tmp_path / "rows.parquet", X, labels)
        assert blocks_of(path, "label")[1][0].y.dtype.kind == kind
    frame = pd.DataFrame(X).assign(label=pd.Categorical(y))
    frame.columns = frame.columns.astype(str)
    frame.to_parquet(tmp_path / "categories.parquet")
    np.testing.assert_array_equal(
        blocks_of(tmp_path / "categories.parquet", "label")[1][0].y, y
    )


def test_files_of_batches_are_removed(tmp_path):
    blocks_of(iter(cut(*make_rows())), folder=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("y", "weight", "message"),
    [
        (None, None, r"y=None must name a column .* it has 'f0', 'label', 'f1'"),
        ("labels", None, r"y='labels' must name a column"),
        ("label", "w", r"sample_weight='w' must name a column"),
        ("f0", None, r"Column 'label' has the type string; expected numbers"),
    ],
)
def test_wrong_columns_are_named(tmp_path, y, weight, message):
    path = write_parquet(tmp_path / "rows.parquet", *make_rows()[:2])
    with pytest.raises(ValueError, match=message):
        blocks_of(path, y, weight)


def test_a_missing_value_is_named(tmp_path):
    X, y, _ = make_rows(60)
    table = pyarrow.table({"a": pyarrow.array([1.0, None, 2.0]), "label": [0, 1, 0]})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=r"row group 0: column 'a' misses 1 values"):
        blocks_of(tmp_path / "rows.parquet", "label")
    X[33, 2] = np.nan
    with pytest.raises(ValueError, match=r"In batch 1: .*NaN.* row 13, column 2"):
        blocks_of(Batches.of(X, y, rows=20))


def test_a_corrupt_row_group_is_named(tmp_path):
    path = write_parquet(tmp_path / "rows.parquet", *make_rows())
    group = pyarrow.parquet.ParquetFile(path).metadata.row_group(3)
    content = bytearray(path.read_bytes())
    content[group.column(2).data_page_offset + 120] ^= 0xFF
    path.write_bytes(content)
    message = r"Row group 3 of .*rows\.parquet cannot be read"
    with pytest.raises(UnreadableBlockError, match=message):
        blocks_of(path, "label")


def test_a_file_that_is_no_parquet_is_named(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"nothing")
    with pytest.raises(UnreadableBlockError, match=r"a\.parquet"):
        blocks_of(tmp_path, "label")
    with pytest.raises(FileNotFoundError, match=r"no\.parquet' is neither"):
        blocks_of(tmp_path / "no.parquet", "label")


@pytest.mark.parametrize(
    ("batch", "error", "message"),
    [
        (np.ones((3, 2)), TypeError, r"In batch 0: expected \(X, y\)"),
        ((np.ones(3), np.ones(3)), ValueError, r"In batch 0: X has shape \(3,\)"),
        ((np.ones((3, 2)), np.ones(4)), ValueError, r"y has shape \(4,\)"),
        ((np.ones((3, 2)), [0.5, 1.25, 2]), ValueError, "Unknown label type"),
        ((np.ones((3, 2)), [0, 1, 1], [1, -1, 1]), ValueError, r"contains -1\.0"),
        ((np.ones((2, 2)), np.array(["a", 1], object)), ValueError, "y holds"),
    ],
)
def test_wrong_batches_are_named(batch, error, message):
    with pytest.raises(error, match=message):
        blocks_of(iter([batch]))
    with pytest.raises(error, match=message):
        blocks_of(Batches([batch].__getitem__, 1))


def test_batches_must_agree():
    batches = iter([(np.ones((2, 2)), [0, 1]), (np.ones((2, 3)), [0, 1])])
    with pytest.raises(ValueError, match="batch 1: X has 3 columns; expected 2"):
        blocks_of(batches)
    with pytest.raises(ValueError, match="gave none"):
        blocks_of(iter([]))
    with pytest.raises(ValueError, match="y and sample_weight must be None"):
        blocks_of(iter([(np.ones((2, 2)), [0, 1])]), [0, 1])
    with pytest.raises(ValueError, match="n_batches must be at least 1"):
        Batches(len, 0)


def test_columns_of_dask_must_have_the_chunks_of_the_rows():
    X, y, _ = make_rows()
    rows = da.from_array(X, chunks=(ROWS, 4))
    rows = rows[da.ones(len(y), chunks=ROWS, dtype=bool)]
    with pytest.raises(ValueError, match="y has 1 chunks; expected 6"):
        blocks_of(rows, da.from_array(y, len(y)))
    with pytest.raises(ValueError, match="y must be a Dask collection"):
        blocks_of(rows, y)
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=2)
    with pytest.raises(ValueError, match="'e' is not a column of X; it has 'a', 'b'"):
        blocks_of(frame, "e")


def test_what_is_in_blocks():
    for X in ("rows.parquet", iter([]), Batches(len, 1), da.ones((2, 2))):
        assert is_in_blocks(X)
    for X in (np.ones((2, 2)), [[1.0]], pd.DataFrame(), sparse.csr_array((2, 2))):
        assert not is_in_blocks(X)


def test_optional_packages_are_not_imported():
    code = (
        "import sys, numpy, localsvm, localsvm.engine as e\n"
        "X = numpy.random.default_rng(0).standard_normal((60, 2))\n"
        "y = X[:, 0] > 0\n"
        "m = localsvm.SupportClusterSVC(5)\n"
        "m.fit(e.Batches.of(X, y, rows=20)).predict(X)\n"
        "m.fit(X, y).predict(X)\n"
        "names = 'dask', 'distributed', 'pyarrow.dataset', 'pyarrow.parquet'\n"
        "print([name for name in names if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
