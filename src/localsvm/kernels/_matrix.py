"""The kernel matrix of rows: computed once, for all problems on the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        values = kernel(X[block], X[: block.stop])
        matrix[block, : block.stop] = values
        matrix[:start, block] = values[:, :start].T
        square = matrix[block, block]
        np.copyto(square, square.T, where=~np.tri(len(square), dtype=np.bool_))

    with single_threaded_libraries():
        map_in_threads(fill_block, list(range(0, n_rows, _BLOCK_ROWS)), n_jobs)
    return matrix
