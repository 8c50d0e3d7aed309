"""Local coordinates of rows: weights of the nearest anchors that sum to one."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist

from localsvm._threads import map_row_blocks
from localsvm.cluster._regions import LearnedRegions, RegionCodes

RIDGE = 1e-4
# Squared distance to the nearest anchor over that to the farthest of the nearest.
CLOSE = 1e-6


class LocalCoordinates(LearnedRegions):
    r"""The nearest few anchors of each row, with weights that sum to one.

    Parameters
    ----------
    centers : ndarray of shape (n_regions, n_features)
        The anchors.
    n_nearest : int
    coding : {"inverse_distance", "local_coordinates"}
        Weights in proportion to :math:`1 / \|x - c_s\|`, or those that give x back
        best, :math:`\min_\gamma \|x - \sum_s \gamma_s c_s\|^2` with
        :math:`\sum_s \gamma_s = 1`, some of which may be negative.

    Notes
    -----
    Both need distances alone: the Gram matrix of the least squares is
    :math:`G_{st} = (\|x - c_s\|^2 + \|x - c_t\|^2 - \|c_s - c_t\|^2) / 2`, and
    :math:`\gamma` is proportional to the solution of
    :math:`(G + 10^{-4}\, \mathrm{tr}(G)\, I)\, \gamma = 1`. Distances are in float64.

    The weights are continuous in x wherever the nearest anchors stay the same ones, on
    an anchor, too.
    """

    is_hard = False

    def __init__(self, centers: NDArray[Any], *, n_nearest: int, coding: str) -> None:
        self.centers = centers
        self.n_regions = centers.shape[0]
        self.n_nearest = min(n_nearest, self.n_regions)
        self.coding = coding

    @cached_property
    def _between(self) -> NDArray[np.float64]:
        """Squared distances between anchors."""
        return np.asarray(cdist(self.centers, self.centers, "sqeuclidean"))

    def code(self, X: Any, n_jobs: int | None = None) -> RegionCodes:
        """Nearest anchors of each row and their weights."""
        search = self._search_for(np.float64, n_jobs)
        anchors, scores = search.search(X, self.n_nearest)
        squared = search.squared_distances(X, scores)
        weights = np.empty(anchors.shape, dtype=X.dtype)
        if self.coding == "local_coordinates":
            self._between  # noqa: B018  computed once, before there are threads

        def weigh_block(rows: slice) -> None:
            self._measure_again(X[rows], anchors[rows], squared[rows])
            weights[rows] = self._weigh(anchors[rows], squared[rows])

        map_row_blocks(weigh_block, X.shape[0], n_jobs)
        return RegionCodes(anchors, weights)

    def _measure_again(
        self, X: Any, anchors: NDArray[np.int32], squared: NDArray[np.float64]
    ) -> None:
        """Replace distances that are small differences of large numbers."""
        close = np.flatnonzero(squared[:, 0] <= CLOSE * squared[:, -1])
        rows = X[close].toarray() if sparse.issparse(X) else X[close]
        for slot, nearest in enumerate(anchors[close].T):
            difference = rows - self.centers[nearest].astype(np.float64)
            squared[close, slot] = np.einsum("ij,ij->i", difference, difference)

    def _weigh(
        self, anchors: NDArray[np.int32], squared: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        if self.coding == "inverse_distance":
            weights = _inverse_distances(squared)
        else:
            between = self._between[anchors[:, :, np.newaxis], anchors[:, np.newaxis]]
            weights = _least_squares(squared, between)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _inverse_distances(squared: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distance of the nearest over that of each; one on an anchor, zero elsewhere."""
    distance = np.sqrt(squared)
    ratio = np.ones_like(distance)
    return np.divide(distance[:, :1], distance, out=ratio, where=distance > 0)


def _least_squares(
    squared: NDArray[np.float64], between: NDArray[np.float64]
) -> NDArray[np.float64]:
    gram = (squared[:, :, np.newaxis] + squared[:, np.newaxis] - between) / 2
    trace = squared.sum(axis=1)
    gram /= np.where(trace > 0, trace, 1.0)[:, np.newaxis, np.newaxis]
    gram += RIDGE * np.eye(gram.shape[1])
    return np.asarray(np.linalg.solve(gram, np.ones((*squared.shape, 1)))[:, :, 0])
