"""EM steps of a mixture on rows in partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.engine import Partitions, Statistics
from localsvm.estimators._mixture.block_experts import (
    ExpertRows,
    ExpertSolver,
    SolvedExperts,
)
from localsvm.estimators._mixture.blocks import MixtureFiles, expect_part, gate_part
from localsvm.estimators._mixture.em import Expectation, MixtureSteps, StepOptions
from localsvm.estimators._mixture.experts import Experts, constant_tasks
from localsvm.estimators._mixture.gates import Mask
from localsvm.estimators._mixture.state import (
    inner,
    model_arrays,
    model_of,
    nested,
    restore_watch,
    watch_arrays,
)
from localsvm.estimators._mixture.watch import EMWatch
from localsvm.solvers import SolverOptions

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class PartTargets:
    """Targets of a gate for rows in partitions.

    Attributes
    ----------
    steps : PartitionSteps
    step : str
        Whose responsibilities.
    matrix : ndarray of shape (n_components, n_targets)
        What maps them to the targets.
    mass : ndarray of shape (n_targets,)
    """

    steps: PartitionSteps
    step: str
    matrix: Matrix
    mass: Matrix

    @property
    def origin(self) -> Matrix:
        """What weights meet the rows less."""
        return self.steps.origin

    @property
    def scale(self) -> float:
        """Unit of the rows."""
        return self.steps.gate_scale

    def loss(self, coef: Matrix, intercept: Matrix) -> tuple[float, Matrix, Matrix]:
        """Evaluate loss and gradients: one task per partition."""
        own = self.steps
        found = own.rows.run(
            gate_part,
            own.numbers,
            own.files,
            self.step,
            self.matrix,
            coef,
            intercept,
            stage="gate",
        )
        loss, by_coef, by_intercept = reduce(_add_each, found)
        return loss, by_coef, by_intercept

    def mapped(self, matrix: Matrix) -> PartTargets:
        """Targets times a matrix."""
        return replace(self, matrix=self.matrix @ matrix, mass=self.mass @ matrix)


@dataclass
class PartitionSteps(MixtureSteps):
    """A mixture on its way, of rows in partitions.

    Attributes
    ----------
    rows : Partitions
    files : MixtureFiles
    numbers : list of int
        Partitions with rows.
    origin : ndarray of shape (n_features,)
        Mean of the rows, for the gate.
    solver : ExpertSolver
    solved : SolvedExperts
        The last SVMs, where the next ones start.
    ids : ndarray of shape (n_components,)
        Numbers that the components had at the start.
    starts_warm : bool
    n_done : int
        EM steps that are done.
    step : str
        Names the last responsibilities.
    seen : ndarray of shape (n_partitions, n_components)
        Rows that the SVMs see by them.
    """

    rows: Partitions
    files: MixtureFiles
    numbers: list[int]
    origin: NDArray[np.float64]
    solver: ExpertSolver
    solved: SolvedExperts
    ids: NDArray[np.int64]
    starts_warm: bool
    n_done: int
    step: str
    seen: NDArray[np.int64]

    def __post_init__(self) -> None:
        self._outdated: list[str] = []
        self._replaced: list[SolvedExperts] = []

    def _expect(self, options: StepOptions) -> Expectation:
        model = self.model
        self._outdated.append(self.step)
        # A name of its own for each number of components, as tasks may run twice.
        self.step = f"{self.n_done}-{model.n_components}"
        found = self.rows.run(
            expect_part,
            self.numbers,
            self.files,
            model,
            self.step,
            options.cutoff,
            stage="expect",
        )
        sums, seen = zip(*found, strict=True)
        self.seen = np.zeros(
            (self.rows.source.n_partitions, model.n_components), dtype=np.int64
        )
        self.seen[self.numbers] = seen
        total: Expectation = reduce(add, sums)
        return total

    def _keep(self, survivors: Mask) -> None:
        super()._keep(survivors)
        self.solved = self.solved.keep(survivors)
        self.ids = self.ids[survivors]

    def maximize(self, found: Expectation, options: StepOptions) -> None:
        """M-step: the gate (Eq. 13, 20) and the SVMs (Eq. 15)."""
        with self.clock.stage("gate"):
            every = np.eye(self.gate.n_components)
            targets = PartTargets(self, self.step, every, found.mass)
            self.gate = self.gate.update(targets, options.gate)
        with self.clock.stage("solve"):
            columns = range(self.gate.n_components)
            solved = self._solve(columns, options.cutoff, options.solver)
            after = solved.experts(self.n_features, self.intercept_scaling)
            self.experts = self.experts.improved(
                after, solved.primal, found.losses, self.intercept_scaling
            )
        self._replaced.append(self.solved)
        self.solved, self.solution = solved, solved.endings
        self.n_done += 1

    @property
    def n_features(self) -> int:
        """Columns of the rows."""
        return self.rows.source.n_features

    def _solve(
        self, columns: Sequence[int], cutoff: float, options: SolverOptions
    ) -> SolvedExperts:
        """SVMs by the last responsibilities, of which each component has a column."""
        readers = [
            ExpertRows(self.files, self.step, column, cutoff) for column in columns
        ]
        return self.solver.solve(
            [f"svm-{self.step}-{number}" for number in self.ids.tolist()],
            readers,
            self.seen,
            self.solved.starts(readers, self.starts_warm),
            options,
        )

    def write_down(self, watch: EMWatch) -> None:
        """Write down where EM is, and remove what the steps before have left."""
        if self.rows.checkpoint is not None:
            state: Statistics = {
                "ids": self.ids,
                "n_done": np.array(self.n_done),
                "step": np.array([self.step]),
                "seen": self.seen,
            }
            state |= nested("model", model_arrays(self.model))
            state |= nested("watch", watch_arrays(watch))
            self.rows.checkpoint.save("em", state, now=True)
        for solved in self._replaced:
            solved.remove_files()
        for step in self._outdated:
            for number in self.numbers:
                self.files.remove_shares(number, step)
        self._replaced, self._outdated = [], []

    def start(
        self,
        order: NDArray[np.intp],
        class_counts: NDArray[np.int64],
        options: SolverOptions,
    ) -> None:
        """One SVM per cluster (section III-D).

        A cluster of one class gets the constant of that class and zero duals, if there
        is an intercept.

        Parameters
        ----------
        order : ndarray of shape (n_components,)
            Clusters of the components.
        class_counts : ndarray of shape (n_components, n_classes)
            Their rows.
        options : SolverOptions
        """
        with self.clock.stage("solve"):
            solved = self._solve(order.tolist(), 0.0, options)
        self.experts = solved.experts(self.n_features, self.intercept_scaling)
        constant: list[tuple[int, ...]] = [()] * len(order)
        if self.intercept_scaling > 0:
            for component, counts in enumerate(class_counts):
                found = dict(constant_tasks(counts, solved.n_tasks))
                for task, value in found.items():
                    self.experts.set_constant(component, task, value)
                constant[component] = tuple(found)
        self.solved = replace(solved, cold=tuple(constant))
        self.solution = solved.endings

    def restore(
        self, state: Statistics, watch: EMWatch, cutoff: float, options: SolverOptions
    ) -> None:
        """Go on from what :meth:`write_down` has written."""
        model = model_of(inner(state, "model"), self.dtype)
        self.gate, self.experts = model.gate, Experts(model.coef, model.intercept)
        self.ids, self.seen = state["ids"], state["seen"]
        self.step = str(state["step"][0])
        restore_watch(watch, inner(state, "watch"), self.dtype)
        self.n_done = int(state["n_done"])
        # The SVMs of the last step are solved, and found again by their names.
        self.solved = self.solver.nothing(len(self.ids))
        self.solved = self._solve(range(len(self.ids)), cutoff, options)
        self.solution = self.solved.endings


def _add_each(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(one + other for one, other in zip(first, second, strict=True))
