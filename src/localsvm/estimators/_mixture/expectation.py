"""E-step of a mixture of linear SVMs: responsibilities (Eq. 11) and their sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from localsvm._threads import sum_row_blocks
from localsvm.estimators._mixture.model import (
    MixtureModel,
    class_losses,
    class_scores,
    task_losses,
    true_losses,
)
from localsvm.rows import Rows


@dataclass(frozen=True)
class Expectation:
    """Sums over rows that the E-step finds; those of two blocks add up.

    Attributes
    ----------
    mass : ndarray of shape (n_components,)
        Weighted sums of the responsibilities.
    losses : ndarray of shape (n_components, n_tasks)
        Hinge losses times bound and responsibility, of the rows above the cut-off.
    log_likelihood : float
        Weighted sum of the logarithms of Eq. 6.
    hits : ndarray of shape (2,)
        Weight of the rows whose class has the largest score, and of all rows.
    sizes : ndarray of shape (n_components,)
        Rows by the component that is most responsible for them.
    class_counts : ndarray of shape (n_components, n_classes)
        The same by class and sample weight.
    validation_hits : ndarray of shape (2,)
        As ``hits``, of rows set aside.
    """

    mass: NDArray[np.float64]
    losses: NDArray[np.float64]
    log_likelihood: float
    hits: NDArray[np.float64]
    sizes: NDArray[np.intp]
    class_counts: NDArray[np.float64]
    validation_hits: NDArray[np.float64]

    def __add__(self, other: Expectation) -> Expectation:
        """Add up the sums over two blocks."""
        return Expectation(
            **{name: mine + getattr(other, name) for name, mine in vars(self).items()}
        )

    @property
    def accuracy(self) -> float:
        """Weighted share of the rows that are classified right."""
        return float(self.hits[0] / self.hits[1])

    @property
    def validation_accuracy(self) -> float | None:
        """The same of the rows set aside, or None if there are none."""
        hits, weight = self.validation_hits.tolist()
        return hits / weight if weight else None


def weighted_by(rows: Rows, responsibilities: NDArray[Any]) -> NDArray[Any]:
    """Responsibilities times weights: the targets of the gate."""
    weight = rows.penalty_weight.astype(rows.X.dtype)
    return np.asarray(responsibilities * weight[:, np.newaxis])


def expectation(
    model: MixtureModel,
    rows: Rows,
    bounds: NDArray[np.float64],
    cutoff: float,
    n_jobs: int | None,
) -> tuple[NDArray[Any], Expectation]:
    """Responsibilities (Eq. 11), and sums that the M-step and the history need."""
    n_samples = rows.X.shape[0]
    shares = np.empty((n_samples, model.n_components), dtype=rows.X.dtype)
    shape = model.n_components, model.n_classes

    def expect(block: slice) -> tuple[Any, ...]:
        classes = rows.class_index[block]
        weight, sample_weight = rows.penalty_weight[block], rows.sample_weight[block]
        log_shares, decisions = model.evaluate(rows.X[block])
        losses = class_losses(decisions)
        joint = log_shares - true_losses(losses, classes)
        total = logsumexp(joint, axis=1, keepdims=True)
        shares[block] = np.exp(joint - total)
        main = shares[block].argmax(axis=1)
        seen = np.where(shares[block] > cutoff, shares[block], 0)
        hit = class_scores(log_shares, losses).argmax(axis=1) == classes
        counts = np.bincount(main * shape[1] + classes, sample_weight, np.prod(shape))
        return (
            weight @ shares[block],
            np.einsum(
                "i,ij,ijt->jt", bounds[block], seen, task_losses(decisions, classes)
            ),
            float(weight @ total[:, 0].astype(np.float64)),
            np.array([weight @ hit, weight.sum()]),
            np.bincount(main[sample_weight > 0], minlength=shape[0]),
            counts.astype(np.float64).reshape(shape),
            np.zeros(2),
        )

    sums = sum_row_blocks(expect, n_samples, n_jobs)
    return shares, Expectation(*sums)


def count_hits(
    model: MixtureModel, rows: Rows, n_jobs: int | None
) -> NDArray[np.float64]:
    """Weight of the rows that are classified right, and of all."""
    predicted = model.class_scores(rows.X, n_jobs).argmax(axis=1)
    weight = rows.penalty_weight
    return np.array([weight @ (predicted == rows.class_index), weight.sum()])
