"""How often a candidate was right, how sure that is, and who is no worse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Z = 1.959963984540054  # 97.5 % of the normal distribution


@dataclass(frozen=True)
class Score:
    """Accuracy on held-out rows with its confidence interval.

    Attributes
    ----------
    value : float
        Share of the rows, or of their weight, that was classified right.
    low, high : float
        Wilson's 95 % interval, which holds for few rows and for no errors, too.
    n_rows : int
    """

    value: float
    low: float
    high: float
    n_rows: int

    def __str__(self) -> str:
        return (
            f"{self.value:.4f} (95 % interval {self.low:.4f} to {self.high:.4f}, "
            f"{self.n_rows} rows)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers.

        Returns
        -------
        dict
        """
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "n_rows": self.n_rows,
        }


def held_out_score(correct: NDArray[np.bool_], weight: NDArray[np.float64]) -> Score:
    """Score of independent rows; weights count as their effective number of rows."""
    value = float(np.average(correct, weights=weight))
    n = float(weight.sum() ** 2 / (weight**2).sum())
    middle = (value + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * np.sqrt(value * (1 - value) / n + (_Z / (2 * n)) ** 2)
    low, high = max(0.0, middle - float(half)), min(1.0, middle + float(half))
    # Rounding may leave the ends a hair inside.
    return Score(value, min(low, value), max(high, value), len(correct))


@dataclass(frozen=True, eq=False)
class Validation:
    """How often each validation row was right, on average over its splits.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        Which rows, ascending.
    credit : ndarray of shape (n_rows,)
    weight : ndarray of shape (n_rows,)
    """

    rows: NDArray[np.intp]
    credit: NDArray[np.float64]
    weight: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        rows: NDArray[np.intp],
        correct: NDArray[np.bool_],
        sample_weight: NDArray[np.float64],
    ) -> Validation:
        """Average over the times that a row was scored."""
        distinct, which = np.unique(rows, return_inverse=True)
        credit = np.bincount(which, correct) / np.bincount(which)
        return cls(distinct, credit, sample_weight[distinct])

    @property
    def score(self) -> float:
        """Weighted share that was right."""
        return float(np.average(self.credit, weights=self.weight))

    @property
    def standard_error(self) -> float:
        """Of the score."""
        return _standard_error(self.credit, self.weight)

    def is_no_better_than(self, other: Validation) -> bool:
        """Whether its lead on the rows of both is at most one standard error."""
        _, mine, theirs = np.intersect1d(
            self.rows, other.rows, assume_unique=True, return_indices=True
        )
        lead = self.credit[mine] - other.credit[theirs]
        weight = self.weight[mine]
        return bool(np.average(lead, weights=weight) <= _standard_error(lead, weight))


def _standard_error(values: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    deviation = values - np.average(values, weights=weight)
    return float(np.sqrt(np.sum((weight * deviation) ** 2)) / weight.sum())
