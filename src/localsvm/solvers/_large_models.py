"""Decisions of kernel SVMs with many support vectors, by matrix products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._threads import map_row_blocks
from localsvm.solvers._kernel import CoreKernel

# Of rows whose kernel values stay in the cache.
_BLOCK_VALUES = 1 << 20


@dataclass(frozen=True)
class LargeModel:
    """One kernel SVM per pair of classes, on the same support vectors.

    Attributes
    ----------
    support : ndarray of shape (n_support, n_features)
    gamma : float
    coef : ndarray of shape (n_pairs, n_support)
    intercept : ndarray of shape (n_pairs,)
    pairs : ndarray of shape (n_pairs, 2)
        Negative and positive class.
    n_classes : int
    """

    support: NDArray[Any]
    gamma: float
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    pairs: NDArray[np.int32]
    n_classes: int

    def decide(
        self,
        kernel: CoreKernel,
        X: NDArray[Any],
        prior: NDArray[np.float64] | None,
        n_jobs: int,
    ) -> NDArray[Any]:
        """Scores of rows, as those of small models."""
        compare = kernel.compare_with(self.support, self.gamma)
        coef = np.ascontiguousarray(self.coef.T, dtype=X.dtype)
        decisions = np.empty((X.shape[0], len(self.pairs)), dtype=np.float64)
        step = max(1, _BLOCK_VALUES // len(self.support))

        def decide_block(block: slice) -> None:
            for start in range(block.start, block.stop, step):
                part = slice(start, min(start + step, block.stop))
                decisions[part] = compare(X[part]) @ coef

        map_row_blocks(decide_block, X.shape[0], n_jobs)
        decisions += self.intercept
        if prior is not None:
            decisions += self._between(prior)
        return self._combine(decisions).astype(X.dtype)

    def _between(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.n_classes == 2:
            return scores
        negative, positive = self.pairs.T
        return (scores[:, positive] - scores[:, negative]) / 2

    def _combine(self, decisions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Votes of the pairs plus the squeezed sum of their decisions."""
        if self.n_classes == 2:
            return decisions
        negative, positive = (
            np.eye(self.n_classes)[classes] for classes in self.pairs.T
        )
        won = (decisions > 0).astype(np.float64)
        votes = won @ positive + (1 - won) @ negative
        sums = decisions @ (positive - negative)
        scores = votes + sums / (3 * (np.abs(sums) + 1))
        scores[:, ~(negative + positive).any(axis=0)] = -1
        return np.asarray(scores)
