"""The kernel and penalty of local SVMs, resolved for the scale of the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from localsvm._checks import check_squares
from localsvm.kernels import Kernel, scale_gamma
from localsvm.rows import Rows
from localsvm.solvers import LocalKernel


@dataclass(frozen=True)
class RowScale:
    """What "auto" and "scale" stand for, for some rows.

    Attributes
    ----------
    n_columns : int
    scale_gamma : callable
        Gives 1 / (n_columns * variance of the entries).
    """

    n_columns: int
    scale_gamma: Callable[[], float]

    @classmethod
    def of(cls, rows: Rows) -> Self:
        """Scale of rows in memory."""
        check_squares(rows.X)
        return cls(rows.X.shape[1], lambda: scale_gamma(rows.X, rows.sample_weight))


@dataclass(frozen=True)
class KernelSettings:
    """Kernel and penalty as parameters give them.

    Attributes
    ----------
    kernel, C, gamma, gamma_factor, degree, coef0
        As in :class:`~localsvm.LocalSVC`.
    """

    kernel: str
    C: float
    gamma: float | str
    gamma_factor: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    def resolve(self, scale: RowScale) -> LocalKernel:
        """Resolve gamma; a local width is left to the neighbourhoods."""
        gamma = self.gamma
        local = bool(gamma == "local") and self.kernel == "rbf"
        if local:
            gamma = 1.0
        elif gamma == "auto":
            gamma = 1.0 / scale.n_columns
        elif isinstance(gamma, str):
            gamma = scale.scale_gamma()
        gamma = float(gamma) * self.gamma_factor
        return LocalKernel(
            Kernel(self.kernel, gamma, self.degree, self.coef0), self.C, local
        )


def kernel_of(local: LocalKernel) -> Kernel:
    """Kernel of the neighbourhoods, with all that it can do."""
    kernel = local.kernel
    assert isinstance(kernel, Kernel)
    return kernel
