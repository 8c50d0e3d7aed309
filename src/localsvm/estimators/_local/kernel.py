"""What the local kernel SVMs share: parameters, merged rows, the kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from localsvm._checks import (
    check_parameters,
    check_squares,
    class_weights,
    integer,
    one_of,
    real,
)
from localsvm._threads import effective_n_jobs
from localsvm.cluster import SEARCHES
from localsvm.estimators._base import BaseLocalClassifier
from localsvm.kernels import Kernel, scale_gamma
from localsvm.rows import Rows
from localsvm.solvers import KernelOptions, LocalKernel

_FEWEST_STEPS = 20_000
_STEPS_PER_ROW = 50


@dataclass(frozen=True)
class KernelSetting:
    """The penalty and width that a search can choose."""

    C: float
    gamma: float | str
    gamma_factor: float = 1.0


class BaseKernelClassifier(BaseLocalClassifier):
    """Parameters and steps of the classifiers with local kernel SVMs."""

    def _check_setting(self) -> None:
        check_parameters(
            self,
            n_neighbors=integer(1) | one_of("auto"),
            C=real(0),
            gamma=real(0) | one_of("local", "scale", "auto"),
            gamma_factor=real(0),
        )

    def _check_kernel_parameters(self) -> None:
        check_parameters(
            self,
            kernel=one_of("linear", "poly", "rbf"),
            degree=integer(1),
            coef0=real(-np.inf),
            neighbors=SEARCHES,
            class_weight=class_weights(),
            tol=real(0, closed="left"),
            max_iter=integer(1) | one_of("auto", -1),
            cache_size=real(0),
        )

    def _local_kernel(self, setting: KernelSetting, rows: Rows) -> LocalKernel:
        """Resolve gamma; a local width is left to the neighbourhoods."""
        check_squares(rows.X)
        return self._kernel_of(
            setting, rows.X.shape[1], lambda: scale_gamma(rows.X, rows.sample_weight)
        )

    def _kernel_of(
        self, setting: KernelSetting, n_columns: int, scale: Callable[[], float]
    ) -> LocalKernel:
        """Resolve gamma; ``scale`` gives what "scale" stands for."""
        gamma = setting.gamma
        local = bool(gamma == "local") and self.kernel == "rbf"
        if local:
            gamma = 1.0
        elif gamma == "auto":
            gamma = 1.0 / n_columns
        elif isinstance(gamma, str):
            gamma = scale()
        gamma = float(gamma) * setting.gamma_factor
        self._kernel = Kernel(self.kernel, gamma, self.degree, self.coef0)
        return LocalKernel(self._kernel, setting.C, local)

    def _options(self, n_neighbors: int, n_rows: int) -> KernelOptions:
        max_iter = self.max_iter
        if max_iter == "auto":
            few = n_neighbors < n_rows
            max_iter = max(_FEWEST_STEPS, _STEPS_PER_ROW * n_neighbors) if few else -1
        return KernelOptions(
            tol=self.tol,
            max_iter=int(max_iter),
            n_threads=effective_n_jobs(self.n_jobs),
            cache_size=self.cache_size,
        )
