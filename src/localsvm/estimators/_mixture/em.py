"""Expectation maximisation of a mixture of linear SVMs (Fu et al. 2010, Figure 2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from localsvm._clock import StageClock
from localsvm._threads import sum_row_blocks
from localsvm.estimators._base import Solution
from localsvm.estimators._mixture.experts import Experts, Rates, WeightedProblem
from localsvm.estimators._mixture.gates import Gate, GateStep, Mask
from localsvm.estimators._mixture.model import (
    MixtureModel,
    class_losses,
    class_scores,
    task_losses,
    true_losses,
)
from localsvm.rows import Rows
from localsvm.solvers import GateRows, RowTargets, SolverOptions

# A component this light, as a part of all rows, has no logarithm of its prior left.
_VANISHED = 1e-9


@dataclass(frozen=True)
class Expectation:
    """Sums over rows that the E-step finds; those of two parts add up.

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
        """Add up the sums over two parts."""
        return Expectation(
            **{name: mine + getattr(other, name) for name, mine in vars(self).items()}
        )

    @property
    def accuracy(self) -> float:
        """Weighted part of the rows that are classified right."""
        return float(self.hits[0] / self.hits[1])

    @property
    def validation_accuracy(self) -> float | None:
        """The same of the rows set aside, or None without such."""
        hits, weight = self.validation_hits.tolist()
        return hits / weight if weight else None


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


class ExpertSolution(Solution, Protocol):
    """What the solvers of the SVMs tell."""

    @property
    def worst_gap(self) -> float: ...


@dataclass
class MixtureSteps(ABC):
    """A mixture on its way: parameters, and what the next step needs.

    Attributes
    ----------
    gate : Gate
    experts : Experts
    solution : ExpertSolution
        Certificates of the last SVMs.
    clock : StageClock
    weight : float
        Of all rows.
    gate_scale : float
        Unit of the rows for the gate.
    intercept_scaling : float
    dtype : data type of the rows
    """

    gate: Gate
    experts: Experts
    solution: ExpertSolution
    clock: StageClock
    weight: float
    gate_scale: float
    intercept_scaling: float
    dtype: Any

    @property
    def model(self) -> MixtureModel:
        """The mixture as it is now."""
        experts = self.experts
        return MixtureModel(self.gate, experts.coef, experts.intercept, self.dtype)

    def penalty(self, C: float, options: StepOptions) -> float:
        r"""Cost of the priors in log-likelihood (Eq. 8).

        :math:`\sum_j \|w_j\|^2 / (2 C)` of Eq. 9, and the ridge of the gate.
        """
        squares = self.experts.squared_norms(self.intercept_scaling)
        return float(squares.sum()) / (2 * C) + self.gate.penalty(options.gate)

    def expect(self, options: StepOptions) -> Expectation:
        """E-step, repeated without the components that it leaves too little mass."""
        while True:
            with self.clock.stage("expect"):
                found = self._expect(options)
            survivors = surviving(found.mass, options.gate.prior, options.prune_at_once)
            if survivors.all():
                return found
            self._keep(survivors)

    @abstractmethod
    def _expect(self, options: StepOptions) -> Expectation:
        """E-step with the components as they are."""

    def _keep(self, survivors: Mask) -> None:
        """Leave components out."""
        self.gate = self.gate.keep(survivors)
        self.experts = self.experts.keep(survivors)

    @abstractmethod
    def maximize(self, found: Expectation, options: StepOptions) -> None:
        """M-step: the gate (Eq. 13, 20) and the SVMs (Eq. 15)."""

    @abstractmethod
    def write_down(self, watch: Any) -> None:
        """Write down where EM is, so that it can go on from here."""


@dataclass
class MixtureFit(MixtureSteps):
    """A mixture on its way, of rows in memory.

    Attributes
    ----------
    rows : Rows
    validation : Rows or None
        Rows that EM does not see.
    gate_rows : GateRows
    weighted : WeightedProblem
    rates : list
        Duals of the last SVMs, for the next ones.
    """

    rows: Rows
    validation: Rows | None
    gate_rows: GateRows
    weighted: WeightedProblem
    rates: Rates

    def _expect(self, options: StepOptions) -> Expectation:
        bounds, n_jobs = self.weighted.problem.bounds, self.gate_rows.n_jobs
        self._responsibilities, found = expectation(
            self.model, self.rows, bounds, options.cutoff, n_jobs
        )
        if self.validation is None:
            return found
        hits = count_hits(self.model, self.validation, n_jobs)
        return replace(found, validation_hits=hits)

    def _keep(self, survivors: Mask) -> None:
        super()._keep(survivors)
        self.rates = [self.rates[each] for each in np.flatnonzero(survivors)]

    def maximize(self, found: Expectation, options: StepOptions) -> None:
        """M-step: the gate (Eq. 13, 20) and the SVMs (Eq. 15)."""
        with self.clock.stage("gate"):
            targets = weighted_by(self.rows, self._responsibilities)
            self.gate = self.gate.update(
                RowTargets(self.gate_rows, targets), options.gate
            )
        with self.clock.stage("solve"):
            self.experts, self.rates, self.solution = self.weighted.step(
                self._responsibilities,
                options.cutoff,
                self.experts,
                self.rates,
                found.losses,
                options.solver,
            )

    def write_down(self, watch: Any) -> None:
        """Do nothing: what is in memory alone has no checkpoint."""


def weighted_by(rows: Rows, responsibilities: NDArray[Any]) -> NDArray[Any]:
    """Responsibilities times weights: what the gate is to match."""
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

    def expect(part: slice) -> tuple[Any, ...]:
        classes = rows.class_index[part]
        weight, sample_weight = rows.penalty_weight[part], rows.sample_weight[part]
        log_shares, decisions = model.evaluate(rows.X[part])
        losses = class_losses(decisions)
        joint = log_shares - true_losses(losses, classes)
        total = logsumexp(joint, axis=1, keepdims=True)
        shares[part] = np.exp(joint - total)
        main = shares[part].argmax(axis=1)
        seen = np.where(shares[part] > cutoff, shares[part], 0)
        hit = class_scores(log_shares, losses).argmax(axis=1) == classes
        counts = np.bincount(main * shape[1] + classes, sample_weight, np.prod(shape))
        return (
            weight @ shares[part],
            np.einsum(
                "i,ij,ijt->jt", bounds[part], seen, task_losses(decisions, classes)
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
