"""The linear SVMs of a mixture, weighted by responsibilities, from step to step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._gates import Mask
from localsvm.solvers import (
    LinearProblem,
    LinearSolution,
    OverlappingParts,
    SolverOptions,
    solve_overlapping,
)

Rates = list[tuple[NDArray[np.int64], NDArray[np.float64]]]


@dataclass(frozen=True)
class Experts:
    """Weight vectors, and the duals that a next step starts from.

    Attributes
    ----------
    coef : ndarray of shape (n_components, n_tasks, n_features)
    intercept : ndarray of shape (n_components, n_tasks)
    rates : list of (rows, rates), one per component
        Its rows, and of shape (n_tasks, n_rows) their duals over their bounds.
    """

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    rates: Rates

    def keep(self, survivors: Mask) -> Experts:
        """Leave components out."""
        rates = [rate for rate, kept in zip(self.rates, survivors, strict=True) if kept]
        return Experts(self.coef[survivors], self.intercept[survivors], rates)


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
    ) -> tuple[Experts, LinearSolution]:
        """One SVM per cluster (section III-D).

        A cluster of one class gets the constant of that class and zero duals, if there
        is an intercept.
        """
        member = labels[:, np.newaxis] == np.arange(n_components)
        parts = self._parts(member.astype(np.float64), 0.0)
        solution = solve_overlapping(
            self.problem, parts, self.squared_norms, options=options
        )
        experts = _experts(solution, parts)
        if self.problem.intercept_scaling > 0:
            self._set_constants(experts, parts)
        return experts, solution

    def step(
        self,
        responsibilities: NDArray[np.floating],
        cutoff: float,
        before: Experts,
        losses: NDArray[np.float64],
        options: SolverOptions,
    ) -> tuple[Experts, LinearSolution]:
        """Eq. 15 for every component; weights that would be worse are not taken.

        Parameters
        ----------
        responsibilities : ndarray of shape (n_samples, n_components)
        cutoff : float
            A component does not see rows that it is responsible for to a lesser part.
        before : Experts
        losses : ndarray of shape (n_components, n_tasks)
            Weighted losses of ``before`` on the rows that the components see.
        options : SolverOptions
        """
        parts = self._parts(responsibilities, cutoff)
        duals = self._warm_duals(parts, before.rates) if self.warm_start else None
        solution = solve_overlapping(
            self.problem, parts, self.squared_norms, options=options, duals=duals
        )
        after = _experts(solution, parts)
        primal = np.reshape([c.primal for c in solution.certificates], losses.T.shape).T
        scaled = before.intercept / (self.problem.intercept_scaling or 1.0)
        norms = (before.coef**2).sum(axis=2) + scaled**2
        worse = primal > 0.5 * norms + losses
        after.coef[worse] = before.coef[worse]
        after.intercept[worse] = before.intercept[worse]
        return after, solution

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

    def _set_constants(self, experts: Experts, parts: OverlappingParts) -> None:
        for part in range(parts.n_parts):
            rows, rates = experts.rates[part]
            classes = self.problem.class_index[rows]
            for task in range(self.problem.n_tasks):
                positive = classes == (1 if self.problem.n_tasks == 1 else task)
                if positive.any() != positive.all():
                    continue
                experts.coef[part, task] = 0.0
                experts.intercept[part, task] = 1.0 if positive.any() else -1.0
                rates[task] = 0.0


def _experts(solution: LinearSolution, parts: OverlappingParts) -> Experts:
    rates: Rates = []
    for part in range(parts.n_parts):
        places = parts.places(part)
        bounds = parts.bounds[places]
        rates.append((parts.rows[places], solution.duals[:, places] / bounds))
    return Experts(
        np.ascontiguousarray(solution.coef.swapaxes(0, 1)),
        np.ascontiguousarray(solution.intercept.swapaxes(0, 1)),
        rates,
    )
