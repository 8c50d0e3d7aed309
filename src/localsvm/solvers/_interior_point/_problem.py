"""Rows of one linear SVM, centred and scaled for the interior point method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_BLOCK_ROWS = 4096
_TINY_SPREAD = 1e-100


@dataclass(frozen=True)
class Problem:
    """Rows y_i (z_i, 1), centred and scaled, so that margins are ``rows @ plane``.

    The scale is a power of two: undoing it is exact.
    """

    rows: Array
    bounds: Array
    positive: NDArray[np.bool_]
    center: Array
    scale: float

    @classmethod
    def of_rows(
        cls,
        Z: NDArray[Any],
        sign: Array,
        bounds: Array,
        active: NDArray[np.bool_],
    ) -> Problem:
        rows = np.empty((np.count_nonzero(active), Z.shape[1] + 1))
        chosen = np.flatnonzero(active)
        for block in row_blocks(len(chosen)):
            rows[block, :-1] = Z[chosen[block]]
        rows[:, -1] = 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            center = rows[:, :-1].mean(axis=0)
            rows[:, :-1] -= center
            spread = float(np.linalg.norm(rows[:, :-1]) / np.sqrt(len(rows)))
            scale = 1.0 if spread < _TINY_SPREAD else 2.0 ** np.round(np.log2(spread))
            rows[:, :-1] /= scale
            rows *= sign[active, None]
            bounds = bounds[active] * scale**2
        return cls(rows, bounds, sign[active] > 0, center, float(scale))

    def decide(self, Z: NDArray[Any], coef: Array, offset: float) -> Array:
        """Decisions by the centred rows, which loses less than by the intercept."""
        decisions = np.empty(len(Z))
        for block in row_blocks(len(Z)):
            decisions[block] = (Z[block] - self.center) @ coef + offset
        return decisions

    def weighted_gram(self, weights: Array) -> Array:
        """Sum of the weighted outer products of the rows."""
        root = np.sqrt(weights)
        gram = np.zeros((self.rows.shape[1],) * 2)
        for block in row_blocks(len(root)):
            part = self.rows[block] * root[block, None]
            gram += part.T @ part
        return gram

    def primal(self, plane: Array) -> float:
        losses = np.maximum(0.0, 1.0 - self.rows @ plane)
        return float(plane[:-1] @ plane[:-1] / 2 + self.bounds @ losses)

    def dual(self, alpha: Array) -> float:
        """Bound the primal from below, if the sides of alpha have equal sums."""
        w = (alpha @ self.rows)[:-1]
        return float(alpha.sum() - w @ w / 2)

    def balance(self, alpha: Array) -> Array:
        """Shrink the side with the larger sum until both are equal."""
        sums = alpha[self.positive].sum(), alpha[~self.positive].sum()
        positive, negative = min(sums) / np.array(sums)
        balanced: Array = alpha * np.where(self.positive, positive, negative)
        return balanced


def gap_of(primal: float, dual: float) -> float:
    if primal <= 0:
        return 0.0
    return max(0.0, primal - dual) / primal if np.isfinite(primal) else np.inf


def row_blocks(n_rows: int) -> list[slice]:
    return [slice(k, k + _BLOCK_ROWS) for k in range(0, n_rows, _BLOCK_ROWS)]
