"""Expectation maximisation of a mixture of linear SVMs (Fu et al. 2010, Figure 2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from localsvm._clock import StageClock
from localsvm._threads import single_threaded_libraries
from localsvm.estimators._mixture.expectation import Expectation
from localsvm.estimators._mixture.experts import (
    Certificate,
    Experts,
    SolvedExperts,
    constant_tasks,
)
from localsvm.estimators._mixture.gates import Gate, GateStep, Mask
from localsvm.estimators._mixture.model import MixtureModel
from localsvm.estimators._mixture.settings import MixtureSettings, Scales
from localsvm.estimators._mixture.watch import EMWatch
from localsvm.solvers import GateTargets, SolverOptions

# A component this light, as a share of all rows, has no logarithm of its prior left.
_VANISHED = 1e-9

Solved = TypeVar("Solved", bound=SolvedExperts)


@dataclass(frozen=True)
class StepOptions:
    """How one EM step is done.

    Attributes
    ----------
    gate : GateStep
    solver : SolverOptions
    cutoff : float
        Responsibility above which the SVM of a component sees a row.
    prune_at_once : bool
        Whether all components that are too light are dropped together, as printed, or
        only the lightest, which leaves its rows to the others.
    """

    gate: GateStep
    solver: SolverOptions
    cutoff: float
    prune_at_once: bool


@dataclass
class MixtureSteps(ABC, Generic[Solved]):
    """State of the EM iteration, and its steps.

    Attributes
    ----------
    settings : MixtureSettings
    scales : Scales
    clock : StageClock
    gate : Gate
    weight : float
        Of all rows.
    gate_scale : float
        Unit of the rows for the gate.
    dtype : data type of the rows
    experts : Experts
    solved : SolvedExperts
        The last SVMs, where the next ones start.
    certificate : Certificate
        Of the last SVMs.
    """

    settings: MixtureSettings
    scales: Scales
    clock: StageClock
    gate: Gate
    weight: float
    gate_scale: float
    dtype: Any

    experts: Experts = field(init=False)
    solved: Solved = field(init=False)
    certificate: Certificate = field(init=False)

    @property
    def model(self) -> MixtureModel:
        """The mixture as it is now."""
        experts = self.experts
        return MixtureModel(self.gate, experts.coef, experts.intercept, self.dtype)

    def options(self, seed: int) -> StepOptions:
        """Options of the step with this seed."""
        settings = self.settings
        gate = GateStep(
            max_iter=settings.gate.steps,
            ridge=settings.gate.reg * self.weight * self.gate_scale**2,
            prior=settings.prior * self.weight,
            deadline=self.clock.deadline,
        )
        return StepOptions(
            gate,
            settings.solver(seed, self.clock),
            settings.min_responsibility,
            prune_at_once=settings.gate.kind == "paper",
        )

    def penalty(self, options: StepOptions) -> float:
        r"""Cost of the priors in log-likelihood (Eq. 8).

        :math:`\sum_j \|w_j\|^2 / (2 C)` of Eq. 9, and the ridge of the gate.
        """
        squares = self.experts.squared_norms(self.scales.intercept)
        return float(squares.sum()) / (2 * self.scales.C) + self.gate.penalty(
            options.gate
        )

    def start(self, class_counts: NDArray[Any], options: SolverOptions) -> None:
        """One SVM per cluster (section III-D).

        A cluster of one class gets the constant of that class and zero duals, if there
        is an intercept.

        Parameters
        ----------
        class_counts : ndarray of shape (n_components, n_classes)
            Rows of each cluster by class.
        options : SolverOptions
        """
        with self.clock.stage("solve"):
            solved = self._solve(0.0, options, None)
        self.experts, self.certificate = solved.experts, solved.certificate
        if self.scales.intercept > 0:
            n_tasks = self.experts.n_tasks
            constants = [dict(constant_tasks(own, n_tasks)) for own in class_counts]
            self.experts = self.experts.with_constants(constants)
            solved = solved.without_duals([tuple(own) for own in constants])
        self.solved = solved

    def expect(self, options: StepOptions) -> Expectation:
        """E-step, repeated without the components that it leaves too little mass."""
        while True:
            with self.clock.stage("expect"):
                found = self._expect(options)
            survivors = surviving(found.mass, options.gate.prior, options.prune_at_once)
            if survivors.all():
                return found
            self._keep(survivors)

    def maximize(self, found: Expectation, options: StepOptions) -> None:
        """M-step: the gate (Eq. 13, 20) and the SVMs (Eq. 15)."""
        with self.clock.stage("gate"):
            self.gate = self.gate.update(self._targets(found), options.gate)
        with self.clock.stage("solve"):
            before = self.solved if self.settings.warm_start else None
            solved = self._solve(options.cutoff, options.solver, before)
            self.experts = self.experts.improved(
                solved.experts, solved.primal, found.losses, self.scales.intercept
            )
        self.solved, self.certificate = solved, solved.certificate

    def checkpoint(self, watch: EMWatch) -> None:
        """Write down where EM is; rows in memory have no checkpoint."""

    def _keep(self, survivors: Mask) -> None:
        """Leave components out."""
        self.gate = self.gate.keep(survivors)
        self.experts = self.experts.keep(survivors)
        self.solved = self.solved.keep(survivors)

    @abstractmethod
    def _expect(self, options: StepOptions) -> Expectation:
        """E-step with the components as they are."""

    @abstractmethod
    def _targets(self, found: Expectation) -> GateTargets:
        """Responsibilities of the last E-step, for the gate."""

    @abstractmethod
    def _solve(
        self, cutoff: float, options: SolverOptions, before: Solved | None
    ) -> Solved:
        """SVMs by the last responsibilities, from the duals of those before."""


def run_em(steps: MixtureSteps[Any], watch: EMWatch, seed: int) -> None:
    """E-steps and M-steps in turn, until the watch says that it is enough."""
    # Set once, as the limits cost more than a step on few rows.
    with single_threaded_libraries():
        while True:
            options = steps.options(seed + watch.n_steps)
            found = steps.expect(options)
            watch.record(steps.model, found, steps.penalty(options))
            if watch.is_over:
                break
            steps.maximize(found, options)
            steps.checkpoint(watch)


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
