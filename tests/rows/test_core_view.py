"""Rows as the core sees them: index types that hold every position."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from localsvm import _core
from localsvm.cluster._neighborhoods._neighbors import fit_search
from localsvm.rows import stored_as
from localsvm.rows._core_view import (
    as_rows,
    check_row_numbers,
    index_dtype,
    row_numbers,
)
from localsvm.rows._distinct import take_rows

LARGEST = np.iinfo(np.int32).max
TOO_MANY = LARGEST + 3


def all_entries_in_one_place(n_entries):
    """One row of CSR that claims so many entries, in the memory of one."""
    row = sparse.csr_array((1, 5))
    row.data = np.broadcast_to(np.ones(1), n_entries)
    row.indices = np.broadcast_to(np.zeros(1, dtype=np.int64), n_entries)
    row.indptr = np.array([0, n_entries])
    return row


@pytest.mark.parametrize(
    ("n_entries", "n_columns", "expected"),
    [
        (0, 1, np.int32),
        (LARGEST, 5, np.int32),
        (LARGEST + 1, 5, np.int64),
        (5, LARGEST, np.int32),
        (5, LARGEST + 1, np.int64),
    ],
)
def test_index_type_holds_all_entries_and_columns(n_entries, n_columns, expected):
    assert index_dtype(n_entries, n_columns) is expected


def test_positions_of_taken_rows_are_not_cut_off():
    class Wide:
        def __getitem__(self, index):
            return all_entries_in_one_place(TOO_MANY)

    taken = take_rows(Wide(), np.array([0]))
    assert taken.indptr.tolist() == [0, TOO_MANY]
    assert taken.indices.dtype == np.int64


def test_taken_rows_have_small_indices_where_they_fit():
    X = sparse.csr_array(np.eye(4))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    taken = take_rows(X, np.array([2, 0]))
    assert taken.indices.dtype == taken.indptr.dtype == np.int32
    np.testing.assert_array_equal(taken.toarray(), np.eye(4)[[2, 0]])


def test_queries_that_do_not_fit_the_indices_of_the_model_are_refused():
    reference = sparse.csr_array(np.eye(5))
    with pytest.raises(ValueError, match=rf"X stores {TOO_MANY} .* at most {LARGEST}"):
        stored_as(all_entries_in_one_place(TOO_MANY), reference)


def test_queries_have_the_index_type_of_the_model():
    reference = sparse.csr_array(np.eye(5))
    for dtype in (np.int64, np.int32):
        reference.indices = reference.indices.astype(dtype)
        reference.indptr = reference.indptr.astype(dtype)
        stored = stored_as(sparse.csr_array(np.eye(5)), reference)
        assert stored.indices.dtype == stored.indptr.dtype == dtype


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(
    "indptr", [[0, 3, 1, 4], [0, 9, 1, 4], [-1, 1, 2, 4], [0, -9, 1, 4], [0, 1, 2, 5]]
)
def test_core_refuses_positions_that_do_not_rise(indptr, dtype):
    view = {np.int32: _core.CsrFloat64Int32, np.int64: _core.CsrFloat64Int64}[dtype]
    with pytest.raises(ValueError, match="CSR arrays do not fit together"):
        view(np.ones(4), np.zeros(4, dtype=dtype), np.array(indptr, dtype=dtype), 5)


def test_core_takes_rows_without_entries():
    as_rows(sparse.csr_array((3, 5)))
    as_rows(sparse.csr_array((0, 5)))


def test_row_numbers_are_checked_before_a_search():
    check_row_numbers(LARGEST)
    X = np.broadcast_to(np.zeros(1, dtype=np.float32), (TOO_MANY, 1))
    with pytest.raises(ValueError, match=rf"found {TOO_MANY} rows.* at most {LARGEST}"):
        fit_search(NearestNeighbors(), X)


def test_row_numbers_are_not_cut_off():
    numbers = row_numbers(np.array([0, LARGEST - 1]), LARGEST)
    assert numbers.dtype == np.int32
    assert numbers.tolist() == [0, LARGEST - 1]
    with pytest.raises(ValueError, match=f"found {TOO_MANY} rows"):
        row_numbers(np.array([0]), TOO_MANY)
