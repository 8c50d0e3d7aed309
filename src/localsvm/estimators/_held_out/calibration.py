"""What is kept of held-out rows: a probability map, and how probable they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._held_out.groups import Groups
from localsvm.estimators._held_out.maps import ClassMap, SignMap

Floats = NDArray[np.float64]

# Rows outside their set that a region expects before it gets a threshold of its own.
_FEWEST_OUTSIDE = 5.0


@dataclass(frozen=True)
class Conformity:
    """Probabilities of the true classes of held-out rows.

    Attributes
    ----------
    probability : ndarray of shape (n_rows,)
    region : ndarray of shape (n_rows,)
        One for all where there are no regions.
    weight : ndarray of shape (n_rows,)
    """

    probability: Floats
    region: NDArray[np.int64]
    weight: Floats

    def thresholds(self, region: NDArray[np.int64], coverage: float) -> Floats:
        """Least probability of a class that is in the set of a row.

        Parameters
        ----------
        region : ndarray of shape (n_samples,)
            Of the rows.
        coverage : float
        """
        fewest = _FEWEST_OUTSIDE / (1.0 - coverage)
        found = np.empty(len(region))
        for own, members in Groups.of(self.region, self.weight, fewest).pairs(region):
            order = np.argsort(-self.probability[members], kind="stable")
            known = self.probability[members][order]
            reached = np.cumsum(self.weight[members][order])
            # The row itself counts as one more, outside of every set.
            place = np.searchsorted(reached, coverage * (reached[-1] + 1.0))
            found[own] = known[place] if place < len(known) else 0.0
        return found


@dataclass(frozen=True)
class Calibration:
    """Probabilities of a classifier, and what is known of them.

    Attributes
    ----------
    map : SignMap or ClassMap
    conformity : Conformity or None
        None where no row was held out: where decisions are log odds by themselves.
    """

    map: SignMap | ClassMap
    conformity: Conformity | None = None

    def sets(
        self, probabilities: Floats, region: NDArray[np.int64], coverage: float
    ) -> NDArray[np.bool_]:
        """Classes of each row's set; the most probable one is always there."""
        assert self.conformity is not None
        least = self.conformity.thresholds(region, coverage)
        found = probabilities >= least[:, np.newaxis]
        found[np.arange(len(found)), probabilities.argmax(axis=1)] = True
        return found

    @classmethod
    def of(
        cls,
        own: SignMap | ClassMap,
        probabilities: Floats,
        class_index: NDArray[np.int32],
        region: NDArray[np.int64],
        weight: Floats,
    ) -> Self:
        """Keep what the probabilities of held-out rows were."""
        truth = probabilities[np.arange(len(class_index)), class_index]
        return cls(own, Conformity(truth, region, weight))
