"""Tables read batch by batch."""

import gzip

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from localsvm.data import read_batches, read_table, sample_path
from localsvm.data._readers import _delimited

N_ROWS = 3000


@pytest.fixture
def small_blocks(monkeypatch):
    """Pieces of a kilobyte, so that a small file has many of them."""
    monkeypatch.setattr(_delimited, "_BLOCK_BYTES", 1024)


def make_frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "count": rng.integers(0, 9, N_ROWS),
            "code": [f"{i % 50:03d}" for i in range(N_ROWS)],
            "late": np.nan,
            "word": rng.choice(["a b", "c,d", 'e"f'], N_ROWS),
            "part": np.repeat(["one", "two"], N_ROWS // 2),
        }
    )
    frame["count"] = frame["count"].astype(float)
    frame.loc[2500, ["count", "late"]] = 0.5, 7.0
    return frame


def write(path):
    frame = make_frame()
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        text = frame.to_csv(index=False, sep="\t" if ".tsv" in path.name else ",")
        # Whole numbers come first, a fraction later.
        text = text.replace(".0,", ",").replace(".0\t", "\t")
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "wt") as file:
            file.write(text)
    return frame


def joined(path, **options):
    batches = list(read_batches(path, whole_below=0, **options))
    assert len(batches) > 1
    assert all(batch.y is None and batch.source == str(path) for batch in batches)
    return pd.concat([batch.X for batch in batches], ignore_index=True)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.parquet"])
def test_batches_are_the_table(tmp_path, small_blocks, name):
    frame = write(tmp_path / name)
    found = joined(tmp_path / name, batch_rows=400, strings=["code"])
    assert found["count"].tolist() == frame["count"].tolist()
    assert found["code"].tolist() == frame["code"].tolist()
    assert found["word"].tolist() == frame["word"].tolist()
    assert float(found["late"][2500]) == 7.0
    assert found["late"].isna().sum() == N_ROWS - 1


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_rows_are_chosen_in_every_batch(tmp_path, small_blocks, name):
    write(tmp_path / name)
    found = joined(tmp_path / name, batch_rows=400, where="part=two")
    assert len(found) == N_ROWS // 2
    assert "part" not in found
    assert found["count"][1000] == 0.5


@pytest.mark.parametrize("whole_below", [0, 2**25])
def test_the_column_of_the_chosen_rows_can_stay(tmp_path, small_blocks, whole_below):
    write(tmp_path / "a.csv")
    choice = {"where": "part=two", "keep": ["part", "absent"]}
    batches = read_batches(tmp_path / "a.csv", whole_below=whole_below, **choice)
    found = pd.concat([batch.X for batch in batches])
    assert set(found["part"]) == {"two"}


def test_a_target_leaves_even_if_it_is_kept():
    choice = {"target": "split", "where": "split=train"}
    assert "split" not in read_table(sample_path(), keep="split", **choice).X


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_a_value_that_no_row_has_is_told_at_the_end(tmp_path, small_blocks, name):
    write(tmp_path / name)
    with pytest.raises(ValueError, match=rf"{name} has no row with part=three"):
        list(read_batches(tmp_path / name, whole_below=0, where="part=three"))
    with pytest.raises(ValueError, match=rf"{name} has no column 'pat'"):
        list(read_batches(tmp_path / name, whole_below=0, where="pat=two"))


def test_no_batch_is_longer_than_asked(tmp_path):
    write(tmp_path / "a.parquet")
    lengths = [
        len(batch.X)
        for batch in read_batches(tmp_path / "a.parquet", whole_below=0, batch_rows=700)
    ]
    assert lengths == [700] * 4 + [200]


def test_damage_late_in_a_file_is_found_late(tmp_path, small_blocks):
    path = tmp_path / "a.csv"
    write(path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2000], "1,2,3", *lines[2000:]]))
    batches = read_batches(path, whole_below=0)
    next(batches)
    with pytest.raises(ValueError, match=r"a\.csv has 3 fields in line 2001"):
        list(batches)


def test_small_files_are_read_as_read_table_does():
    whole = read_table(sample_path(), where="split=test")
    (batch,) = read_batches(sample_path(), where="split=test")
    pd.testing.assert_frame_equal(batch.X, whole.X)


def test_sparse_rows_come_in_batches_too(tmp_path):
    path = tmp_path / "a.svm"
    X = np.eye(30)
    dump_svmlight_file(X, np.arange(30) % 2, str(path), zero_based=False)
    batches = list(read_batches(path, whole_below=0, batch_rows=20, n_features=30))
    assert [batch.X.shape for batch in batches] == [(20, 30), (10, 30)]
    assert (batches[1].X.toarray() == X[20:]).all()


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        list(read_batches(tmp_path / "no.csv"))


def test_what_is_wrong_with_a_long_file_names_it(tmp_path):
    path = tmp_path / "long.arff"
    path.write_text("@data\n1\n")
    with pytest.raises(ValueError, match=r"long\.arff is an ARFF file"):
        list(read_batches(path, whole_below=0))
