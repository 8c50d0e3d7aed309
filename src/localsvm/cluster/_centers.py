"""Nearest centres by one matrix product per block of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm import _core
from localsvm._threads import map_row_blocks


class NearestCenters:
    r"""Search the nearest of a few thousand centres.

    With :math:`\bar c` the mean centre and :math:`c_l' = c_l - \bar c`,

    .. math::

        \|x - c_l\|^2 = \|x - \bar c\|^2 + s_l(x), \quad
        s_l(x) = -2 x \cdot c_l' + 2 \bar c \cdot c_l' + \|c_l'\|^2

    The scores s take one matrix product, and in float32 they lose less to cancellation
    than the raw centres would.

    Parameters
    ----------
    centers : ndarray of shape (n_centers, n_features)
    dtype : data type of the scores
    n_jobs : int or None
        Threads; the result does not depend on them.
    """

    def __init__(
        self, centers: NDArray[Any], dtype: Any, n_jobs: int | None = None
    ) -> None:
        wide = np.asarray(centers, dtype=np.float64)
        self._mean = wide.mean(axis=0)
        shifted = wide - self._mean
        offset = (shifted * (shifted + 2 * self._mean)).sum(axis=1)
        self._slope = np.ascontiguousarray(-2 * shifted.T, dtype=dtype)
        self._offset = offset.astype(dtype)
        self._n_jobs = n_jobs

    def search(self, X: Any, n_nearest: int) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """Nearest centres of each row, nearest first, and their scores."""
        centers = np.empty((X.shape[0], n_nearest), dtype=np.int32)
        scores = np.empty(centers.shape, dtype=self._offset.dtype)

        def search_block(rows: slice) -> None:
            block = np.ascontiguousarray(X[rows] @ self._slope)
            block += self._offset
            _core.smallest_scores(block, centers[rows], scores[rows])

        map_row_blocks(search_block, X.shape[0], self._n_jobs)
        return centers, scores

    def squared_distances(self, X: Any, scores: NDArray[Any]) -> NDArray[np.float64]:
        """Squared distances that belong to the scores, one or more per row."""
        distance = np.empty(scores.shape)

        def measure_block(rows: slice) -> None:
            own = _squared_distance(X[rows], self._mean)
            distance[rows] = (own + scores[rows].T).T

        map_row_blocks(measure_block, X.shape[0], self._n_jobs)
        return np.maximum(distance, 0.0, out=distance)


def _squared_distance(X: Any, point: NDArray[np.float64]) -> NDArray[np.float64]:
    if sparse.issparse(X):
        wide = X.astype(np.float64)
        squared = np.asarray(wide.multiply(wide).sum(axis=1)).ravel()
        return np.asarray(squared - 2 * (wide @ point) + point @ point)
    shifted = X - point
    return np.asarray(np.einsum("ij,ij->i", shifted, shifted))
