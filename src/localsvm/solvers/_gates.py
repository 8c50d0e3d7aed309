r"""Softmax gates that match soft targets: the M-step of a mixture's gate.

A gate gives component j the share :math:`g_{ij} = \mathrm{softmax}_j(a_j \cdot x_i +
b_j)` of row i. Given targets :math:`q_{ij} \ge 0` it minimises

.. math:: F = -\sum_{ij} q_{ij} \log g_{ij},

Eq. 13 of Fu et al. (2010), over all components jointly. With
:math:`R_{ij} = g_{ij} \sum_k q_{ik} - q_{ij}` the gradient is :math:`\sum_i R_{ij} x_i`
for :math:`a_j` and :math:`\sum_i R_{ij}` for :math:`b_j`: F is convex in (a, b).
Centres :math:`v_j` with :math:`a_j = 2 \tau v_j`, :math:`b_j = -\tau \|v_j\|^2` give
the paper's gate, and the chain rule its Eq. 14; there F is not convex.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from localsvm._threads import sum_row_blocks

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class GateRows:
    """Rows that gates are fitted to, and the unit in which steps are measured.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    origin : ndarray of shape (n_features,)
        Weights meet ``x - origin`` while they are fitted.
    scale : float
        Root mean squared norm of ``x - origin``.
    n_jobs : int or None
        Threads; results do not depend on them.
    """

    X: Any
    origin: NDArray[np.float64]
    scale: float
    n_jobs: int | None = None


class RowsOfTargets(Protocol):
    """An array of targets, or what computes its rows when they are needed."""

    def __getitem__(self, rows: slice, /) -> NDArray[Any]: ...


class GateTargets(Protocol):
    """Rows, and the targets of a gate for each of them, wherever they are.

    ``origin`` and ``scale`` are those of :class:`GateRows`, ``mass`` of shape
    (n_components,) the sums of the targets. ``loss`` gives F and its gradients for
    ``coef`` and ``intercept``, ``mapped`` the targets times a matrix of shape
    (n_components, n_new), ``scaled`` those times a number for each component.
    """

    @property
    def origin(self) -> NDArray[np.float64]: ...
    @property
    def scale(self) -> float: ...
    @property
    def mass(self) -> NDArray[np.float64]: ...
    def loss(self, coef: Matrix, intercept: Matrix) -> tuple[float, Matrix, Matrix]: ...
    def mapped(self, matrix: Matrix) -> Self: ...
    def scaled(self, factors: Matrix) -> Self: ...


@dataclass(frozen=True)
class RowTargets:
    """Targets of rows in memory.

    Attributes
    ----------
    rows : GateRows
    values : ndarray of shape (n_samples, n_components)
        Not negative; rows may have any sum.
    """

    rows: GateRows
    values: NDArray[Any]

    @property
    def origin(self) -> NDArray[np.float64]:
        """What weights meet the rows less."""
        return self.rows.origin

    @property
    def scale(self) -> float:
        """Unit of the rows."""
        return self.rows.scale

    @property
    def mass(self) -> NDArray[np.float64]:
        """Sums of the targets of each component."""
        return np.asarray(self.values.sum(axis=0, dtype=np.float64))

    def loss(self, coef: Matrix, intercept: Matrix) -> tuple[float, Matrix, Matrix]:
        """Evaluate F and its gradients, as :func:`gate_loss`."""
        return gate_loss(self.rows.X, self.values, coef, intercept, self.rows.n_jobs)

    def mapped(self, matrix: Matrix) -> RowTargets:
        """Targets times a matrix."""
        return replace(self, values=self.values @ matrix.astype(self.values.dtype))

    def scaled(self, factors: Matrix) -> RowTargets:
        """Targets times a number for each component."""
        return replace(self, values=self.values * factors.astype(self.values.dtype))


def gate_loss(
    X: Any,
    targets: RowsOfTargets,
    coef: Matrix,
    intercept: Matrix,
    n_jobs: int | None = None,
) -> tuple[float, Matrix, Matrix]:
    """Evaluate F and its gradients for ``coef`` and ``intercept``.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    targets : ndarray of shape (n_samples, n_components)
        Or an object that returns rows of one by slices.
    coef : ndarray of shape (n_components, n_features)
    intercept : ndarray of shape (n_components,)
    n_jobs : int or None, default=None

    Returns
    -------
    loss : float
    coef_gradient : ndarray of shape (n_components, n_features)
    intercept_gradient : ndarray of shape (n_components,)

    Notes
    -----
    Costs two matrix products of n d K in the dtype of X; sums are in float64 and in
    one order whatever the number of threads.
    """
    slope = np.ascontiguousarray(coef.T, dtype=X.dtype)
    offset = intercept.astype(X.dtype)

    def evaluate(rows: slice) -> tuple[Any, ...]:
        block = X[rows]
        wanted = targets[rows]
        logits = np.asarray(block @ slope) + offset
        logits -= logits.max(axis=1, keepdims=True)
        shares = np.exp(logits)
        total = shares.sum(axis=1, keepdims=True)
        logits -= np.log(total)
        loss = -np.einsum("ij,ij->", wanted, logits, dtype=np.float64)
        shares *= wanted.sum(axis=1, keepdims=True) / total
        shares -= wanted
        return loss, _product(shares, block), shares.sum(axis=0, dtype=np.float64)

    loss, coef_gradient, intercept_gradient = sum_row_blocks(
        evaluate, X.shape[0], n_jobs
    )
    return float(loss), coef_gradient, intercept_gradient


def fit_linear_gate(
    targets: GateTargets,
    start: tuple[Matrix, Matrix],
    *,
    ridge: float,
    max_iter: int,
    deadline: float | None = None,
) -> tuple[Matrix, Matrix]:
    r"""Lower F plus the ridge, over weights and intercepts, by L-BFGS.

    Parameters
    ----------
    targets : GateTargets
    start : tuple of (coef, intercept)
    ridge : float
        Adds :math:`\tfrac12` ridge :math:`\sum_j \|a_j\|^2`.
    max_iter : int
        Steps of L-BFGS.
    deadline : float or None, default=None
        Time, as of ``time.perf_counter``, after which F is evaluated no more.

    Returns
    -------
    coef : ndarray of shape (n_components, n_features)
    intercept : ndarray of shape (n_components,)
        Never worse than ``start``.
    """
    n_components, n_features = start[0].shape
    origin, scale, mass = targets.origin, targets.scale, float(targets.mass.sum())
    relative_ridge = ridge / (mass * scale**2)

    def unpack(theta: NDArray[np.float64]) -> tuple[Matrix, Matrix]:
        weights = theta.reshape(n_components, n_features + 1)
        coef = weights[:, :-1] / scale
        return coef, weights[:, -1] - coef @ origin

    def objective(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        loss, by_coef, by_intercept = targets.loss(*unpack(theta))
        scaled = theta.reshape(n_components, n_features + 1)[:, :-1]
        by_coef -= np.outer(by_intercept, origin)
        by_coef /= scale * mass
        by_coef += relative_ridge * scaled
        gradient = np.column_stack([by_coef, by_intercept / mass])
        penalty = 0.5 * relative_ridge * float((scaled**2).sum())
        return loss / mass + penalty, gradient.ravel()

    coef, intercept = start
    theta = np.column_stack([coef * scale, intercept + coef @ origin])
    return unpack(_descend(objective, theta.ravel(), max_iter, deadline))


def fit_center_gate(
    targets: GateTargets,
    centers: Matrix,
    tau: float,
    *,
    max_iter: int,
    deadline: float | None = None,
) -> Matrix:
    """Lower F over the centres of the paper's gate (Eq. 13 and 14) by L-BFGS.

    Parameters
    ----------
    targets : GateTargets
    centers : ndarray of shape (n_components, n_features)
        Where to start.
    tau : float
    max_iter : int
        Steps of L-BFGS.
    deadline : float or None, default=None
        As in :func:`fit_linear_gate`.

    Returns
    -------
    centers : ndarray of shape (n_components, n_features)
        Never worse than the start.
    """
    unit = 2 * tau * targets.scale
    mass = float(targets.mass.sum())

    def objective(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        moved = theta.reshape(centers.shape) / unit
        loss, gradient = center_gate_loss(targets, moved, tau)
        return loss / mass, gradient.ravel() / (mass * unit)

    theta = _descend(objective, centers.ravel() * unit, max_iter, deadline)
    return theta.reshape(centers.shape) / unit


def center_gate_loss(
    targets: GateTargets, centers: Matrix, tau: float
) -> tuple[float, Matrix]:
    """Evaluate F of the paper's gate and its gradient for the centres (Eq. 14).

    Parameters
    ----------
    targets : GateTargets
    centers : ndarray of shape (n_components, n_features)
    tau : float

    Returns
    -------
    loss : float
    gradient : ndarray of shape (n_components, n_features)
    """
    loss, by_coef, by_intercept = targets.loss(*center_logits(centers, tau))
    return loss, 2 * tau * (by_coef - by_intercept[:, np.newaxis] * centers)


def center_logits(centers: Matrix, tau: float) -> tuple[Matrix, Matrix]:
    r"""Write :math:`-\tau \|x - v_j\|^2` as linear in x, up to what all j share.

    Parameters
    ----------
    centers : ndarray of shape (n_components, n_features)
    tau : float

    Returns
    -------
    coef : ndarray of shape (n_components, n_features)
    intercept : ndarray of shape (n_components,)

    Notes
    -----
    The mean centre is taken out first: float32 loses less to cancellation.
    """
    mean = centers.mean(axis=0)
    shifted = centers - mean
    return 2 * tau * shifted, -tau * (shifted * (shifted + 2 * mean)).sum(axis=1)


class _OutOfTimeError(Exception):
    """Ends a descent."""


def _descend(
    objective: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]],
    start: NDArray[np.float64],
    max_iter: int,
    deadline: float | None,
) -> NDArray[np.float64]:
    """Take at most ``max_iter`` steps of L-BFGS and return the lowest point seen."""
    lowest, best = np.inf, start

    def remember(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        nonlocal lowest, best
        if deadline is not None and time.perf_counter() >= deadline:
            raise _OutOfTimeError
        value, gradient = objective(theta)
        if value < lowest:
            lowest, best = value, theta.copy()
        return value, gradient

    with suppress(_OutOfTimeError):
        optimize.minimize(
            remember,
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": max_iter, "ftol": 0.0, "gtol": 1e-9},
        )
    return best


def _product(shares: NDArray[Any], block: Any) -> Matrix:
    if sparse.issparse(block):
        return np.asarray((block.T @ shares).T, dtype=np.float64)
    return np.asarray(shares.T @ block, dtype=np.float64)
