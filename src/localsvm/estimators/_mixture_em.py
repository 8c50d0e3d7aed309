"""Expectation maximisation of a mixture of linear SVMs (Fu et al. 2010, Figure 2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from localsvm._threads import sum_row_blocks
from localsvm.estimators._base import StageClock, TrainingRows
from localsvm.estimators._gates import Gate, GateStep
from localsvm.estimators._mixture_experts import Experts, WeightedProblem
from localsvm.estimators._mixture_model import (
    MixtureModel,
    class_losses,
    class_scores,
    task_losses,
    true_losses,
)
from localsvm.solvers import LinearSolution, SolverOptions

# A component this light, as a part of all rows, has no logarithm of its prior left.
_VANISHED = 1e-9


@dataclass(frozen=True)
class Expectation:
    """What the E-step finds.

    Attributes
    ----------
    responsibilities : ndarray of shape (n_samples, n_components)
        Eq. 11; rows sum to one.
    mass : ndarray of shape (n_components,)
        Weighted column sums.
    losses : ndarray of shape (n_components, n_tasks)
        Hinge losses times bound and responsibility, of the rows above the cut-off.
    log_likelihood : float
        Weighted sum of the logarithms of Eq. 6.
    accuracy : float
        Weighted part of the rows whose class has the largest score.
    """

    responsibilities: NDArray[Any]
    mass: NDArray[np.float64]
    losses: NDArray[np.float64]
    log_likelihood: float
    accuracy: float


@dataclass(frozen=True)
class StepOptions:
    """How one EM step is done.

    Attributes
    ----------
    gate : GateStep
    solver : SolverOptions
    cutoff : float
        Responsibility from which on a component's SVM sees a row.
    prune_at_once : bool
        Whether all components too light are dropped together, as printed, or the
        lightest alone, which leaves its rows to the others.
    """

    gate: GateStep
    solver: SolverOptions
    cutoff: float
    prune_at_once: bool


@dataclass
class MixtureFit:
    """A mixture on its way: parameters, and what the next step needs.

    Attributes
    ----------
    rows : TrainingRows
    weighted : WeightedProblem
    gate : Gate
    experts : Experts
    solution : LinearSolution
        Certificates of the last SVMs.
    clock : StageClock
    """

    rows: TrainingRows
    weighted: WeightedProblem
    gate: Gate
    experts: Experts
    solution: LinearSolution
    clock: StageClock = field(default_factory=StageClock)

    @property
    def model(self) -> MixtureModel:
        """The mixture as it is now."""
        experts = self.experts
        return MixtureModel(
            self.gate, experts.coef, experts.intercept, self.rows.X.dtype
        )

    def penalty(self, C: float, options: StepOptions) -> float:
        r"""Cost of the priors in log-likelihood (Eq. 8).

        :math:`\sum_j \|w_j\|^2 / (2 C)` of Eq. 9, and the ridge of the gate.
        """
        constant = self.weighted.problem.intercept_scaling or 1.0
        experts = self.experts
        squares = (experts.coef**2).sum() + (experts.intercept**2).sum() / constant**2
        return float(squares) / (2 * C) + self.gate.penalty(options.gate)

    def expect(self, options: StepOptions) -> Expectation:
        """E-step, repeated without the components that it leaves too little mass."""
        while True:
            with self.clock.stage("expect"):
                found = expectation(self.model, self.rows, self.weighted, options)
            survivors = surviving(found.mass, options.gate.prior, options.prune_at_once)
            if survivors.all():
                return found
            self.gate = self.gate.keep(survivors)
            self.experts = self.experts.keep(survivors)

    def maximize(self, found: Expectation, options: StepOptions) -> None:
        """M-step: the gate (Eq. 13, 20) and the SVMs (Eq. 15)."""
        with self.clock.stage("gate"):
            weight = self.rows.penalty_weight.astype(self.rows.X.dtype)
            targets = found.responsibilities * weight[:, np.newaxis]
            self.gate = self.gate.update(targets, options.gate)
        with self.clock.stage("solve"):
            self.experts, self.solution = self.weighted.step(
                found.responsibilities,
                options.cutoff,
                self.experts,
                found.losses,
                options.solver,
            )


def expectation(
    model: MixtureModel,
    rows: TrainingRows,
    weighted: WeightedProblem,
    options: StepOptions,
) -> Expectation:
    """Eq. 11, and sums that the M-step and the history need, in one pass."""
    n_samples = rows.X.shape[0]
    shares = np.empty((n_samples, model.n_components), dtype=rows.X.dtype)

    def expect(part: slice) -> tuple[Any, ...]:
        classes = rows.class_index[part]
        weight = rows.penalty_weight[part]
        log_shares, decisions = model.evaluate(rows.X[part])
        losses = class_losses(decisions)
        joint = log_shares - true_losses(losses, classes)
        total = logsumexp(joint, axis=1, keepdims=True)
        shares[part] = np.exp(joint - total)
        seen = np.where(shares[part] > options.cutoff, shares[part], 0)
        bounds = weighted.problem.bounds[part]
        hit = class_scores(log_shares, losses).argmax(axis=1) == classes
        return (
            weight @ shares[part],
            np.einsum("i,ij,ijt->jt", bounds, seen, task_losses(decisions, classes)),
            weight @ total[:, 0].astype(np.float64),
            weight @ hit,
        )

    mass, losses, log_likelihood, hits = sum_row_blocks(
        expect, n_samples, options.gate.rows.n_jobs
    )
    weight = rows.penalty_weight.sum()
    return Expectation(shares, mass, losses, float(log_likelihood), hits / weight)


def surviving(
    mass: NDArray[np.float64], prior: float, at_once: bool
) -> NDArray[np.bool_]:
    """Components with more mass than the prior takes (Eq. 20); the heaviest always.

    If not all ``at_once``, only the lightest of the others is dropped.
    """
    survivors: NDArray[np.bool_] = mass > max(prior, _VANISHED * mass.sum())
    survivors[mass.argmax()] = True
    if not at_once and not survivors.all():
        survivors[:] = True
        survivors[mass.argmin()] = False
    return survivors
