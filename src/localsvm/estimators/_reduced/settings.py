"""What is solved, which rows enter the problem, and how the fit runs."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import Any

from scipy import sparse
from sklearn.base import BaseEstimator

from localsvm._checks import boolean, check_parameters, integer, one_of, real
from localsvm._clock import StageClock
from localsvm.exceptions import DataError
from localsvm.kernels import Kernel
from localsvm.solvers import KernelOptions

# Up to here the interior point method beats others, whatever the bounds.
MOST_FEATURES = 200


class Reduction(BaseEstimator):
    """How :class:`ReducedSVC` opens clusters.

    Parameters
    ----------
    representative : {"mean", "pseudo_center"}, default="mean"
        What stands for a closed group of rows: the mean of their images, with the sum
        of their bounds, or the row nearest to their mean, as in the paper.
    use_bounds : bool, default=True
        Whether rows far inside the margin stay in groups, too (condition 2); the paper
        leaves only those outside it.
    band : float, default=0.2
        Rows whose margin is within this of one are opened.
    max_passes : int or None, default=None
        Passes after the first SVM. None continues until the solution is exact; the
        paper makes one.

    Examples
    --------
    Algorithm 1 as it is printed:

    >>> from localsvm.estimators import Reduction
    >>> Reduction("pseudo_center", use_bounds=False, band=0.0, max_passes=1)
    Reduction(band=0.0, max_passes=1, representative='pseudo_center',
              use_bounds=False)
    """

    def __init__(
        self,
        representative: str = "mean",
        *,
        use_bounds: bool = True,
        band: float = 0.2,
        max_passes: int | None = None,
    ) -> None:
        self.representative = representative
        self.use_bounds = use_bounds
        self.band = band
        self.max_passes = max_passes

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            representative=one_of("mean", "pseudo_center"),
            use_bounds=boolean(),
            band=real(0, closed="left"),
            max_passes=one_of(None) | integer(0),
        )

    def _rule(self) -> ReductionRule:
        return ReductionRule(
            self.representative, bool(self.use_bounds), self.band, self.max_passes
        )


@dataclass(frozen=True)
class ReductionRule:
    """Values of a :class:`Reduction`, which have been checked.

    Attributes
    ----------
    representative : {"mean", "pseudo_center"}
        What stands for a closed group.
    use_bounds : bool
        Whether rows far inside the margin stay in groups, too (condition 2).
    band : float
        Rows whose margin is within this of one are opened.
    max_passes : int or None
        Passes after the first SVM; None continues until it is that of all rows.
    """

    representative: str = "mean"
    use_bounds: bool = True
    band: float = 0.2
    max_passes: int | None = None

    def with_options(self, tol: float, options: KernelOptions) -> ReductionSettings:
        """Add how exact the solution must be."""
        return ReductionSettings(
            self.representative,
            self.use_bounds,
            self.band,
            self.max_passes,
            tol,
            options,
        )


@dataclass(frozen=True)
class ReductionSettings(ReductionRule):
    """A rule, and how exactly its problems are solved.

    Attributes
    ----------
    tol : float
        Largest violation of the optimality conditions.
    options : KernelOptions
    """

    tol: float = 1e-3
    options: KernelOptions = field(default_factory=KernelOptions)


@dataclass(frozen=True)
class ReducedSettings:
    """The problem that is solved, and how.

    Attributes
    ----------
    kernel : Kernel
    C : float
        Penalty of a margin error.
    reduction : ReductionRule or None
        Which rows enter the problem; None solves for all of them at once.
    solver : {"auto", "smo", "interior_point"}
    clusterer : clusterer or None
        None is :class:`~localsvm.cluster.PDDP`.
    """

    kernel: Kernel
    C: float
    reduction: ReductionRule | None = None
    solver: str = "auto"
    clusterer: Any = None

    def takes_interior_point(self, X: Any) -> bool:
        """Whether the interior point method solves for rows like these."""
        dense = not sparse.issparse(X)
        if self.solver == "interior_point" and not dense:
            raise DataError(
                "solver='interior_point' needs dense rows. Got a sparse X instead: use "
                "solver='smo' or 'auto'."
            )
        few = dense and X.shape[1] <= MOST_FEATURES
        wanted = self.solver == "interior_point" or (self.solver == "auto" and few)
        return wanted and self.kernel.name == "linear"


@dataclass(frozen=True)
class FitOptions:
    """How a fit runs: how exactly, how long, on how many threads.

    Attributes
    ----------
    seed : int
    tol : float
        Largest violation of the optimality conditions.
    max_iter : int or None
        Steps of sequential minimal optimisation per problem; None is ten million, or
        100 per row if that is more.
    cache_size : float
        Megabytes for a kernel matrix or for kernel rows.
    n_jobs : int or None
    clock : StageClock
        Times the stages, and limits the fit.
    """

    seed: int
    tol: float = 1e-3
    max_iter: int | None = None
    cache_size: float = 1000.0
    n_jobs: int | None = None
    clock: StageClock = field(default_factory=StageClock)

    def for_solver(self, cancel: threading.Event | None = None) -> KernelOptions:
        """Translate to the options of the solver, for all rows at once."""
        return KernelOptions(
            tol=self.tol,
            max_iter=-1 if self.max_iter is None else self.max_iter,
            deadline=self.clock.deadline,
            cache_size=self.cache_size,
            cancel=cancel,
        )

    def for_reduction(self, cancel: threading.Event | None = None) -> KernelOptions:
        """Translate to the options of the solver of a reduced problem.

        Half of the tolerance for the rows in it leaves half for those outside.
        """
        return replace(self.for_solver(cancel), tol=self.tol / 2)
