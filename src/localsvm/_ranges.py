"""Range of each column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.sparsefuncs import min_max_axis

_SAMPLE_ROWS = 10_000
_BLOCK_ROWS = 10_000


def column_range(X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Smallest and largest entry of each column in 10,000 rows, evenly spaced."""
    step = max(1, X.shape[0] // _SAMPLE_ROWS)
    rows = X[::step]
    if not sparse.issparse(rows):
        return rows.min(axis=0), rows.max(axis=0)
    low, high = rows.min(0), rows.max(0)
    return np.asarray(low.toarray()).ravel(), np.asarray(high.toarray()).ravel()


def exact_range(
    X: Any, weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Range of each column in the rows of positive weight, and which are integers.

    NaN in dense rows is left out; a column of nothing else has the range zero.

    Returns
    -------
    ends : ndarray of shape (2, n_features)
        Smallest and largest value.
    whole : ndarray of shape (n_features,)
        Whether all values are integers.
    """
    n_features = X.shape[1]
    low, high = np.full(n_features, np.inf), np.full(n_features, -np.inf)
    whole = np.ones(n_features, dtype=bool)
    for first in range(0, X.shape[0], _BLOCK_ROWS):
        there = weight[first : first + _BLOCK_ROWS] > 0
        if not there.any():
            continue
        rows = X[first : first + _BLOCK_ROWS]
        rows = rows if there.all() else rows[np.flatnonzero(there)]
        least, largest = (
            min_max_axis(rows, axis=0)
            if sparse.issparse(rows)
            else (np.fmin.reduce(rows, axis=0), np.fmax.reduce(rows, axis=0))
        )
        low, high = np.fmin(low, least), np.fmax(high, largest)
        whole &= _has_integers(rows)
    empty = low > high
    low[empty] = high[empty] = 0.0
    return np.stack([low, high]), whole


def _has_integers(rows: Any) -> NDArray[np.bool_]:
    """Which columns of rows hold nothing but integers."""
    if not sparse.issparse(rows):
        return np.asarray(((rows == np.rint(rows)) | np.isnan(rows)).all(axis=0))
    broken = rows.indices[rows.data != np.rint(rows.data)]
    return np.asarray(np.bincount(broken, minlength=rows.shape[1]) == 0)
