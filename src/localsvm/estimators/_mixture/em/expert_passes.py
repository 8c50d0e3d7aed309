"""The linear SVMs of a mixture by passes over blocks of rows, from step to step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._clock import StageClock
from localsvm.engine import Blocks
from localsvm.estimators._mixture.blocks import StoredRows
from localsvm.estimators._mixture.em.experts import Certificate, Experts, Seen
from localsvm.estimators._mixture.gates import Mask
from localsvm.passes import (
    BlockDuals,
    BlockEndings,
    BlockProblem,
    BlockSolution,
    BlockSolver,
    TaskState,
    rows_of_a_solve,
    solve_together,
)
from localsvm.solvers import CodedRows, CodedTask, SolverOptions, Status

# An SVM without rows: zero weights are optimal.
_NO_ROWS = TaskState(primal=0.0, dual=0.0, status=Status.converged)


@dataclass(frozen=True)
class ExpertRows:
    """Reads the rows of a block that the SVM of a component sees.

    Attributes
    ----------
    stored : StoredRows
    step : str
        Whose responsibilities.
    column : int
        Of the component in them.
    cutoff : float
        Responsibility above which a row is seen.
    """

    stored: StoredRows
    step: str
    column: int
    cutoff: float

    def weigh(self, number: int) -> NDArray[np.float64]:
        """Bounds of all rows of the block, 0 for those that are not seen."""
        shares = self.stored.shares(number, self.step)[:, self.column]
        bounds = self.stored.bounds(number)
        return np.where(shares > self.cutoff, bounds * shares, 0.0)

    def __call__(self, number: int) -> CodedRows:
        """Rows as the solver takes them."""
        bounds = self.weigh(number)
        seen = np.flatnonzero(bounds)
        rows = self.stored.arrays(number)
        X, shape = rows["X"][seen], (len(seen), 1)
        return CodedRows(
            X,
            rows["class_index"][seen],
            bounds[seen],
            np.zeros(shape, dtype=np.int32),
            np.ones(shape, dtype=X.dtype),
        )


@dataclass(frozen=True)
class SameRates:
    """Duals to start with: each the same share of its bound as in the step before.

    Attributes
    ----------
    before : BlockDuals
    now : ExpertRows
    cold : tuple of int
        Tasks that start from zero.
    """

    before: BlockDuals
    now: ExpertRows
    cold: tuple[int, ...]

    def __call__(self, task: int, number: int, rows: CodedRows) -> NDArray[np.float64]:
        """Duals of the rows of a block."""
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
class SolvedByPasses:
    """SVMs of the components of a step.

    Attributes
    ----------
    experts : Experts
    solutions : tuple of BlockSolution or None
        None for a component that sees no rows.
    cold : tuple of tuple of int
        Tasks of each component whose duals are no start for the next step.
    """

    experts: Experts
    solutions: tuple[BlockSolution | None, ...]
    cold: tuple[tuple[int, ...], ...]

    @property
    def certificate(self) -> Certificate:
        """How all SVMs ended."""
        endings = BlockEndings([state for own in self._states for state in own])
        return Certificate.of(endings)

    @property
    def primal(self) -> NDArray[np.float64]:
        """Objectives, of shape (n_components, n_tasks)."""
        return np.array([[state.primal for state in own] for own in self._states])

    @property
    def _states(self) -> list[Sequence[TaskState]]:
        return [
            [_NO_ROWS] * self.experts.n_tasks if each is None else each.states
            for each in self.solutions
        ]

    def keep(self, survivors: Mask) -> SolvedByPasses:
        """Leave components out."""
        left = np.flatnonzero(survivors)
        return SolvedByPasses(
            self.experts.keep(survivors),
            tuple(self.solutions[each] for each in left),
            tuple(self.cold[each] for each in left),
        )

    def without_duals(self, tasks: Sequence[tuple[int, ...]]) -> SolvedByPasses:
        """Set the duals of some tasks of each component to zero."""
        return replace(self, cold=tuple(tasks))

    def starts(self, readers: Sequence[ExpertRows]) -> list[SameRates | None]:
        """Duals that the SVMs of the next step start with."""
        return [
            None if solution is None else SameRates(solution.duals, reader, cold)
            for solution, reader, cold in zip(
                self.solutions, readers, self.cold, strict=True
            )
        ]

    def remove(self) -> None:
        """Remove the files of weights and duals."""
        for solution in self.solutions:
            if solution is not None:
                solution.remove_files()


@dataclass(frozen=True)
class PassSolver:
    """Solves the SVMs of all components; their passes run at the same time.

    Attributes
    ----------
    blocks : Blocks
    stored : StoredRows
    clock : StageClock
    constant : float
        Constant column of the intercept.
    """

    blocks: Blocks
    stored: StoredRows
    clock: StageClock
    constant: float

    def solve(
        self, seen: Seen, options: SolverOptions, before: SolvedByPasses | None = None
    ) -> SolvedByPasses:
        """Eq. 15 for every component, from the duals of the step before.

        A step whose SVMs a checkpoint holds is found again by its name.
        """
        readers = [
            ExpertRows(self.stored, seen.step, column, seen.cutoff)
            for column in range(len(seen.ids))
        ]
        starts = [None] * len(readers) if before is None else before.starts(readers)
        own = np.flatnonzero(seen.sizes.any(axis=0)).tolist()
        problems = [self._problem(seen, each, readers[each], options) for each in own]
        solvers = [BlockSolver(self.blocks, each, self.clock) for each in problems]
        found = solve_together(solvers, [starts[each] for each in own])
        solutions: list[BlockSolution | None] = [None] * len(readers)
        for component, solution in zip(own, found, strict=True):
            solutions[component] = solution
        return SolvedByPasses(
            self._experts(solutions), tuple(solutions), ((),) * len(readers)
        )

    def support(self, solved: SolvedByPasses) -> NDArray[np.intp]:
        """Rows of each class with a non-zero dual in any SVM."""
        duals = [each.duals for each in solved.solutions if each is not None]
        numbers = sorted(set().union(*(each.problem.places for each in duals)))
        found = self.blocks.run(
            support_of_block, numbers, self.stored, duals, stage="support"
        )
        return np.asarray(sum(found))

    def _problem(
        self, seen: Seen, component: int, reader: ExpertRows, options: SolverOptions
    ) -> BlockProblem:
        n_features = self.blocks.n_features
        row_bytes = row_bytes_of(n_features, self.blocks.dtype.itemsize)
        return BlockProblem(
            store=self.blocks.store,
            name=f"svm-{seen.step}-{seen.ids[component]}",
            read=reader,
            tasks=self._tasks,
            sizes=seen.sizes[:, component],
            n_features=n_features,
            capacity=rows_of_a_solve(row_bytes),
            options=replace(options, max_time=None, n_threads=1),
        )

    @property
    def _tasks(self) -> tuple[CodedTask, ...]:
        n_classes = self.stored.n_classes
        positive = [1] if n_classes == 2 else range(n_classes)
        return tuple(CodedTask(n_classes, each, 1, self.constant) for each in positive)

    def _experts(self, solutions: Sequence[BlockSolution | None]) -> Experts:
        shape = len(solutions), len(self._tasks), self.blocks.n_features + 1
        vectors = np.zeros(shape)
        for component, solution in enumerate(solutions):
            if solution is not None:
                for task in range(shape[1]):
                    vectors[component, task] = solution.vectors(task)[0, 0]
        return Experts(
            np.ascontiguousarray(vectors[:, :, :-1]), vectors[:, :, -1] * self.constant
        )


def support_of_block(
    number: int, stored: StoredRows, solved: Sequence[BlockDuals]
) -> NDArray[np.intp]:
    """Rows of each class in a block with a non-zero dual in any SVM."""
    class_index = stored.arrays(number)["class_index"]
    support = np.zeros(len(class_index), dtype=bool)
    for duals in solved:
        if number in duals.problem.places:
            reader: Any = duals.problem.read
            seen = np.flatnonzero(reader.weigh(number))
            for task in range(len(duals.problem.tasks)):
                support[seen] |= duals(task, number).any(axis=0)
    return np.bincount(class_index[support], minlength=stored.n_classes)


def row_bytes_of(n_features: int, itemsize: int) -> int:
    """Size of a row of the solver, with its code."""
    return (n_features + 1) * itemsize + 24
