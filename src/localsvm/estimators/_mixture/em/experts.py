"""The linear SVMs of a mixture, weighted by responsibilities, from step to step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._mixture.blocks import StoredRows
from localsvm.estimators._mixture.gates import Mask
from localsvm.rows import squared_norms
from localsvm.solvers import (
    LinearProblem,
    LinearSolution,
    RowSubsets,
    SolverOptions,
    Status,
    solve_overlapping,
)


@dataclass(frozen=True)
class Experts:
    """Weight vectors of the components.

    Attributes
    ----------
    coef : ndarray of shape (n_components, n_tasks, n_features)
    intercept : ndarray of shape (n_components, n_tasks)
    """

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]

    @property
    def n_tasks(self) -> int:
        """Number of linear SVMs per component."""
        return int(self.coef.shape[1])

    def keep(self, survivors: Mask) -> Experts:
        """Leave components out."""
        return Experts(self.coef[survivors], self.intercept[survivors])

    def with_constants(self, constants: Sequence[Mapping[int, float]]) -> Experts:
        """Replace weight vectors by constants, given by component and task."""
        coef, intercept = self.coef.copy(), self.intercept.copy()
        for component, own in enumerate(constants):
            for task, value in own.items():
                coef[component, task] = 0.0
                intercept[component, task] = value
        return Experts(coef, intercept)

    def squared_norms(self, intercept_scaling: float) -> NDArray[np.float64]:
        """Of each weight vector, its intercept included: (n_components, n_tasks)."""
        scaled = self.intercept / (intercept_scaling or 1.0)
        return np.asarray((self.coef**2).sum(axis=2) + scaled**2)

    def improved(
        self,
        after: Experts,
        primal: NDArray[np.float64],
        losses: NDArray[np.float64],
        intercept_scaling: float,
    ) -> Experts:
        """Take weight vectors of the next step, but for those that are worse.

        Parameters
        ----------
        after : Experts
        primal : ndarray of shape (n_components, n_tasks)
            Objectives of ``after``.
        losses : ndarray of shape (n_components, n_tasks)
            Weighted losses of these weights on the same rows.
        intercept_scaling : float
        """
        before = 0.5 * self.squared_norms(intercept_scaling) + losses
        worse = primal > before
        return Experts(
            np.where(worse[:, :, np.newaxis], self.coef, after.coef),
            np.where(worse, self.intercept, after.intercept),
        )


class Endings(Protocol):
    """How the problems of a solver ended."""

    @property
    def n_problems(self) -> int: ...
    @property
    def n_iter(self) -> int: ...
    @property
    def worst_gap(self) -> float: ...
    def count(self, status: Status) -> int: ...


@dataclass(frozen=True)
class Certificate:
    """How the SVMs of a step ended.

    Attributes
    ----------
    n_problems : int
    n_iter : int
        Most passes of one of them.
    gap : float
        Largest relative duality gap.
    n_unsolved : int
        SVMs that stopped at the limit of the passes.
    is_finite : bool
    """

    n_problems: int
    n_iter: int
    gap: float
    n_unsolved: int
    is_finite: bool

    @classmethod
    def of(cls, endings: Endings) -> Certificate:
        """Summarise what a solver reports."""
        return cls(
            endings.n_problems,
            endings.n_iter,
            endings.worst_gap,
            endings.count(Status.max_iter),
            endings.count(Status.not_finite) == 0,
        )


@dataclass(frozen=True)
class Seen:
    """Rows that the SVM of each component sees: those above a responsibility.

    Attributes
    ----------
    step : str
        Names the responsibilities in the store.
    cutoff : float
    ids : ndarray of shape (n_components,)
        Numbers that the components had at the start.
    sizes : ndarray of shape (n_blocks, n_components)
        Such rows in each block.
    """

    step: str
    cutoff: float
    ids: NDArray[np.int64]
    sizes: NDArray[np.int64]


class SolvedExperts(Protocol):
    """SVMs of one step, whose duals are where the next step starts.

    ``primal`` are the objectives, of shape (n_components, n_tasks). ``without_duals``
    sets the duals of some tasks of each component to zero, ``remove`` removes files.
    """

    @property
    def experts(self) -> Experts: ...
    @property
    def primal(self) -> NDArray[np.float64]: ...
    @property
    def certificate(self) -> Certificate: ...
    def keep(self, survivors: Mask) -> Self: ...
    def without_duals(self, tasks: Sequence[tuple[int, ...]]) -> Self: ...
    def remove(self) -> None: ...


class ExpertSolver(Protocol):
    """Solves Eq. 15 for every component: ``before`` are the SVMs of the last step.

    ``support`` counts the rows of each class with a non-zero dual in any SVM.
    """

    def solve(self, seen: Seen, options: SolverOptions, before: Any = None) -> Any: ...
    def support(self, solved: Any) -> NDArray[np.intp]: ...


@dataclass(frozen=True)
class SolvedInMemory:
    """SVMs of one step on rows in memory.

    Attributes
    ----------
    experts : Experts
    primal : ndarray of shape (n_components, n_tasks)
    certificate : Certificate
    rates : tuple of (rows, rates)
        Rows of each component, and of shape (n_tasks, n_rows) their duals divided by
        their bounds.
    """

    experts: Experts
    primal: NDArray[np.float64]
    certificate: Certificate
    rates: tuple[tuple[NDArray[np.int64], NDArray[np.float64]], ...]

    def keep(self, survivors: Mask) -> SolvedInMemory:
        """Leave components out."""
        return replace(
            self,
            experts=self.experts.keep(survivors),
            primal=self.primal[survivors],
            rates=tuple(self.rates[each] for each in np.flatnonzero(survivors)),
        )

    def without_duals(self, tasks: Sequence[tuple[int, ...]]) -> SolvedInMemory:
        """Set the duals of some tasks of each component to zero."""
        rates = []
        for (rows, rate), own in zip(self.rates, tasks, strict=True):
            zeroed = rate.copy()
            zeroed[list(own)] = 0.0
            rates.append((rows, zeroed))
        return replace(self, rates=tuple(rates))

    def remove(self) -> None:
        """There are no files."""

    def duals(self, subsets: RowSubsets, n_samples: int) -> NDArray[np.float64]:
        """Duals for other bounds: each the same share of its bound as here."""
        n_tasks = self.experts.n_tasks
        duals = np.empty((n_tasks, len(subsets.rows)))
        by_row = np.zeros((n_tasks, n_samples))
        for component, (rows, rate) in enumerate(self.rates):
            by_row[:, rows] = rate
            places = subsets.places(component)
            duals[:, places] = by_row[:, subsets.rows[places]] * subsets.bounds[places]
            by_row[:, rows] = 0.0
        return duals


@dataclass(frozen=True)
class MemorySolver:
    """Solves the SVMs of all components on rows in memory.

    Attributes
    ----------
    stored : StoredRows
        Of one block.
    problem : LinearProblem
    squared_norms : ndarray of shape (n_samples,)
    """

    stored: StoredRows
    problem: LinearProblem
    squared_norms: NDArray[np.float64]

    @classmethod
    def of(cls, stored: StoredRows, constant: float) -> MemorySolver:
        """Solver for the rows in the store, with this constant column."""
        rows, bounds = stored.training(0), stored.bounds(0)
        problem = LinearProblem(
            rows.X, rows.class_index, rows.n_classes, bounds, constant
        )
        return cls(stored, problem, squared_norms(rows.X))

    def solve(
        self, seen: Seen, options: SolverOptions, before: SolvedInMemory | None = None
    ) -> SolvedInMemory:
        """Eq. 15 for every component, from the duals of the step before."""
        problem, shares = self.problem, self.stored.shares(0, seen.step)
        subsets = subsets_by(shares, problem.bounds, seen.cutoff)
        duals = None if before is None else before.duals(subsets, problem.X.shape[0])
        solution = solve_overlapping(
            problem, subsets, self.squared_norms, options=options, duals=duals
        )
        shape = problem.n_tasks, subsets.n_subsets
        primal = np.reshape([each.primal for each in solution.certificates], shape).T
        return SolvedInMemory(
            Experts(
                np.ascontiguousarray(solution.coef.swapaxes(0, 1)),
                np.ascontiguousarray(solution.intercept.swapaxes(0, 1)),
            ),
            primal,
            Certificate.of(solution),
            tuple(_rates(solution, subsets)),
        )

    def support(self, solved: SolvedInMemory) -> NDArray[np.intp]:
        """Rows of each class with a non-zero dual in any SVM."""
        problem = self.problem
        support = np.zeros(problem.X.shape[0], dtype=bool)
        for rows, rates in solved.rates:
            support[rows[rates.any(axis=0)]] = True
        return np.bincount(problem.class_index[support], minlength=problem.n_classes)


def subsets_by(
    responsibilities: NDArray[np.floating], bounds: NDArray[np.float64], cutoff: float
) -> RowSubsets:
    """Rows that each component is responsible for by more than the cut-off."""
    seen = (responsibilities > cutoff) & (bounds > 0)[:, np.newaxis]
    component, rows = np.nonzero(seen.T)
    start = np.searchsorted(component, np.arange(seen.shape[1] + 1))
    shares = responsibilities[rows, component].astype(np.float64)
    return RowSubsets(
        start.astype(np.int64), rows.astype(np.int64), bounds[rows] * shares
    )


def constant_tasks(
    class_counts: NDArray[Any], n_tasks: int
) -> Iterator[tuple[int, float]]:
    """Yield (task, label) where all rows have the same label, from the class counts."""
    total = class_counts.sum()
    for task in range(n_tasks):
        count = class_counts[1 if n_tasks == 1 else task]
        if total and count in (0, total):
            yield task, 1.0 if count else -1.0


def _rates(
    solution: LinearSolution, subsets: RowSubsets
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Rows of each component, and their duals divided by their bounds."""
    for component in range(subsets.n_subsets):
        places = subsets.places(component)
        bounds = subsets.bounds[places]
        yield subsets.rows[places], solution.duals[:, places] / bounds
