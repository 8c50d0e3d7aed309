"""Clusters from noisy totals: nothing here sees a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.cluster import GaussianSummary
from localsvm.exceptions import DataError
from localsvm.federated._protection._encoding import UNIT, Lattice

_LEAST_DEVIATIONS = 2.0
_LEAST_ROWS = 1.0


@dataclass(frozen=True)
class NoisyTotals:
    """What a release with noise reveals, and what was public before.

    Attributes
    ----------
    totals : ndarray of shape (n_classes * n_cells, 1 + n_features or more), int64
        Noisy (S, v, q) of each class and cell; see :mod:`._encoding`.
    scale : float
        Standard deviation of the noise of each number.
    classes : ndarray of shape (n_classes,)
    lattice : Lattice
    """

    totals: NDArray[np.int64]
    scale: float
    classes: NDArray[Any]
    lattice: Lattice

    @property
    def count_deviation(self) -> float:
        """Standard deviation of the noise of a count, in rows."""
        return self.scale / UNIT

    def clusters(
        self, feature_names: tuple[str, ...] | None
    ) -> tuple[GaussianSummary, NDArray[np.int64]]:
        """Clusters that stand out of the noise, and the cell of each."""
        count = self.totals[:, 0] / UNIT
        kept = np.flatnonzero(
            count >= max(_LEAST_DEVIATIONS * self.count_deviation, _LEAST_ROWS)
        )
        if not kept.size:
            raise DataError(
                "No cell stands out of the noise, whose standard deviation is "
                f"{self.count_deviation:.3g} rows per cell. Share more rows, or use "
                "fewer centers or a larger epsilon."
            )
        n_cells = len(self.totals) // len(self.classes)
        mean, variance = self._moments(self.totals[kept], count[kept])
        summary = GaussianSummary(
            count[kept], mean, variance, self.classes[kept // n_cells], feature_names
        )
        return summary, (kept % n_cells).astype(np.int64)

    def _moments(
        self, totals: NDArray[np.int64], count: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        lattice, n_features = self.lattice, len(self.lattice.low)
        average = totals[:, 1:] / UNIT / count[:, np.newaxis]
        mean = lattice.decode(average[:, :n_features])
        mean = np.clip(mean, lattice.low, lattice.high)
        if average.shape[1] == n_features:
            return mean, None
        spread = average[:, n_features:] * lattice.radius**2
        variance = spread - (mean - lattice.middle) ** 2
        return mean, np.clip(variance, 0.0, ((lattice.high - lattice.low) / 2) ** 2)
