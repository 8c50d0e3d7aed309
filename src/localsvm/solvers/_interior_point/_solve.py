"""Linear SVMs of few features, to tight tolerances, by an interior point method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._threads import single_threaded_libraries
from localsvm.solvers._interior_point._iteration import iterate
from localsvm.solvers._interior_point._problem import (
    Array,
    Problem,
    gap_of,
    row_blocks,
)
from localsvm.solvers._linear import Status


@dataclass(frozen=True)
class LinearBoxSolution:
    """Hyperplane, duals and certificate of one linear SVM.

    Attributes
    ----------
    duals : ndarray of shape (n_samples,)
        Signed: alpha times label. Their sum is zero up to rounding.
    coef : ndarray of shape (n_features,)
        Not recomputed from the duals: at large bounds their sum cancels.
    intercept : float
    decisions : ndarray of shape (n_samples,)
        Decision value of every row, those with bound zero too.
    primal, dual : float
        Objective of ``coef`` and ``intercept``, and that of ``duals``, which is a lower
        bound of the optimum.
    n_iter : int
    status : Status
        ``converged``, ``stalled`` (rounding allows no further step), ``max_iter``,
        ``max_time`` or ``not_finite``; after the last all numbers are zero and
        ``primal`` is infinite.
    """

    duals: Array
    coef: Array
    intercept: float
    decisions: Array
    primal: float
    dual: float
    n_iter: int
    status: Status

    @property
    def converged(self) -> bool:
        """Whether the relative gap reached the tolerance."""
        return self.status == Status.converged

    @property
    def relative_gap(self) -> float:
        """Difference of the objectives over the primal one."""
        return gap_of(self.primal, self.dual)


def solve_linear_box(
    Z: NDArray[Any],
    sign: Array,
    bounds: Array,
    *,
    tol: float = 1e-9,
    max_iter: int = 100,
    is_over: Callable[[], bool] = lambda: False,
) -> LinearBoxSolution:
    r"""Solve a linear SVM with an unpenalised intercept and a bound per row.

    .. math::

        \min_{w, b} \tfrac12 \|w\|^2
        + \sum_i c_i \max(0, 1 - y_i (w^\top z_i + b))

    The number of iterations, some 10 to 40, hardly depends on the bounds, so this is
    the solver for bounds at which sequential minimal optimisation and coordinate
    descent crawl, as long as the features are few.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features), float32 or float64
    sign : ndarray of shape (n_samples,)
        Labels :math:`y_i`, +1 and -1.
    bounds : ndarray of shape (n_samples,)
        Penalties :math:`c_i \ge 0`. A row with zero is left out, and yet gets its
        decision.
    tol : float, default=1e-9
        Stops when (primal - dual) / primal and the last step of the hyperplane,
        relative to it, are no larger. The gap alone decides on ``converged``; the step
        makes ``coef`` as exact as the objective is.
    max_iter : int, default=100
    is_over : callable, optional
        Whether the time is over; asked after each iteration, of which there is at least
        one.

    Returns
    -------
    LinearBoxSolution
        If all rows with a bound above zero have one label, the constant: duals and
        coefficients zero and that label (zero without such rows) as intercept.

    Notes
    -----
    The primal-dual predictor-corrector method of Mehrotra (1992), with the normal
    equations reduced to the features as in Ferris and Munson (2002). An iteration takes
    O(n d^2), the memory is one float64 copy of ``Z``.

    Both w and b are variables with residuals of their own. The barrier of a row is
    weighted by its bound, so that weight two is the row twice.
    """
    Z, sign, bounds = np.asarray(Z), np.asarray(sign), np.asarray(bounds, np.float64)
    if not (np.isfinite(bounds).all() and _all_finite(Z)):
        return _constant(Z, 0.0, Status.not_finite)
    active = bounds > 0
    labels = np.unique(sign[active])
    if len(labels) < 2:
        return _constant(Z, float(labels.sum()), Status.converged)
    with single_threaded_libraries():
        problem = Problem.of_rows(Z, sign, bounds, active)
        if not np.isfinite(problem.bounds.sum()):
            return _constant(Z, 0.0, Status.not_finite)
        found = iterate(problem, tol, max_iter, is_over)
        duals = np.zeros(len(Z))
        duals[active] = found.alpha * sign[active] / problem.scale**2
        coef = found.plane[:-1] / problem.scale
        return LinearBoxSolution(
            duals=duals,
            coef=coef,
            intercept=float(found.plane[-1] - problem.center @ coef),
            decisions=problem.decide(Z, coef, found.plane[-1]),
            primal=found.primal / problem.scale**2,
            dual=found.dual / problem.scale**2,
            n_iter=found.n_iter,
            status=found.status,
        )


def _all_finite(Z: NDArray[Any]) -> bool:
    return all(np.isfinite(Z[block]).all() for block in row_blocks(len(Z)))


def _constant(Z: NDArray[Any], intercept: float, status: Status) -> LinearBoxSolution:
    n, d = Z.shape
    primal = 0.0 if status == Status.converged else np.inf
    decisions = np.full(n, intercept)
    return LinearBoxSolution(
        np.zeros(n), np.zeros(d), intercept, decisions, primal, 0.0, 0, status
    )
