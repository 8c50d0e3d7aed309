"""Support vectors with their duals, or the weights of the features: what is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm._threads import libraries_for
from localsvm.kernels import Kernel
from localsvm.rows import stored_as
from localsvm.solvers import decide_in_blocks

Compare = Callable[[Any], NDArray[Any]]


@dataclass(frozen=True)
class ReducedModel:
    """One SVM per task, on one set of support vectors.

    Attributes
    ----------
    kernel : Kernel
    support_vectors : ndarray or CSR of shape (n_support, n_features)
        The linear kernel does not need them; a fit to blocks leaves them out then.
    dual_coef : ndarray of shape (n_tasks, n_support)
        Signed duals.
    coef : ndarray of shape (n_tasks, n_features)
        Weights of the features; no columns unless the kernel is linear.
    intercept : ndarray of shape (n_tasks,)
    """

    kernel: Kernel
    support_vectors: Any
    dual_coef: NDArray[np.float64]
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]

    @property
    def is_linear(self) -> bool:
        """Whether the kernel is linear."""
        return self.kernel.name == "linear"

    def decide(self, X: Any, n_jobs: int | None) -> NDArray[Any]:
        """Decision values of shape (n_samples, n_tasks), in the dtype of ``X``."""
        if self.is_linear:
            with libraries_for(X.shape[0]):
                sums = np.asarray(X @ self.coef.T, dtype=np.float64)
        else:
            sums = sums_of_kernel(
                self._compare, X, self.support_vectors, self.dual_coef, n_jobs
            )
        return np.asarray(sums + self.intercept, dtype=X.dtype)

    @cached_property
    def _compare(self) -> Compare:
        """Kernel values with the support vectors, prepared once."""
        return comparison(self.kernel, self.support_vectors)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is prepared."""
        return {name: vars(self)[name] for name in self.__dataclass_fields__}

    def gradients(self, X: Any) -> NDArray[np.float64]:
        """Gradients of the decisions, of shape (n_samples, n_tasks, n_features)."""
        if self.is_linear:
            return np.tile(self.coef, (X.shape[0], 1, 1))
        if not self.dual_coef.shape[1]:
            return np.zeros((X.shape[0], len(self.intercept), X.shape[1]))
        dense, support = (
            np.asarray(rows.toarray() if sparse.issparse(rows) else rows, np.float64)
            for rows in (X, self.support_vectors)
        )
        return np.stack(
            [
                self.kernel.weighted_gradient(dense, support, duals, self.kernel.gamma)
                for duals in self.dual_coef
            ],
            axis=1,
        )


def kernel_sums(
    kernel: Kernel,
    X: Any,
    support: Any,
    duals: NDArray[np.float64],
    n_jobs: int | None,
) -> NDArray[np.float64]:
    """Decisions without intercepts, of shape (n_samples, n_tasks).

    Parameters
    ----------
    kernel : Kernel
    X : ndarray or CSR of shape (n_samples, n_features)
    support : ndarray or CSR of shape (n_support, n_features)
    duals : ndarray of shape (n_tasks, n_support)
    n_jobs : int or None
    """
    return sums_of_kernel(comparison(kernel, support), X, support, duals, n_jobs)


def comparison(kernel: Kernel, support: Any) -> Compare:
    """Prepare the kernel values of blocks of rows with all support vectors."""
    if not support.shape[0] or sparse.issparse(support):
        return lambda part: kernel(part, support)
    return kernel.compare_with(support, kernel.gamma)


def sums_of_kernel(
    compare: Compare,
    X: Any,
    support: Any,
    duals: NDArray[np.float64],
    n_jobs: int | None,
) -> NDArray[np.float64]:
    """Decisions as of :func:`kernel_sums`, by a comparison with the support."""
    if not support.shape[0]:
        return np.zeros((X.shape[0], len(duals)))
    return decide_in_blocks(compare, duals, stored_as(X, support), n_jobs)
