"""Validated arrays as the compiled core reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm import _core
from localsvm.exceptions import DataError

CoreRows = (
    _core.DenseFloat32
    | _core.DenseFloat64
    | _core.CsrFloat32Int32
    | _core.CsrFloat64Int32
    | _core.CsrFloat32Int64
    | _core.CsrFloat64Int64
)

_LARGEST = int(np.iinfo(np.int32).max)
_DENSE = {np.float32: _core.DenseFloat32, np.float64: _core.DenseFloat64}
_CSR = {
    (np.float32, np.int32): _core.CsrFloat32Int32,
    (np.float64, np.int32): _core.CsrFloat64Int32,
    (np.float32, np.int64): _core.CsrFloat32Int64,
    (np.float64, np.int64): _core.CsrFloat64Int64,
}


def as_rows(X: Any) -> CoreRows:
    """Give the core a view of ``X``: C-ordered or canonical CSR, float32 or float64."""
    if not sparse.issparse(X):
        return _DENSE[X.dtype.type](X)  # type: ignore[no-any-return]
    index_dtype = np.promote_types(X.indices.dtype, X.indptr.dtype)
    return _CSR[X.dtype.type, index_dtype.type](  # type: ignore[no-any-return]
        X.data,
        X.indices.astype(index_dtype, copy=False),
        X.indptr.astype(index_dtype, copy=False),
        X.shape[1],
    )


def index_dtype(n_entries: int, n_columns: int) -> type[np.int32] | type[np.int64]:
    """Smaller of the index types of CSR that holds every entry and column."""
    return np.int32 if max(n_entries, n_columns) <= _LARGEST else np.int64


def with_indices(X: Any, dtype: type[np.signedinteger[Any]]) -> Any:
    """Give CSR rows indices of a type that holds them."""
    if index_dtype(X.nnz, X.shape[1]) is np.int64 and dtype is np.int32:
        raise DataError(
            f"X stores {X.nnz} entries in {X.shape[1]} columns; expected at most "
            f"{_LARGEST} of each, as in the training rows. Give the rows in parts."
        )
    X.indices = X.indices.astype(dtype, copy=False)
    X.indptr = X.indptr.astype(dtype, copy=False)
    return X


def check_row_numbers(n_rows: int) -> None:
    """Raise if the rows are too many for the 32 bits of a row number."""
    if n_rows > _LARGEST:
        raise DataError(
            f"Neighbourhoods are lists of row numbers: found {n_rows} rows, expected "
            f"at most {_LARGEST}. Fit a sample of the rows, or use ClusteredSVC."
        )


def row_numbers(numbers: NDArray[Any], n_rows: int) -> NDArray[np.int32]:
    """Numbers of ``n_rows`` rows as neighbourhoods hold them."""
    check_row_numbers(n_rows)
    return numbers.astype(np.int32, copy=False)


def stored_as(X: Any, reference: Any) -> Any:
    """Convert queries to the dtype and storage of the training rows."""
    if sparse.issparse(reference):
        X = sparse.csr_array(X, dtype=reference.dtype)
        index = np.promote_types(reference.indices.dtype, reference.indptr.dtype)
        return with_indices(X, index.type)
    if sparse.issparse(X):
        X = X.toarray()
    return np.ascontiguousarray(X, dtype=reference.dtype)
