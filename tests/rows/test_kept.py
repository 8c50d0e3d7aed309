"""Rows that are kept: found by content and class, added and removed."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from localsvm.exceptions import DataError
from localsvm.rows import (
    GivenRows,
    GrowingRows,
    KeptRows,
    RowIdentity,
    RowIndex,
    identify_rows,
)


def given(X, y, weight=None):
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=np.int32)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    return GivenRows(X, y, weight, identify_rows(X, y))


def kept(X, y, weight=None):
    rows = given(X, y, weight).merged()
    identity = RowIdentity(rows.hashes, rows.X.dtype)
    return KeptRows.of(rows.X, rows.class_index, identity, rows.weight, 2)


def nothing():
    return given(np.empty((0, 1)), [])


def content(rows):
    """Present rows with class and weight, in the order of their values."""
    rows, _ = rows.compacted()
    found = zip(rows.X.values[:, 0], rows.class_index, rows.weight, strict=True)
    return sorted((float(x), int(c), float(w)) for x, c, w in found)


def test_equal_rows_are_one_by_class():
    rows = kept([[1], [1], [1], [2]], [0, 0, 1, 0])
    assert content(rows) == [(1, 0, 2), (1, 1, 1), (2, 0, 1)]
    assert rows.n_rows == 3
    assert rows.counts.tolist() == [2, 1]


def test_weights_fall_before_rows_go():
    rows = kept([[1], [1], [2]], [0, 0, 1])
    once = rows.changed(rows.plan(nothing(), given([[1]], [0])))
    assert content(once) == [(1, 0, 1), (2, 1, 1)]
    twice = once.changed(once.plan(nothing(), given([[1]], [0])))
    assert content(twice) == [(2, 1, 1)]
    assert twice.counts.tolist() == [0, 1]
    assert content(rows) == [(1, 0, 2), (2, 1, 1)]  # what was there stays


def test_a_removed_row_takes_its_place_again():
    rows = kept([[1], [2]], [0, 1])
    gone = rows.changed(rows.plan(nothing(), given([[1]], [0])))
    back = gone.changed(gone.plan(given([[1]], [0]), nothing()))
    assert back.n_places == 2
    assert content(back) == content(rows)


def test_relabelling_is_one_change():
    rows = kept([[1], [2]], [0, 1])
    change = rows.plan(given([[1]], [1]), given([[1]], [0]))
    assert content(rows.changed(change)) == [(1, 1, 1), (2, 1, 1)]


def test_a_sum_of_weights_leaves_nothing_behind():
    rows = kept([[1]] * 3 + [[2]], [0] * 3 + [1], [0.1, 0.2, 0.3, 1])
    change = rows.plan(nothing(), given([[1]] * 3, [0] * 3, [0.3, 0.2, 0.1]))
    assert content(rows.changed(change)) == [(2, 1, 1)]


def test_absent_rows_are_named():
    rows = kept([[1], [2]], [0, 1])
    with pytest.raises(DataError, match=r"2 rows that are not .* \(rows 1, 2 of"):
        rows.plan(nothing(), given([[1], [3], [2]], [0, 0, 0]))
    with pytest.raises(DataError, match=r"weight 2 of row 0.*with the weight 1"):
        rows.plan(nothing(), given([[1], [1]], [0, 0]))


def test_what_is_removed_was_there_before():
    rows = kept([[1], [2]], [0, 1])
    with pytest.raises(DataError, match="not in the model"):
        rows.plan(given([[3]], [0]), given([[3]], [0]))


def test_many_new_rows_are_found():
    rng = np.random.default_rng(0)
    X, y = rng.permutation(5000).astype(float)[:, np.newaxis], np.zeros(5000, np.int32)
    rows = kept(X[:10], y[:10])
    for first in range(10, 5000, 499):
        more = given(X[first : first + 499], y[first : first + 499])
        rows = rows.changed(rows.plan(more, nothing()))
    assert rows.n_rows == 5000
    places = rows.index.find(identify_rows(X, y))
    assert (rows.X.values[places] == X).all()
    assert rows.index.find(identify_rows(X + 0.5, y)).tolist() == [-1] * 5000


def test_an_index_of_nothing_finds_nothing():
    index = RowIndex.of(np.empty(0, np.uint64))
    assert index.find(np.array([7], np.uint64)).tolist() == [-1]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_rows_that_grow_leave_others_as_they_are(make):
    first = GrowingRows(make(np.ones((2, 1))))
    one, other = (first.appended(make(np.full((1, 1), x))) for x in (2.0, 3.0))
    longer = one.appended(make(np.full((1, 1), 4.0)))
    dense = [
        (each.values.toarray() if sparse.issparse(each.values) else each.values).ravel()
        for each in (first, one, other, longer, pickle.loads(pickle.dumps(one)))
    ]
    expected = [[1, 1], [1, 1, 2], [1, 1, 3], [1, 1, 2, 4], [1, 1, 2]]
    assert [each.tolist() for each in dense] == expected


def test_growing_copies_rarely():
    rows = GrowingRows(np.zeros((1000, 3)))
    memory = set()
    for _ in range(120):
        rows = rows.appended(np.ones((1, 3)))
        memory.add(rows.values.__array_interface__["data"][0])
    assert len(memory) == 1
