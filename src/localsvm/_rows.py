"""Validated arrays as the compiled core reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from localsvm import _core

Rows = (
    _core.DenseFloat32
    | _core.DenseFloat64
    | _core.CsrFloat32Int32
    | _core.CsrFloat64Int32
    | _core.CsrFloat32Int64
    | _core.CsrFloat64Int64
)

_DENSE = {np.float32: _core.DenseFloat32, np.float64: _core.DenseFloat64}
_CSR = {
    (np.float32, np.int32): _core.CsrFloat32Int32,
    (np.float64, np.int32): _core.CsrFloat64Int32,
    (np.float32, np.int64): _core.CsrFloat32Int64,
    (np.float64, np.int64): _core.CsrFloat64Int64,
}


def as_rows(X: Any) -> Rows:
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
