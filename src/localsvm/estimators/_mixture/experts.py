"""The linear SVMs of a mixture, weighted by responsibilities, from step to step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._mixture.gates import Mask
from localsvm.solvers import (
    LinearProblem,
    LinearSolution,
    OverlappingParts,
    SolverOptions,
    solve_overlapping,
)

# Rows of each component, and of shape (n_tasks, n_rows) their duals over their bounds.
Rates = list[tuple[NDArray[np.int64], NDArray[np.float64]]]


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

    def keep(self, survivors: Mask) -> Experts:
        """Leave components out."""
        return Experts(self.coef[survivors], self.intercept[survivors])

    def set_constant(self, component: int, task: int, value: float) -> None:
        """Decide alike for all rows."""
        self.coef[component, task] = 0.0
        self.intercept[component, task] = value

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


@dataclass(frozen=True)
class WeightedProblem:
    """What the SVMs of all steps share.

    Attributes
    ----------
    problem : LinearProblem
        Its bounds are C times the weights of the rows.
    squared_norms : ndarray of shape (n_samples,)
    warm_start : bool
        Whether duals start from those of the step before.
    """

    problem: LinearProblem
    squared_norms: NDArray[np.float64]
    warm_start: bool = True

    def start(
        self, labels: NDArray[np.integer], n_components: int, options: SolverOptions
    ) -> tuple[Experts, Rates, LinearSolution]:
        """One SVM per cluster (section III-D).

        A cluster of one class gets the constant of that class and zero duals, if there
        is an intercept.
        """
        member = labels[:, np.newaxis] == np.arange(n_components)
        parts = self._parts(member.astype(np.float64), 0.0)
        solution = solve_overlapping(
            self.problem, parts, self.squared_norms, options=options
        )
        experts, rates = _experts(solution, parts)
        if self.problem.intercept_scaling > 0:
            self._set_constants(experts, rates)
        return experts, rates, solution

    def step(
        self,
        responsibilities: NDArray[np.floating],
        cutoff: float,
        before: Experts,
        rates: Rates,
        losses: NDArray[np.float64],
        options: SolverOptions,
    ) -> tuple[Experts, Rates, LinearSolution]:
        """Eq. 15 for every component; weights that would be worse are not taken.

        Parameters
        ----------
        responsibilities : ndarray of shape (n_samples, n_components)
        cutoff : float
            A component does not see rows that it is responsible for to a lesser part.
        before : Experts
        rates : list
            Of the duals of ``before``, where these start.
        losses : ndarray of shape (n_components, n_tasks)
            Weighted losses of ``before`` on the rows that the components see.
        options : SolverOptions
        """
        parts = self._parts(responsibilities, cutoff)
        duals = self._warm_duals(parts, rates) if self.warm_start else None
        solution = solve_overlapping(
            self.problem, parts, self.squared_norms, options=options, duals=duals
        )
        after, rates = _experts(solution, parts)
        primal = np.reshape([c.primal for c in solution.certificates], losses.T.shape).T
        constant = self.problem.intercept_scaling
        return before.improved(after, primal, losses, constant), rates, solution

    def _parts(
        self, responsibilities: NDArray[np.floating], cutoff: float
    ) -> OverlappingParts:
        bounds = self.problem.bounds
        seen = (responsibilities > cutoff) & (bounds > 0)[:, np.newaxis]
        component, rows = np.nonzero(seen.T)
        start = np.searchsorted(component, np.arange(seen.shape[1] + 1))
        shares = responsibilities[rows, component].astype(np.float64)
        return OverlappingParts(
            start.astype(np.int64), rows.astype(np.int64), bounds[rows] * shares
        )

    def _warm_duals(self, parts: OverlappingParts, rates: Rates) -> NDArray[np.float64]:
        """Keep each row's part of its bound."""
        n_samples = self.problem.X.shape[0]
        duals = np.empty((self.problem.n_tasks, len(parts.rows)))
        by_row = np.zeros((self.problem.n_tasks, n_samples))
        for part, (rows, rate) in enumerate(rates):
            by_row[:, rows] = rate
            places = parts.places(part)
            duals[:, places] = by_row[:, parts.rows[places]] * parts.bounds[places]
            by_row[:, rows] = 0.0
        return duals

    def _set_constants(self, experts: Experts, rates: Rates) -> None:
        n_tasks = self.problem.n_tasks
        for part, (rows, rate) in enumerate(rates):
            counts = np.bincount(self.problem.class_index[rows], minlength=2)
            for task, constant in constant_tasks(counts, n_tasks):
                experts.set_constant(part, task, constant)
                rate[task] = 0.0


def constant_tasks(
    class_counts: NDArray[Any], n_tasks: int
) -> Iterator[tuple[int, float]]:
    """Tasks in which rows so many of each class have one label, and that label."""
    total = class_counts.sum()
    for task in range(n_tasks):
        positive = 1 if n_tasks == 1 else task
        count = class_counts[positive] if positive < len(class_counts) else 0
        if total and count in (0, total):
            yield task, 1.0 if count else -1.0


def _experts(
    solution: LinearSolution, parts: OverlappingParts
) -> tuple[Experts, Rates]:
    rates: Rates = []
    for part in range(parts.n_parts):
        places = parts.places(part)
        bounds = parts.bounds[places]
        rates.append((parts.rows[places], solution.duals[:, places] / bounds))
    experts = Experts(
        np.ascontiguousarray(solution.coef.swapaxes(0, 1)),
        np.ascontiguousarray(solution.intercept.swapaxes(0, 1)),
    )
    return experts, rates
