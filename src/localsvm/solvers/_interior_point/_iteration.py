"""Mehrotra's predictor-corrector steps for one linear SVM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from localsvm.solvers._interior_point._problem import Array, Problem, gap_of
from localsvm.solvers._linear import Status

_TO_BOUNDARY = 0.995
_NOISE = 1e-12
_EPS = float(np.finfo(np.float64).eps)


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
    def start(cls, problem: Problem) -> _State:
        n, d = problem.rows.shape
        pairs = np.empty((2, 2, n))
        pairs[0] = problem.bounds / 2
        pairs[1] = [[1.0], [2.0]]
        return cls(np.zeros(d), pairs)


@dataclass(frozen=True)
class Found:
    """The best plane and the best duals so far; each is a bound by itself."""

    plane: Array
    alpha: Array
    primal: float
    dual: float
    n_iter: int = 0
    status: Status = Status.max_iter

    @classmethod
    def at(cls, problem: Problem, state: _State) -> Found:
        alpha = problem.balance(state.pairs[0, 0])
        return cls(state.plane, alpha, problem.primal(state.plane), problem.dual(alpha))

    @property
    def gap(self) -> float:
        return gap_of(self.primal, self.dual)

    def improved_by(self, new: Found) -> Found:
        """Prefer what is newer, unless rounding has made it worse."""
        noise = _NOISE * abs(self.primal)
        result = replace(self, n_iter=self.n_iter + 1)
        if new.primal <= self.primal + noise:
            result = replace(result, plane=new.plane, primal=new.primal)
        if new.dual >= self.dual - noise:
            result = replace(result, alpha=new.alpha, dual=new.dual)
        return result


def iterate(
    problem: Problem, tol: float, max_iter: int, is_over: Callable[[], bool]
) -> Found:
    state = _State.start(problem)
    found = Found.at(problem, state)
    for _ in range(max_iter):
        step = _step(problem, state)
        if step is None:
            found = replace(found, status=Status.stalled)
            break
        found = found.improved_by(Found.at(problem, state))
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
    if gap_of(found.primal, dual) > tol:
        return found
    return replace(found, alpha=snapped, dual=dual)


def _snap(problem: Problem, state: _State) -> Array:
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


def _step(problem: Problem, state: _State) -> float | None:
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

    problem: Problem
    state: _State
    weights: Array
    margin_residual: Array
    plane_residual: Array
    diagonal: Array
    factor: Any

    @classmethod
    def at(cls, problem: Problem, state: _State) -> _Newton:
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
