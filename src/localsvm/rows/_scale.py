"""Penalty and constant column that follow the scale of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import gen_batches

from localsvm.rows._records import Rows

# The penalty C="scale", times the mean squared norm of the rows.
SCALED_C = 10.0

_BLOCK_ROWS = 4096


def intercept_constant(estimator: Any, mean_squared: float) -> float:
    """Constant appended to the rows; 0 without intercept."""
    if not estimator.fit_intercept:
        return 0.0
    if estimator.intercept_scaling == "scale":
        return float(np.sqrt(mean_squared))
    return float(estimator.intercept_scaling)


def mean_squared_norm(rows: Rows) -> float:
    """Weighted mean of the rows' squared norms; 1 if that is zero or overflows."""
    mean = float(np.average(squared_norms(rows.X), weights=rows.sample_weight))
    return mean if 0 < mean < np.inf else 1.0


def squared_norms(X: Any) -> NDArray[np.float64]:
    """Squared norm of each row."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X, dtype=np.float64))


def spread_around(X: Any, weight: NDArray[np.float64], center: NDArray[Any]) -> float:
    """Weighted sum of the rows' squared distances to a point.

    The differences are squared, not the rows: far from the origin the squares of the
    rows have no digits left for it.
    """
    if sparse.issparse(X):
        row_weight = np.repeat(weight, np.diff(X.indptr))
        stored = np.bincount(X.indices, row_weight, X.shape[1])
        squares = np.square(X.data - center[X.indices], dtype=np.float64)
        return float(row_weight @ squares + (weight.sum() - stored) @ center**2)
    return float(
        sum(
            weight[block] @ squared_norms(X[block] - center)
            for block in gen_batches(X.shape[0], _BLOCK_ROWS)
        )
    )
