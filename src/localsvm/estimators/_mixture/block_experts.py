"""The linear SVMs of a mixture on rows in partitions, from step to step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._clock import StageClock
from localsvm.engine import Partitions
from localsvm.estimators._mixture.blocks import MixtureFiles
from localsvm.estimators._mixture.experts import Experts
from localsvm.estimators._mixture.gates import Mask
from localsvm.passes import (
    PartDuals,
    PartEndings,
    PartProblem,
    PartSolution,
    PartSolver,
    TaskState,
    rows_of_a_solve,
    solve_together,
)
from localsvm.solvers import CodedRows, CodedTask, SolverOptions, Status

# An SVM without rows: zero weights are optimal.
_NO_ROWS = TaskState(primal=0.0, dual=0.0, status=Status.converged)


@dataclass(frozen=True)
class ExpertRows:
    """Reads the rows of a partition that the SVM of a component sees.

    Attributes
    ----------
    files : MixtureFiles
    step : str
        Whose responsibilities.
    column : int
        Of the component in them.
    cutoff : float
        Responsibility from which on a row is seen.
    """

    files: MixtureFiles
    step: str
    column: int
    cutoff: float

    def weigh(self, number: int) -> NDArray[np.float64]:
        """Bounds of all rows of the partition, 0 for those that are not seen."""
        shares = self.files.shares(number, self.step)[:, self.column]
        return np.where(shares > self.cutoff, self.files.bounds(number) * shares, 0.0)

    def __call__(self, number: int) -> CodedRows:
        """Rows as the solver takes them."""
        bounds = self.weigh(number)
        seen = np.flatnonzero(bounds)
        X = self.files.read(number)[seen]
        shape = len(seen), 1
        return CodedRows(
            X,
            self.files.class_index(number)[seen],
            bounds[seen],
            np.zeros(shape, dtype=np.int32),
            np.ones(shape, dtype=X.dtype),
        )


@dataclass(frozen=True)
class SameRates:
    """Duals to start with: each as the same part of its bound as a step before.

    Attributes
    ----------
    before : PartDuals
    now : ExpertRows
    cold : tuple of int
        Tasks that start from zero.
    """

    before: PartDuals
    now: ExpertRows
    cold: tuple[int, ...]

    def __call__(self, task: int, number: int, rows: CodedRows) -> NDArray[np.float64]:
        """Duals of the rows of a partition."""
        problem = self.before.problem
        if task in self.cold or number not in problem.places:
            return np.zeros((1, rows.n_rows))
        reader: Any = problem.read
        bounds, now = reader.weigh(number), self.now.weigh(number)
        seen = np.flatnonzero(bounds)
        rates = np.zeros(len(bounds))
        rates[seen] = self.before(task, number)[0] / bounds[seen]
        return (rates * now)[np.newaxis, now > 0]


@dataclass(frozen=True)
class SolvedExperts:
    """SVMs of the components of a step.

    Attributes
    ----------
    solutions : tuple of PartSolution or None
        None for a component that sees no rows.
    cold : tuple of tuple of int
        Tasks of each component whose duals are no start for the next step.
    n_tasks : int
    """

    solutions: tuple[PartSolution | None, ...]
    cold: tuple[tuple[int, ...], ...]
    n_tasks: int

    @property
    def endings(self) -> PartEndings:
        """How all SVMs ended."""
        return PartEndings([state for own in self._states for state in own])

    @property
    def primal(self) -> NDArray[np.float64]:
        """Objectives, of shape (n_components, n_tasks)."""
        return np.array([[state.primal for state in own] for own in self._states])

    @property
    def _states(self) -> list[Sequence[TaskState]]:
        return [
            [_NO_ROWS] * self.n_tasks if solution is None else solution.states
            for solution in self.solutions
        ]

    def experts(self, n_features: int, intercept_scaling: float) -> Experts:
        """Weight vectors."""
        vectors = np.zeros((len(self.solutions), self.n_tasks, n_features + 1))
        for component, solution in enumerate(self.solutions):
            if solution is not None:
                for task in range(self.n_tasks):
                    vectors[component, task] = solution.vectors(task)[0, 0]
        return Experts(
            np.ascontiguousarray(vectors[:, :, :-1]),
            vectors[:, :, -1] * intercept_scaling,
        )

    def keep(self, survivors: Mask) -> SolvedExperts:
        """Leave components out."""
        left = np.flatnonzero(survivors)
        return replace(
            self,
            solutions=tuple(self.solutions[each] for each in left),
            cold=tuple(self.cold[each] for each in left),
        )

    def starts(
        self, readers: Sequence[ExpertRows], warm: bool
    ) -> list[SameRates | None]:
        """Duals that the SVMs of the next step start with."""
        return [
            SameRates(solution.duals, reader, cold)
            if warm and solution is not None
            else None
            for solution, reader, cold in zip(
                self.solutions, readers, self.cold, strict=True
            )
        ]

    def remove_files(self) -> None:
        """Remove weights and duals."""
        for solution in self.solutions:
            if solution is not None:
                solution.remove_files()


@dataclass(frozen=True)
class ExpertSolver:
    """Solves the SVMs of all components, whose passes run at the same time.

    Attributes
    ----------
    rows : Partitions
    clock : StageClock
    tasks : tuple of CodedTask
        Of one component.
    """

    rows: Partitions
    clock: StageClock
    tasks: tuple[CodedTask, ...]

    def nothing(self, n_components: int) -> SolvedExperts:
        """Where all starts: SVMs that have seen no rows."""
        return SolvedExperts(
            (None,) * n_components, ((),) * n_components, len(self.tasks)
        )

    def solve(
        self,
        names: Sequence[str],
        readers: Sequence[ExpertRows],
        seen: NDArray[np.int64],
        starts: Sequence[SameRates | None],
        options: SolverOptions,
    ) -> SolvedExperts:
        """Eq. 15 for every component.

        Parameters
        ----------
        names : sequence of str
            Of the components; no other step has the same.
        readers : sequence of ExpertRows
        seen : ndarray of shape (n_partitions, n_components)
            Rows that the readers give.
        starts : sequence of SameRates or None
        options : SolverOptions
        """
        source = self.rows.source
        row_bytes = row_bytes_of(source.n_features, source.dtype.itemsize)
        own = np.flatnonzero(seen.any(axis=0)).tolist()
        solvers = []
        for component in own:
            sizes = seen[:, component]
            problem = PartProblem(
                folder=self.rows.folder,
                name=names[component],
                read=readers[component],
                tasks=self.tasks,
                sizes=sizes,
                n_features=source.n_features,
                capacity=rows_of_a_solve(row_bytes),
                options=replace(options, max_time=None, n_threads=1),
            )
            solvers.append(PartSolver(self.rows, problem, self.clock))
        found = iter(solve_together(solvers, [starts[each] for each in own]))
        return replace(
            self.nothing(len(readers)),
            solutions=tuple(
                next(found) if component in own else None
                for component in range(len(readers))
            ),
        )


def row_bytes_of(n_features: int, itemsize: int) -> int:
    """Size of a row of the solver, with its code."""
    return (n_features + 1) * itemsize + 24
