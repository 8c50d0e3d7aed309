"""Linear SVMs of few features, to tight tolerances, by an interior point method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from localsvm._threads import single_threaded_libraries
from localsvm.solvers._linear import Status

Array = NDArray[np.float64]

_BLOCK_ROWS = 4096
_TO_BOUNDARY = 0.995
_NOISE = 1e-12
_TINY_SPREAD = 1e-100
_EPS = float(np.finfo(np.float64).eps)


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
        return _relative_gap(self.primal, self.dual)


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
        problem = _Problem.of_rows(Z, sign, bounds, active)
        if not np.isfinite(problem.bounds.sum()):
            return _constant(Z, 0.0, Status.not_finite)
        found = _iterate(problem, tol, max_iter, is_over)
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


@dataclass(frozen=True)
class _Problem:
    """Rows y_i (z_i, 1), centred and scaled, so that margins are ``rows @ plane``.

    The scale is a power of two: undoing it is exact.
    """

    rows: Array
    bounds: Array
    positive: NDArray[np.bool_]
    center: Array
    scale: float

    @classmethod
    def of_rows(
        cls,
        Z: NDArray[Any],
        sign: Array,
        bounds: Array,
        active: NDArray[np.bool_],
    ) -> _Problem:
        rows = np.empty((np.count_nonzero(active), Z.shape[1] + 1))
        chosen = np.flatnonzero(active)
        for block in _blocks(len(chosen)):
            rows[block, :-1] = Z[chosen[block]]
        rows[:, -1] = 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            center = rows[:, :-1].mean(axis=0)
            rows[:, :-1] -= center
            spread = float(np.linalg.norm(rows[:, :-1]) / np.sqrt(len(rows)))
            scale = 1.0 if spread < _TINY_SPREAD else 2.0 ** np.round(np.log2(spread))
            rows[:, :-1] /= scale
            rows *= sign[active, None]
            bounds = bounds[active] * scale**2
        return cls(rows, bounds, sign[active] > 0, center, float(scale))

    def decide(self, Z: NDArray[Any], coef: Array, offset: float) -> Array:
        """Decisions by the centred rows, which loses less than by the intercept."""
        decisions = np.empty(len(Z))
        for block in _blocks(len(Z)):
            decisions[block] = (Z[block] - self.center) @ coef + offset
        return decisions

    def weighted_gram(self, weights: Array) -> Array:
        """Sum of the weighted outer products of the rows."""
        root = np.sqrt(weights)
        gram = np.zeros((self.rows.shape[1],) * 2)
        for block in _blocks(len(root)):
            part = self.rows[block] * root[block, None]
            gram += part.T @ part
        return gram

    def primal(self, plane: Array) -> float:
        losses = np.maximum(0.0, 1.0 - self.rows @ plane)
        return float(plane[:-1] @ plane[:-1] / 2 + self.bounds @ losses)

    def dual(self, alpha: Array) -> float:
        """Bound the primal from below, if the sides of alpha have equal sums."""
        w = (alpha @ self.rows)[:-1]
        return float(alpha.sum() - w @ w / 2)

    def balance(self, alpha: Array) -> Array:
        """Shrink the side with the larger sum until both are equal."""
        sums = alpha[self.positive].sum(), alpha[~self.positive].sum()
        positive, negative = min(sums) / np.array(sums)
        balanced: Array = alpha * np.where(self.positive, positive, negative)
        return balanced


@dataclass
class _State:
    """An interior point.

    ``pairs[0]`` is alpha and the room to its bound, ``pairs[1]`` what is
    complementary to them: how far the row is outside the margin, and inside.
    """

    plane: Array
    pairs: Array

    @property
    def complementarity(self) -> float:
        return float((self.pairs[0] * self.pairs[1]).sum())

    @classmethod
    def start(cls, problem: _Problem) -> _State:
        n, d = problem.rows.shape
        pairs = np.empty((2, 2, n))
        pairs[0] = problem.bounds / 2
        pairs[1] = [[1.0], [2.0]]
        return cls(np.zeros(d), pairs)


@dataclass(frozen=True)
class _Found:
    """The best plane and the best duals so far; each is a bound by itself."""

    plane: Array
    alpha: Array
    primal: float
    dual: float
    n_iter: int = 0
    status: Status = Status.max_iter

    @classmethod
    def at(cls, problem: _Problem, state: _State) -> _Found:
        alpha = problem.balance(state.pairs[0, 0])
        return cls(state.plane, alpha, problem.primal(state.plane), problem.dual(alpha))

    @property
    def gap(self) -> float:
        return _relative_gap(self.primal, self.dual)

    def improved_by(self, new: _Found) -> _Found:
        """Prefer what is newer, unless rounding has made it worse."""
        noise = _NOISE * abs(self.primal)
        result = replace(self, n_iter=self.n_iter + 1)
        if new.primal <= self.primal + noise:
            result = replace(result, plane=new.plane, primal=new.primal)
        if new.dual >= self.dual - noise:
            result = replace(result, alpha=new.alpha, dual=new.dual)
        return result


def _iterate(
    problem: _Problem, tol: float, max_iter: int, is_over: Callable[[], bool]
) -> _Found:
    state = _State.start(problem)
    found = _Found.at(problem, state)
    for _ in range(max_iter):
        step = _step(problem, state)
        if step is None:
            found = replace(found, status=Status.stalled)
            break
        found = found.improved_by(_Found.at(problem, state))
        exhausted = state.complementarity <= _EPS * abs(found.primal)
        if found.gap <= tol and (step <= tol or exhausted):
            break
        if is_over():
            found = replace(found, status=Status.max_time)
            break
    if found.gap > tol:
        return found
    found = replace(found, status=Status.converged)
    snapped = _snap(problem, state)
    dual = problem.dual(snapped)
    if _relative_gap(found.primal, dual) > tol:
        return found
    return replace(found, alpha=snapped, dual=dual)


def _snap(problem: _Problem, state: _State) -> Array:
    """Put duals that tend to an end of their box there, and balance the others."""
    bounds = problem.bounds
    (alpha, room), (outside, inside) = state.pairs
    snapped = np.where(alpha < outside * bounds, 0.0, alpha)
    snapped[room < inside * bounds] = bounds[room < inside * bounds]
    y = np.where(problem.positive, 1.0, -1.0)
    free = np.minimum(snapped, bounds - snapped)
    if free.any():
        snapped -= np.clip((y @ snapped) / free.sum(), -1.0, 1.0) * y * free
    return snapped


def _step(problem: _Problem, state: _State) -> float | None:
    """Take one predictor-corrector step in place.

    Returns the length of the full step of the plane relative to the plane, or None
    where rounding allows no step.
    """
    try:
        newton = _Newton.at(problem, state)
    except LinAlgError:
        return None
    products = state.pairs[0] * state.pairs[1]
    _, change = newton.solve(-products)
    ahead = state.pairs + min(1.0, _room(state.pairs, change)) * change
    total = products.sum()
    center = total * ((ahead[0] * ahead[1]).sum() / total) ** 3
    share = problem.bounds / (2 * problem.bounds.sum())
    move, change = newton.solve(center * share - products - change[0] * change[1])
    if not (np.isfinite(move).all() and np.isfinite(change).all()):
        return None
    length = min(1.0, _TO_BOUNDARY * _room(state.pairs, change))
    state.plane = state.plane + length * move
    state.pairs = state.pairs + length * change
    return float(np.linalg.norm(move)) / max(float(np.linalg.norm(state.plane)), _EPS)


def _room(pairs: Array, change: Array) -> float:
    """Largest step at which all pairs stay positive."""
    falling = change < 0
    return float((-pairs[falling] / change[falling]).min(initial=np.inf))


@dataclass(frozen=True)
class _Newton:
    """Newton's equations at a point, factorised."""

    problem: _Problem
    state: _State
    weights: Array
    margin_residual: Array
    plane_residual: Array
    diagonal: Array
    factor: Any

    @classmethod
    def at(cls, problem: _Problem, state: _State) -> _Newton:
        x, z = state.pairs
        rows, plane = problem.rows, state.plane
        weights = 1.0 / (z / x).sum(axis=0)
        system = problem.weighted_gram(weights)
        system[np.diag_indices(len(plane) - 1)] += 1.0
        plane_residual = x[0] @ rows
        plane_residual[:-1] -= plane[:-1]
        diagonal = 1.0 / np.sqrt(np.diag(system))
        system *= diagonal * diagonal[:, None]
        return cls(
            problem,
            state,
            weights,
            1.0 - rows @ plane + z[0] - z[1],
            plane_residual,
            diagonal,
            _factorise(system),
        )

    def solve(self, products: Array) -> tuple[Array, Array]:
        """Give the steps that change the products of pairs by so much."""
        x, z = self.state.pairs
        rows = self.problem.rows
        wanted = products / x
        target = self.margin_residual + wanted[0] - wanted[1]
        right = self.plane_residual + (self.weights * target) @ rows
        move = self.diagonal * cho_solve(self.factor, self.diagonal * right)
        rise = self.weights * (target - rows @ move)
        dx = np.stack([rise, -rise])
        return move, np.stack([dx, wanted - z * dx / x])


def _factorise(system: Array) -> Any:
    """Factorise a matrix with unit diagonal that rounding may have made indefinite."""
    for ridge in (0.0, 1e-15, 1e-13, 1e-11):
        try:
            return cho_factor(system + ridge * np.eye(len(system)), lower=True)
        except LinAlgError:
            continue
    raise LinAlgError("not positive definite")


def _relative_gap(primal: float, dual: float) -> float:
    if primal <= 0:
        return 0.0
    return max(0.0, primal - dual) / primal if np.isfinite(primal) else np.inf


def _blocks(n_rows: int) -> list[slice]:
    return [slice(k, k + _BLOCK_ROWS) for k in range(0, n_rows, _BLOCK_ROWS)]


def _all_finite(Z: NDArray[Any]) -> bool:
    return all(np.isfinite(Z[block]).all() for block in _blocks(len(Z)))


def _constant(Z: NDArray[Any], intercept: float, status: Status) -> LinearBoxSolution:
    n, d = Z.shape
    primal = 0.0 if status == Status.converged else np.inf
    decisions = np.full(n, intercept)
    return LinearBoxSolution(
        np.zeros(n), np.zeros(d), intercept, decisions, primal, 0.0, 0, status
    )
