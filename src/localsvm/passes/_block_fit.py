"""What the fits of all methods on rows in partitions begin with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._clock import StageClock
from localsvm.engine import Partitions, Statistics
from localsvm.passes._survey import count_rows


class PartFit:
    """Steps of the fit of one estimator.

    Parameters
    ----------
    model : BaseLocalClassifier
        Gets the fitted attributes.
    rows : Partitions
    """

    def __init__(self, model: Any, rows: Partitions) -> None:
        self.model = model
        self.rows = rows
        self.clock = StageClock(model.max_time)
        self.seed = rows.seed(model._draw_seed)

    def _count_rows(self) -> int:
        """Give the number of rows, from a pass of its own if the source has none."""
        return count_rows(self.rows)

    def _accept(self, found: Statistics, mass: NDArray[Any]) -> NDArray[Any]:
        """Check classes, their weights and the scales of the columns.

        Returns
        -------
        ndarray of shape (n_classes,)
            Weight of each class, with its class weight.
        """
        if not mass.any():
            raise ValueError(
                "Sample weights must contain at least one non-zero number."
            )
        model = self.model
        model.classes_ = found["classes"]
        every = np.arange(len(mass))
        weight: NDArray[Any] = model._penalty_weight(model.classes_, every, mass)
        model._warn_of_scales(np.stack([found["low"], found["high"]]))
        return weight
