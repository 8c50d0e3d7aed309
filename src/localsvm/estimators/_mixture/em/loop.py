"""Expectation maximisation of a mixture of linear SVMs (Fu et al. 2010, Figure 2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._threads import single_threaded_libraries
from localsvm.engine import Blocks
from localsvm.estimators._mixture.blocks import (
    Expectation,
    Matrix,
    StoredRows,
    expect_block,
    gate_block,
    target_mass,
)
from localsvm.estimators._mixture.em.course import EMWatch, save_em
from localsvm.estimators._mixture.em.experts import (
    Experts,
    ExpertSolver,
    Seen,
    SolvedExperts,
)
from localsvm.estimators._mixture.gates import GateStep, Mask
from localsvm.estimators._mixture.model import MixtureModel
from localsvm.estimators._mixture.settings import FitOptions, MixtureSettings, Scales

# A component this light, as a share of all rows, has no logarithm of its prior left.
_VANISHED = 1e-9


@dataclass(frozen=True)
class EMProblem:
    """What all steps of EM share.

    Attributes
    ----------
    blocks : Blocks
    stored : StoredRows
    numbers : list of int
        Blocks with rows.
    settings : MixtureSettings
    options : FitOptions
    scales : Scales
    solver : ExpertSolver
    weight : float
        Penalty weight of all rows.
    origin : ndarray of shape (n_features,)
        Mean of the rows, for the gate.
    gate_scale : float
        Unit of the rows for the gate.
    """

    blocks: Blocks
    stored: StoredRows
    numbers: list[int]
    settings: MixtureSettings
    options: FitOptions
    scales: Scales
    solver: ExpertSolver
    weight: float
    origin: Matrix
    gate_scale: float

    def run(self, function: Any, *arguments: Any, stage: str) -> Iterator[Any]:
        """Call a function of each block with rows."""
        return self.blocks.run(
            function, self.numbers, self.stored, *arguments, stage=stage
        )

    def seen(
        self, step: str, cutoff: float, ids: NDArray[np.int64], found: Any
    ) -> Seen:
        """Rows that SVMs see, counted in each block with rows."""
        sizes = np.zeros((self.blocks.n_blocks, len(ids)), dtype=np.int64)
        sizes[self.numbers] = list(found)
        return Seen(step, cutoff, ids, sizes)

    @property
    def gate_step(self) -> GateStep:
        """How the gate is updated."""
        settings = self.settings
        return GateStep(
            max_iter=settings.gate.steps,
            ridge=settings.gate_reg * self.weight * self.gate_scale**2,
            prior=settings.prior * self.weight,
            deadline=self.options.clock.deadline,
        )

    def penalty(self, model: MixtureModel) -> float:
        r"""Cost of the priors in log-likelihood (Eq. 8).

        :math:`\sum_j \|w_j\|^2 / (2 C)` of Eq. 9, and the ridge of the gate.
        """
        experts = Experts(model.coef, model.intercept)
        squares = experts.squared_norms(self.scales.intercept)
        ridge = model.gate.penalty(self.gate_step)
        return float(squares.sum()) / (2 * self.scales.C) + ridge


@dataclass(frozen=True)
class EMState:
    """Where EM is.

    Attributes
    ----------
    model : MixtureModel
    solved : SolvedExperts
        The last SVMs, where the next ones start.
    seen : Seen
        Rows that SVMs see by the last responsibilities.
    n_done : int
        M-steps that are done.
    outdated : tuple of str
        Steps whose responsibilities can go when the next M-step is saved.
    """

    model: MixtureModel
    solved: SolvedExperts
    seen: Seen
    n_done: int = 0
    outdated: tuple[str, ...] = ()

    def keep(self, survivors: Mask) -> EMState:
        """Leave components out."""
        return replace(
            self,
            model=self.model.keep(survivors),
            solved=self.solved.keep(survivors),
            seen=replace(self.seen, ids=self.seen.ids[survivors]),
        )


@dataclass(frozen=True)
class BlockTargets:
    """Targets of a gate for the rows of all blocks.

    Attributes
    ----------
    problem : EMProblem
    step : str
        Whose responsibilities.
    maps : tuple of ndarray
        As in :class:`~localsvm.estimators._mixture.blocks.Targets`.
    """

    problem: EMProblem
    step: str
    maps: tuple[Matrix, ...] = ()

    @property
    def origin(self) -> Matrix:
        """Point that is subtracted from the rows."""
        return self.problem.origin

    @property
    def scale(self) -> float:
        """Unit of the rows."""
        return self.problem.gate_scale

    @cached_property
    def mass(self) -> Matrix:
        """Sums of the targets of each component."""
        own = self.step, self.maps
        return np.asarray(sum(self.problem.run(target_mass, *own, stage="gate")))

    def loss(self, coef: Matrix, intercept: Matrix) -> tuple[float, Matrix, Matrix]:
        """Evaluate loss and gradients: one task per block."""
        found = self.problem.run(
            gate_block, self.step, self.maps, coef, intercept, stage="gate"
        )
        loss, by_coef, by_intercept = reduce(_add_each, found)
        return loss, by_coef, by_intercept

    def mapped(self, matrix: Matrix) -> BlockTargets:
        """Targets times a matrix."""
        return replace(self, maps=(*self.maps, matrix))

    def scaled(self, factors: Matrix) -> BlockTargets:
        """Targets times a number for each component."""
        return replace(self, maps=(*self.maps, factors))


def run_em(problem: EMProblem, state: EMState, watch: EMWatch) -> EMState:
    """E-steps and M-steps in turn, until the watch says that it is enough."""
    # Set once, as the limits cost more than a step on few rows.
    with single_threaded_libraries():
        while True:
            before = state
            state, found = expect(problem, state)
            watch.record(state.model, found, problem.penalty(state.model))
            if watch.is_over:
                return state
            state = maximize(problem, state, found)
            save_em(problem.blocks.checkpoint, state, watch)
            remove_outdated(problem, state, before)
            state = replace(state, outdated=())


def expect(problem: EMProblem, state: EMState) -> tuple[EMState, Expectation]:
    """E-step, repeated without the components that it leaves too little mass."""
    prior = problem.gate_step.prior
    while True:
        with problem.options.clock.stage("expect"):
            state, found = _expect_all(problem, state)
        survivors = surviving(found.mass, prior, problem.settings.as_printed)
        if survivors.all():
            return state, found
        state = state.keep(survivors)


def _expect_all(problem: EMProblem, state: EMState) -> tuple[EMState, Expectation]:
    """E-step with the components as they are."""
    cutoff, old = problem.settings.min_responsibility, state.seen
    # A name of its own for each number of components, as tasks may run twice.
    step = f"{state.n_done}-{state.model.n_components}"
    found = problem.run(expect_block, state.model, step, cutoff, stage="expect")
    sums, sizes = zip(*found, strict=True)
    outdated = (*state.outdated, old.step)
    if problem.blocks.is_in_memory:
        # Only SVMs by passes read the responsibilities of the step before.
        _drop_shares(problem, outdated)
        outdated = ()
    seen = problem.seen(step, cutoff, old.ids, sizes)
    return replace(state, seen=seen, outdated=outdated), reduce(Expectation.merge, sums)


def maximize(problem: EMProblem, state: EMState, found: Expectation) -> EMState:
    """M-step: the gate (Eq. 13, 20) and the SVMs (Eq. 15)."""
    model, options = state.model, problem.options
    with options.clock.stage("gate"):
        targets = BlockTargets(problem, state.seen.step)
        gate = model.gate.update(targets, problem.gate_step)
    with options.clock.stage("solve"):
        before = state.solved if options.warm_start else None
        solved = problem.solver.solve(
            state.seen, options.for_solver(state.n_done), before
        )
        experts = Experts(model.coef, model.intercept).improved(
            solved.experts, solved.primal, found.losses, problem.scales.intercept
        )
    model = MixtureModel(gate, experts.coef, experts.intercept, model.dtype)
    return replace(state, model=model, solved=solved, n_done=state.n_done + 1)


def remove_outdated(problem: EMProblem, state: EMState, before: EMState) -> None:
    """Remove what the steps up to ``before`` have left."""
    before.solved.remove()
    _drop_shares(problem, state.outdated)


def _drop_shares(problem: EMProblem, steps: tuple[str, ...]) -> None:
    for step in steps:
        for number in problem.numbers:
            problem.stored.drop_shares(number, step)


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


def _add_each(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(one + other for one, other in zip(first, second, strict=True))
