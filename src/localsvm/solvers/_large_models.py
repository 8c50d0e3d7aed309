"""Decisions of kernel SVMs with many support vectors, by matrix products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

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
        decisions = decide_in_blocks(compare, self.coef, X, n_jobs)
        decisions += self.intercept
        if prior is not None:
            decisions += self._between(prior)
        return combine_pairs(decisions, self.pairs, self.n_classes).astype(X.dtype)

    def _between(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.n_classes == 2:
            return scores
        negative, positive = self.pairs.T
        return (scores[:, positive] - scores[:, negative]) / 2


def decide_in_blocks(
    compare: Callable[[NDArray[Any]], NDArray[Any]],
    coef: NDArray[np.float64],
    X: Any,
    n_jobs: int | None,
) -> NDArray[np.float64]:
    """Multiply kernel values by coefficients, for rows whose values fit the cache.

    Parameters
    ----------
    compare : callable
        Kernel values of a block of dense rows with the support, in their type.
    coef : ndarray of shape (n_outputs, n_support)
    X : ndarray or CSR of shape (n_samples, n_features)
    n_jobs : int or None
        Threads; the result does not depend on them.

    Returns
    -------
    decisions : ndarray of shape (n_samples, n_outputs)
        Without intercepts.
    """
    weights = np.ascontiguousarray(coef.T, dtype=X.dtype)
    decisions = np.empty((X.shape[0], len(coef)), dtype=np.float64)
    step = max(1, _BLOCK_VALUES // max(1, len(weights)))

    def decide_block(block: slice) -> None:
        for start in range(block.start, block.stop, step):
            part = slice(start, min(start + step, block.stop))
            rows = X[part].toarray() if sparse.issparse(X) else X[part]
            decisions[part] = compare(rows) @ weights

    map_row_blocks(decide_block, X.shape[0], n_jobs)
    return decisions


def combine_pairs(
    decisions: NDArray[np.float64], pairs: NDArray[np.int32], n_classes: int
) -> NDArray[np.float64]:
    """Votes of the pairs of classes plus the squeezed sum of their decisions.

    Parameters
    ----------
    decisions : ndarray of shape (n_samples, n_pairs)
        Positive for the second class of a pair.
    pairs : ndarray of shape (n_pairs, 2)
    n_classes : int

    Returns
    -------
    scores : ndarray of shape (n_samples, n_classes)
        As in scikit-learn; classes that are in no pair score -1. Two classes have one
        score, the decision itself.
    """
    if n_classes == 2:
        return decisions
    negative, positive = (np.eye(n_classes)[classes] for classes in pairs.T)
    won = (decisions > 0).astype(np.float64)
    votes = won @ positive + (1 - won) @ negative
    sums = decisions @ (positive - negative)
    scores = votes + sums / (3 * (np.abs(sums) + 1))
    scores[:, ~(negative + positive).any(axis=0)] = -1
    return np.asarray(scores)
