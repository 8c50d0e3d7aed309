"""Matrices of pairs of rows: computed once, for all problems on the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms

from localsvm._threads import map_in_threads, single_threaded_libraries
from localsvm.kernels._kernel import Kernel

# Few enough that little more than a triangle is computed, enough for matrix products.
_BLOCK_ROWS = 512


def kernel_matrix(
    kernel: Kernel,
    X: Any,
    n_jobs: int | None = None,
    before: Callable[[], None] | None = None,
) -> NDArray[Any]:
    """Kernel values of all pairs of rows.

    One triangle is computed, in blocks of rows; the other is its mirror, so that the
    matrix is symmetric to the last bit.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray or CSR of shape (n_samples, n_features)
        Float32 or float64.
    n_jobs : int or None, default=None
        Threads; they do not change the values.
    before : callable or None, default=None
        Is called before each block. What it raises ends the work.

    Returns
    -------
    matrix : ndarray of shape (n_samples, n_samples), in the dtype of X
    """
    n_rows = X.shape[0]
    matrix = np.empty((n_rows, n_rows), dtype=X.dtype)

    def fill_block(start: int) -> None:
        if before is not None:
            before()
        block = slice(start, min(start + _BLOCK_ROWS, n_rows))
        _mirror(kernel(X[block], X[: block.stop]), block, matrix)

    with single_threaded_libraries():
        map_in_threads(fill_block, list(range(0, n_rows, _BLOCK_ROWS)), n_jobs)
    return matrix


def squared_distances(
    X: NDArray[Any],
    n_jobs: int | None = None,
    before: Callable[[], None] | None = None,
    *,
    queries: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Squared Euclidean distances of all pairs of dense rows, in their dtype.

    Of the rows, a symmetric matrix as :func:`kernel_matrix` makes it; or of
    ``queries``, in lines, to the rows. By products of rows that are centred: in float32
    to 1e-6 of the largest squared norm, which is enough for rows of unit size.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    n_jobs, before
        As in :func:`kernel_matrix`.
    queries : ndarray of shape (n_queries, n_features) or None, default=None
    """
    center = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
    columns = X - center
    lines = columns if queries is None else queries - center
    column_norms = row_norms(columns, squared=True)
    line_norms = column_norms if queries is None else row_norms(lines, squared=True)
    distances = np.empty((len(lines), len(columns)), dtype=X.dtype)

    def fill_block(start: int) -> None:
        if before is not None:
            before()
        block = slice(start, min(start + _BLOCK_ROWS, len(lines)))
        last = len(columns) if queries is not None else block.stop
        values = lines[block] @ columns[:last].T
        values *= -2
        values += line_norms[block, np.newaxis]
        values += column_norms[:last]
        np.maximum(values, 0, out=values)
        if queries is None:
            _mirror(values, block, distances)
        else:
            distances[block] = values

    with single_threaded_libraries():
        map_in_threads(fill_block, list(range(0, len(lines), _BLOCK_ROWS)), n_jobs)
    if queries is None:
        np.fill_diagonal(distances, 0)
    return distances


def _mirror(values: NDArray[Any], block: slice, matrix: NDArray[Any]) -> None:
    """Write lines of the lower triangle, and the same values above the diagonal."""
    matrix[block, : block.stop] = values
    matrix[: block.start, block] = values[:, : block.start].T
    square = matrix[block, block]
    np.copyto(square, square.T, where=~np.tri(len(square), dtype=np.bool_))
