"""Regions with enough held-out rows to be judged by their own, and the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Groups:
    """Rows of each region that has enough of them.

    A region with less is judged by all such regions together and, if these have too
    few as well, by all rows.

    Attributes
    ----------
    large : ndarray of shape (n_large,)
        Regions with enough rows.
    members : list of ndarray
        Rows of each, and of the rest.
    """

    large: NDArray[np.int64]
    members: list[NDArray[np.intp]]

    @classmethod
    def of(
        cls, region: NDArray[np.int64], weight: NDArray[np.float64], fewest: float
    ) -> Self:
        """Group rows by regions of at least ``fewest`` rows, by weight."""
        found, place = np.unique(region, return_inverse=True)
        large = found[np.bincount(place, weight, len(found)) >= fewest]
        rest = np.flatnonzero(~np.isin(region, large))
        if weight[rest].sum() < fewest:
            rest = np.arange(len(region))
        return cls(large, [*(np.flatnonzero(region == each) for each in large), rest])

    def pairs(
        self, region: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Rows of these regions, and the held-out rows that judge them."""
        place = np.searchsorted(self.large, region)
        known = np.append(self.large, -2)[place] == region
        place = np.where(known, place, len(self.large))
        for group in np.unique(place):
            yield np.flatnonzero(place == group), self.members[group]
