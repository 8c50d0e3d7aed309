"""Who owns which row: one region, or the nearest few with weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.cluster._base import BaseClusterer
from localsvm.cluster._centers import NearestCenters


@dataclass(frozen=True)
class RegionCodes:
    """Regions of each row, nearest first, and their weights.

    Attributes
    ----------
    regions : ndarray of shape (n_samples, m), int32
    weights : ndarray of shape (n_samples, m)
    """

    regions: NDArray[np.int32]
    weights: NDArray[Any]


class LearnedRegions(ABC):
    """How training rows are coded, in one go or block by block.

    ``search`` finds the regions of rows, ``adapt`` learns from what was found in all
    training rows, and ``weights`` turns the scores of the search into a code. Unless a
    subclass says otherwise, a row's code depends on the row only, and its scores are
    its weights.
    """

    centers: Any

    @abstractmethod
    def code(self, X: Any, n_jobs: int | None = None) -> RegionCodes:
        """Regions of each row and their weights."""

    def learn(
        self, X: Any, sample_weight: NDArray[np.float64], n_jobs: int | None = None
    ) -> RegionCodes:
        """Search, adapt to the rows, and code them."""
        regions, scores, distance = self.search(X, n_jobs)
        mean = float(np.average(distance, weights=sample_weight))
        self.adapt(mean, int(regions[:, 0].max()) + 1)
        return RegionCodes(regions, self.weights(scores))

    def search(
        self, X: Any, n_jobs: int | None = None
    ) -> tuple[NDArray[np.int32], NDArray[Any], NDArray[np.float64]]:
        """Nearest regions of rows, their scores, and the distance to the nearest one.

        The scores are for :meth:`weights`; the distance is squared, and zero where
        nothing depends on it.
        """
        codes = self.code(X, n_jobs)
        return codes.regions, codes.weights, np.zeros(X.shape[0])

    def adapt(self, mean_distance: float, n_found: int) -> None:  # noqa: B027
        """Learn from the mean distance and the number of regions that were found."""

    def weights(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Weights that belong to the scores of the nearest regions."""
        return scores

    def _search_for(self, dtype: Any, n_jobs: int | None) -> NearestCenters:
        """Search for the nearest centres, prepared once for each type of the rows."""
        key = np.dtype(dtype), n_jobs
        if key not in self._searches:
            self._searches[key] = NearestCenters(self.centers, dtype, n_jobs)
        return self._searches[key]

    @cached_property
    def _searches(self) -> dict[Any, NearestCenters]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the searches, which are made of the centres."""
        return {name: own for name, own in vars(self).items() if name != "_searches"}


class HardRegions(LearnedRegions):
    """One region per row: the label that a clusterer predicts.

    Parameters
    ----------
    clusterer : fitted clusterer
        Its ``predict`` gives labels from 0.

    Attributes
    ----------
    centers : ndarray of shape (n_regions, n_features) or None
        The clusterer's ``cluster_centers_``, if it has any.
    n_regions : int
    """

    is_hard = True
    n_nearest = 1

    def __init__(self, clusterer: Any) -> None:
        self.clusterer = clusterer
        self.centers = getattr(clusterer, "cluster_centers_", None)
        self.n_regions = 0

    def assign(self, X: Any) -> NDArray[np.intp]:
        """Label of each row, checked to be from 0."""
        clusterer = self.clusterer
        # The rows are validated; those of this library need not see to that again.
        is_own = getattr(type(clusterer), "predict", None) is BaseClusterer.predict
        labels = np.asarray(clusterer._assign(X) if is_own else clusterer.predict(X))
        if labels.shape != (X.shape[0],) or labels.dtype.kind not in "iu":
            raise ValueError(
                f"{type(self.clusterer).__name__}.predict must return one integer "
                f"label per row, got shape {labels.shape} and dtype {labels.dtype}."
            )
        if labels.size and labels.min() < 0:
            raise ValueError(
                f"{type(self.clusterer).__name__}.predict gave the label "
                f"{labels.min()} to a row; expected labels >= 0 (use a clusterer "
                "without noise rows)."
            )
        return labels.astype(np.intp, copy=False)

    def adapt(self, mean_distance: float, n_found: int) -> None:
        """Fix the number of regions."""
        del mean_distance
        n_centers = 0 if self.centers is None else len(self.centers)
        self.n_regions = max(n_found, n_centers)

    def code(self, X: Any, n_jobs: int | None = None) -> RegionCodes:
        """Region of each row, with weight one."""
        del n_jobs
        regions = self.assign(X).astype(np.int32)[:, np.newaxis]
        return RegionCodes(regions, np.ones(regions.shape, dtype=X.dtype))


# Of the weight of a row's nearest centre: what smaller weights lack to count.
CODE_CUT = 0.03


class SoftRegions(LearnedRegions):
    r"""The nearest few centres of each row, with weights.

    The weights are those of :math:`\mathrm{softmax}(-\tau \|x - c_l\|^2)` over the
    nearest ``n_nearest`` centres, less ``cut`` times the largest of them and at least
    zero, scaled to unit l2 norm.

    Parameters
    ----------
    centers : ndarray of shape (n_regions, n_features)
    n_nearest : int
    sharpness : float
        :math:`\tau` as a multiple of one over the mean squared distance of the
        training rows to their nearest centre.
    cut : float, default=0.03
        From 0 to below 1. Most weights of a row are tiny and cost as much as large
        ones; here they are exactly zero, and solvers and decisions leave them out. To
        subtract the cut keeps the weights continuous in x where one of them ends.
    """

    is_hard = False

    def __init__(
        self,
        centers: NDArray[Any],
        *,
        n_nearest: int,
        sharpness: float,
        cut: float = CODE_CUT,
    ) -> None:
        self.centers = centers
        self.n_regions = centers.shape[0]
        self.n_nearest = min(n_nearest, self.n_regions)
        self.sharpness = sharpness
        self.cut = cut
        self.tau = 1.0

    def search(
        self, X: Any, n_jobs: int | None = None
    ) -> tuple[NDArray[np.int32], NDArray[Any], NDArray[np.float64]]:
        """Find the nearest regions, their scores, and the distance to the first."""
        search = self._search_for(X.dtype, n_jobs)
        regions, scores = search.search(X, self.n_nearest)
        return regions, scores, search.squared_distances(X, scores[:, 0])

    def adapt(self, mean_distance: float, n_found: int) -> None:
        """Set ``tau`` by the mean squared distance of rows to their nearest centre."""
        del n_found
        # Rows that all lie on centres need no softness; any positive tau will do.
        self.tau = self.sharpness / mean_distance if mean_distance > 0 else 1.0

    def code(self, X: Any, n_jobs: int | None = None) -> RegionCodes:
        """Nearest regions of each row and their weights."""
        search = self._search_for(X.dtype, n_jobs)
        regions, scores = search.search(X, self.n_nearest)
        return RegionCodes(regions, self.weights(scores))

    def weights(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Weights that belong to the scores of the nearest regions."""
        weights: NDArray[Any] = np.exp(-self.tau * (scores - scores[:, :1]))
        # The nearest centre has 1, so that some weight is always left.
        weights -= self.cut
        np.maximum(weights, 0, out=weights)
        weights /= np.linalg.norm(weights, axis=1, keepdims=True)
        return weights
