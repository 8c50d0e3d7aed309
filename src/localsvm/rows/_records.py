"""Rows with class and weight: the one record that all layers share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Rows:
    """Validated training data.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_samples, n_features), float32 or float64
    class_index : ndarray of shape (n_samples,), int32
        Position of each row's label in ``classes_``.
    sample_weight : ndarray of shape (n_samples,)
    penalty_weight : ndarray of shape (n_samples,)
        Sample weight times class weight.
    """

    X: Any
    class_index: NDArray[np.int32]
    sample_weight: NDArray[np.float64]
    penalty_weight: NDArray[np.float64]

    def class_counts(
        self, regions: NDArray[np.integer], shape: tuple[int, int]
    ) -> NDArray[np.float64]:
        """Sample weights of each class in each region, of the given shape.

        ``regions`` holds the region of each row, -1 for none.
        """
        placed = regions >= 0
        place = regions[placed].astype(np.intp) * shape[1] + self.class_index[placed]
        counts = np.bincount(place, self.sample_weight[placed], shape[0] * shape[1])
        return counts.astype(np.float64).reshape(shape)

    def take(self, index: NDArray[np.intp]) -> Rows:
        """Part of the rows."""
        return Rows(
            self.X[index],
            self.class_index[index],
            self.sample_weight[index],
            self.penalty_weight[index],
        )
