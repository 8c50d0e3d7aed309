"""The kernel and penalty of local SVMs, resolved for the scale of the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from localsvm._checks import Constraint, check_squares, one_of, real
from localsvm.kernels import Kernel, scale_gamma
from localsvm.rows import SCALED_C, Rows, squared_norms
from localsvm.solvers import LocalKernel

Gamma = float | str | tuple[str, float]


def is_local(gamma: object) -> bool:
    """Whether gamma is ("local", factor)."""
    return (
        isinstance(gamma, (tuple, list))
        and len(gamma) == 2
        and gamma[0] == "local"
        and real(0).holds(gamma[1])
    )


PENALTIES = real(0) | one_of("scale")
GAMMAS = (
    real(0)
    | one_of("local", "scale", "auto")
    | Constraint("('local', factor) with a factor above 0", is_local)
)


@dataclass(frozen=True)
class RowScale:
    """What "auto" and "scale" stand for, for some rows.

    Attributes
    ----------
    n_columns : int
    scale_gamma : callable
        Gives 1 / (n_columns * variance of the entries).
    self_kernel : callable
        Gives the mean of K(x, x) for a kernel.
    """

    n_columns: int
    scale_gamma: Callable[[], float]
    self_kernel: Callable[[Kernel], float]

    @classmethod
    def of(cls, rows: Rows) -> Self:
        """Scale of rows in memory."""
        check_squares(rows.X)

        def self_kernel(kernel: Kernel) -> float:
            values = _self_kernel(kernel, squared_norms(rows.X))
            return float(np.average(values, weights=rows.sample_weight))

        return cls(
            rows.X.shape[1],
            lambda: scale_gamma(rows.X, rows.sample_weight),
            self_kernel,
        )

    def scaled_penalty(self, kernel: Kernel) -> float:
        """``C="scale"``: 10 divided by the mean of K(x, x)."""
        if kernel.name == "rbf":
            return SCALED_C
        mean = self.self_kernel(kernel)
        return SCALED_C / mean if 0 < mean < np.inf else SCALED_C


def _self_kernel(kernel: Kernel, squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """K(x, x) of rows with the given squared norms, for a kernel of products."""
    if kernel.name == "linear":
        return squares
    return np.asarray((kernel.gamma * squares + kernel.coef0) ** kernel.degree)


@dataclass(frozen=True)
class KernelSettings:
    """Kernel and penalty as parameters give them.

    Attributes
    ----------
    kernel, C, gamma, degree, coef0
        As in :class:`~localsvm.LocalSVC`.
    """

    kernel: str
    C: float | str
    gamma: Gamma
    degree: int = 3
    coef0: float = 0.0

    def resolve(self, scale: RowScale) -> LocalKernel:
        """Resolve gamma and C; a local width is left to the neighbourhoods."""
        gamma, factor = self.gamma, 1.0
        if isinstance(gamma, (tuple, list)):
            gamma, factor = gamma
        local = gamma == "local" and self.kernel == "rbf"
        if local:
            gamma = 1.0
        elif gamma == "auto":
            gamma = 1.0 / scale.n_columns
        elif isinstance(gamma, str):
            gamma = scale.scale_gamma()
        kernel = Kernel(self.kernel, float(gamma) * factor, self.degree, self.coef0)
        C = self.C
        if isinstance(C, str):
            C = scale.scaled_penalty(kernel)
        return LocalKernel(kernel, float(C), local)


def kernel_of(local: LocalKernel) -> Kernel:
    """Kernel of the neighbourhoods, with all that it can do."""
    kernel = local.kernel
    assert isinstance(kernel, Kernel)
    return kernel
