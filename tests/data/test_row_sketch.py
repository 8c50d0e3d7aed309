import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from localsvm.data import (
    Overlap,
    RowSketch,
    TableEncoder,
    _row_sketch,
    row_hashes,
)


def random_hashes(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2**63, n_rows, dtype=np.uint64)


@pytest.mark.parametrize("n_rows", [1, 2, 1000, 50_000])
def test_every_row_of_the_fit_is_recognised(n_rows):
    hashes = random_hashes(n_rows)
    sketch = RowSketch.of(hashes)
    assert sketch.contains(hashes).all()
    assert sketch.mistaken_share < 1e-6
    assert not sketch.contains(random_hashes(50_000, 1)).any()
    assert len(sketch.bits) == max(8, 4 * n_rows)


def test_the_size_is_bounded_and_the_mistakes_are_as_stated(monkeypatch):
    monkeypatch.setattr(_row_sketch, "MOST_BYTES", 2**12)
    hashes = random_hashes(5000)
    sketch = RowSketch.of(hashes)
    assert len(sketch.bits) == 2**12
    assert sketch.contains(hashes).all()
    found = sketch.contains(random_hashes(20_000, 1)).mean()
    assert 0.02 < sketch.mistaken_share < 0.1
    assert found == pytest.approx(sketch.mistaken_share, rel=0.15)
    overlap = sketch.compare(random_hashes(20_000, 2))
    assert overlap.is_chance
    assert not sketch.compare(hashes).is_chance


def test_order_and_repetition_of_rows_change_nothing():
    hashes = random_hashes(1000)
    sketch = RowSketch.of(hashes)
    other = RowSketch.of(np.r_[hashes[::-1], hashes[:10]])
    assert (other.bits == sketch.bits).all()
    assert other.salt == sketch.salt
    assert (sketch.n_repeated, other.n_repeated) == (0, 20)
    assert other.chance == pytest.approx(20 / 1010, abs=1e-5)


def test_other_rows_give_another_salt():
    """So that two files do not show which rows they share."""
    hashes = random_hashes(1000)
    one, other = RowSketch.of(hashes), RowSketch.of(hashes[1:])
    assert one.salt != other.salt
    same = np.unpackbits(one.bits[:3996]) == np.unpackbits(other.bits)
    assert same.mean() < 0.6


def test_sparse_and_single_precision_rows_are_the_same():
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((300, 6)), 3) * (rng.random((300, 6)) < 0.5)
    y = rng.integers(0, 3, 300)
    hashes = row_hashes(X, y)
    assert len(np.unique(hashes)) == len(np.unique(np.c_[X, y], axis=0))
    for rows, labels in (
        (sparse.csr_matrix(X), y),
        (sparse.csr_array(X), y.astype(float)),
        (X.astype(np.float32), y.astype(str)),
        (-0.0 + X, y),
        (pd.DataFrame(X), pd.Series(y)),
        (X.tolist(), y.tolist()),
    ):
        assert (row_hashes(rows, labels) == hashes).all()
    assert not (row_hashes(X, y + 1) == hashes).any()
    assert not (row_hashes(X[:, ::-1], y) == hashes)[X.any(axis=1)].all()


def test_tables_are_compared_by_value():
    frame = pd.DataFrame(
        {
            "number": [1, 2, 3, 4, 5, 6],
            "word": list("aabbcc"),
            "code": ["01", "02", "01", "02", "01", "02"],
            "when": ["2024-01-01", "2024-05-01", "2024-05-01"] * 2,
            "yes": [True, False] * 3,
            "same": 1,
        }
    )
    encoder = TableEncoder(kinds={"code": "category"}, min_frequency=1).fit(frame)
    y = np.arange(6) % 2
    hashes = row_hashes(frame, y, encoder)
    assert len(np.unique(hashes)) == 6
    other = frame.iloc[:, ::-1].drop(columns="same").assign(more=0)
    other["number"] = other["number"].astype(np.float32)
    other["word"] = other["word"].astype("category")
    other["when"] = pd.to_datetime(other["when"])
    other["yes"] = other["yes"].map({True: "yes", False: "no"})
    assert (row_hashes(other, y, encoder) == hashes).all()
    for name, value in (("number", 7), ("word", "d"), ("code", "1"), ("yes", None)):
        changed = frame.astype(object).assign(**{name: value})
        assert not (row_hashes(changed, y, encoder) == hashes).any()
    strings = frame.drop(columns=["number"])
    assert len(np.unique(row_hashes(strings, y))) == 6


def test_codes_of_a_table_are_compared_as_its_features():
    frame = pd.DataFrame(
        {
            "number": [1.5, 2, None] * 10,
            "word": list("aab") * 10,
            "when": ["2024-01-01", None, "2024-05-01 10:30"] * 10,
            "yes": [True, False] * 15,
        }
    )
    y = np.arange(30) % 2
    hashes = [
        row_hashes(frame, y, TableEncoder(encoding=encoding).fit(frame))
        for encoding in ("features", "codes")
    ]
    assert (hashes[0] == hashes[1]).all()
    other = frame.assign(when=pd.to_datetime(frame["when"], format="ISO8601"))
    encoder = TableEncoder(encoding="codes").fit(frame)
    assert (row_hashes(other, y, encoder) == hashes[0]).all()


def test_missing_values_equal_one_another():
    X = np.array([[np.nan, 1.0], [-np.nan, 1.0], [0.0, 1.0]])
    hashes = row_hashes(X, [0, 0, 0])
    assert hashes[0] == hashes[1] != hashes[2]


@pytest.mark.parametrize(
    ("n_seen", "chance", "is_chance"),
    [
        *[(0, 0.0, True), (1, 0.0, False), (100, 0.0, False), (3, 0.01, True)],
        *[(60, 0.01, False), (97, 0.97, True), (100, 0.5, False)],
    ],
)
def test_chance_explains_as_many_rows_as_repeat(n_seen, chance, is_chance):
    overlap = Overlap(np.arange(100) < n_seen, chance)
    assert (overlap.n_seen, overlap.is_chance) == (n_seen, is_chance)


def test_looking_takes_little_memory():
    sketch = RowSketch.of(random_hashes(100_000))
    hashes = random_hashes(100_000, 1)
    tracemalloc.start()
    sketch.contains(hashes)
    assert tracemalloc.get_traced_memory()[1] < 8e6
    tracemalloc.stop()
