"""Which neighbourhood answers a query: that of the nearest row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from localsvm.cluster import NeighborhoodCover, find_neighbors, fit_search, make_search


@dataclass(frozen=True)
class Router:
    """Finds the neighbourhood of a query by the nearest of some rows.

    Attributes
    ----------
    rows : ndarray or CSR of shape (n_rows, n_features)
    search : object with ``kneighbors``, fitted to the rows
    regions : ndarray of shape (n_rows,), int32
        Neighbourhood that each row stands for.
    """

    rows: Any
    search: Any
    regions: NDArray[np.int32]

    @classmethod
    def to_centers(cls, X: Any, cover: NeighborhoodCover) -> Self:
        """Route to the nearest centre of a cover of the rows X."""
        centers = X[cover.center_indices_]
        search = fit_search(make_search(cover.neighbors, centers, 1), centers)
        return cls(centers, search, np.arange(centers.shape[0], dtype=np.int32))

    def route(self, X: Any, n_jobs: int | None) -> NDArray[np.int64]:
        """Neighbourhood of each query."""
        nearest = find_neighbors(self.search, X, 1, len(self.regions), n_jobs)
        return self.regions[nearest[:, 0]].astype(np.int64)
