"""Mean of K(x, x) over the rows, by which ``C="scale"`` is divided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.engine import Block, Record
from localsvm.kernels import Kernel


@dataclass(frozen=True)
class Diagonal(Record):
    """Sum of K(x, x) over rows, each times its sample weight.

    Attributes
    ----------
    total : float
    weight : float
        Sum of the sample weights.
    """

    total: float
    weight: float

    @classmethod
    def of(cls, kernel: Kernel, X: Any, weight: NDArray[np.float64]) -> Diagonal:
        """Sum over some rows."""
        if kernel.name == "rbf":
            return cls(float(weight.sum()), float(weight.sum()))
        values = kernel.diagonal(X).astype(np.float64, copy=False)
        return cls(float(weight @ values), float(weight.sum()))

    def merge(self, other: Diagonal) -> Diagonal:
        """Sum over the rows of both."""
        return Diagonal(self.total + other.total, self.weight + other.weight)

    @property
    def mean(self) -> float:
        """Mean over the rows; 1 if it is not positive or overflows."""
        mean = self.total / self.weight if self.weight > 0 else 1.0
        return mean if 0 < mean < np.inf else 1.0


def sum_diagonal(block: Block, kernel: Kernel) -> Diagonal:
    """Sum K(x, x) over the rows of a block."""
    return Diagonal.of(kernel, block.X, block.sample_weight)
