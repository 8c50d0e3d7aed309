"""Kernel SVMs by sequential minimal optimisation: one of any size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from localsvm import _core
from localsvm.rows import as_rows
from localsvm.solvers._limits import RunLimits

# More than any matrix takes, and an integer of the core.
_MOST_CACHE_BYTES = 2**62


class CoreKernel(Protocol):
    """A kernel that the core knows; see :class:`localsvm.kernels.Kernel`."""

    def to_core(self) -> _core.Kernel:
        """Give the kernel as the core takes it."""

    def compare_with(
        self, Z: NDArray[Any], gamma: float
    ) -> Callable[[NDArray[Any]], NDArray[Any]]:
        """Prepare the values of blocks of rows with fixed ones."""


@dataclass(frozen=True)
class KernelOptions(RunLimits):
    """How far and how long SMO iterates.

    ``tol`` is the largest violation of the optimality conditions, as in LIBSVM; where
    rounding does not allow as little, the solver ends with what it allows. An iteration
    is one step on a pair of rows; ``max_iter=-1`` is LIBSVM's own limit, ten million
    steps or 100 per row, whichever is more.

    Parameters
    ----------
    tol, max_iter, max_time, n_threads, cancel, deadline
        As in :class:`RunLimits`.
    cache_size : float, default=200
        Megabytes for kernel rows of one problem that is too large for a whole matrix.
    """

    cache_size: float = 200.0

    def to_core(self) -> _core.KernelOptions:
        """Give the settings as the core takes them."""
        return _core.KernelOptions(
            tol=self.tol,
            max_iter=self.max_iter,
            cache_bytes=int(min(self.cache_size * 2**20, _MOST_CACHE_BYTES)),
            max_time=self.seconds,
            n_threads=self.n_threads,
            cancelled=self.cancelled,
        )


@dataclass(frozen=True)
class BoxProblem:
    r"""A quadratic programme with a box per row.

    .. math::

        \min_\beta \tfrac12 \beta^\top K \beta - t^\top \beta, \quad
        l_i \le \beta_i \le u_i, \quad \sum_i \beta_i = 0

    With :math:`\beta_i = \alpha_i y_i` and :math:`t = y` it is the dual of the SVM. A
    box [0, 0] keeps a row out, and yet gives its decision value.

    Parameters
    ----------
    lower, upper : ndarray of shape (n_samples,), float64
        Zero lies between them.
    target : ndarray of shape (n_samples,), float64
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    target: NDArray[np.float64]

    @classmethod
    def of_classes(
        cls, sign: NDArray[np.float64], bounds: NDArray[np.float64]
    ) -> BoxProblem:
        """Build the dual of an SVM with labels +1 and -1 and penalties C_i."""
        signed = sign * bounds
        return cls(np.minimum(signed, 0.0), np.maximum(signed, 0.0), sign)


@dataclass(frozen=True)
class KernelSolution:
    """Duals and decisions of one kernel SVM.

    Attributes
    ----------
    duals : ndarray of shape (n_samples,)
        Signed: alpha times label.
    intercept : float
    decisions : ndarray of shape (n_samples,)
        Decision value of every row, those with an empty box too.
    certificate : SmoCertificate
        Primal and dual objective, largest violation, steps and status.
    """

    duals: NDArray[np.float64]
    intercept: float
    decisions: NDArray[np.float64]
    certificate: _core.SmoCertificate


def solve_kernel(
    X: Any,
    problem: BoxProblem,
    kernel: CoreKernel,
    options: KernelOptions,
    duals: NDArray[np.float64] | None = None,
) -> KernelSolution:
    """Solve one kernel SVM on rows; kernel rows are computed when they are needed.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        Validated rows, float32 or float64.
    problem : BoxProblem
    kernel : localsvm.kernels.Kernel
    options : KernelOptions
    duals : ndarray of shape (n_samples,) or None
        Where to start; clipped to the boxes and balanced.

    Returns
    -------
    KernelSolution

    Notes
    -----
    O(n) per step and O(n d) per kernel row that is not in the cache. Rows that cannot
    matter are set aside and checked again before the end.
    """
    task, duals, gradient = _allocate(problem, duals)
    certificate = _core.solve_kernel(
        as_rows(X), kernel.to_core(), task, options.to_core()
    )
    return _solution(problem, duals, gradient, certificate)


def solve_gram(
    gram: NDArray[Any],
    problem: BoxProblem,
    options: KernelOptions,
    duals: NDArray[np.float64] | None = None,
) -> KernelSolution:
    """Solve one kernel SVM on a given kernel matrix.

    Parameters
    ----------
    gram : ndarray of shape (n_samples, n_samples), float32 or float64, C-ordered
    problem, options, duals
        As in :func:`solve_kernel`.

    Returns
    -------
    KernelSolution
    """
    task, duals, gradient = _allocate(problem, duals)
    certificate = _core.solve_gram(gram, task, options.to_core())
    return _solution(problem, duals, gradient, certificate)


def _allocate(
    problem: BoxProblem, duals: NDArray[np.float64] | None
) -> tuple[_core.BoxTask, NDArray[np.float64], NDArray[np.float64]]:
    n_samples = len(problem.target)
    beta = np.zeros(n_samples) if duals is None else np.array(duals, dtype=np.float64)
    gradient = np.empty(n_samples)
    task = _core.BoxTask(
        lower=problem.lower,
        upper=problem.upper,
        target=problem.target,
        beta=beta,
        gradient=gradient,
    )
    return task, beta, gradient


def _solution(
    problem: BoxProblem,
    duals: NDArray[np.float64],
    gradient: NDArray[np.float64],
    certificate: _core.SmoCertificate,
) -> KernelSolution:
    intercept = certificate.intercept
    decisions = gradient + problem.target + intercept
    return KernelSolution(duals, intercept, decisions, certificate)
