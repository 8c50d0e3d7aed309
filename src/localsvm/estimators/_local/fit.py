"""The fit of local kernel SVMs: settings, and Algorithm 1 of FastLSVM.

``fit_local`` covers the rows and fits an SVM in each neighbourhood. It knows no
estimator, and what it returns is frozen.

Rows in blocks have a driver of their own, ``cells`` and ``cover``: Algorithm 1 in cells
of rows that lie together. Rows in memory could be one block with one cell; that was
measured to give the same bits in 0.9 to 1.1 times the CPU time. They are not, because
cells know nothing of a prior, of sparse rows, of searches that are objects and of
polynomial kernels, and use one thread each. ``StagedSVC`` and ``LocalSVCCV`` need
these of rows that are merged already, so that ``fit_local`` would stay beside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from localsvm._checks import Constraint, check_squares, one_of, real
from localsvm._clock import StageClock
from localsvm._threads import effective_n_jobs
from localsvm.cluster import NeighborhoodCover, make_search
from localsvm.estimators._held_out import HeldOut
from localsvm.estimators._local.model import LocalModel, Router
from localsvm.estimators._local.prior import Prior
from localsvm.estimators._local.unseen import hold_out_of_cells
from localsvm.kernels import Kernel, median_gamma, scale_gamma
from localsvm.rows import SCALED_C, Rows, squared_norms
from localsvm.solvers import (
    KernelOptions,
    LocalKernel,
    LocalModels,
    fit_neighborhoods,
)

Gamma = float | str | tuple[str, float]

_FEWEST_STEPS = 20_000
_STEPS_PER_ROW = 50
# The core's own limit: ten million steps, or 100 per row.
_CORE_LIMIT = -1


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
    scale_gamma, median_gamma : callable
        Give 1 / (n_columns * variance of the entries), and 1 / (10 m) with the median
        absolute distance m of rows.
    self_kernel : callable
        Gives the mean of K(x, x) for a kernel.
    """

    n_columns: int
    scale_gamma: Callable[[], float]
    median_gamma: Callable[[], float]
    self_kernel: Callable[[Kernel], float]

    @classmethod
    def of(cls, rows: Rows, seed: int = 0) -> Self:
        """Scale of rows in memory; the seed chooses those of the median."""
        check_squares(rows.X)

        def self_kernel(kernel: Kernel) -> float:
            values = _self_kernel(kernel, squared_norms(rows.X))
            return float(np.average(values, weights=rows.sample_weight))

        return cls(
            rows.X.shape[1],
            lambda: scale_gamma(rows.X, rows.sample_weight),
            lambda: median_gamma(rows.X, rows.sample_weight, seed),
            self_kernel,
        )

    def scaled_penalty(self, kernel: Kernel) -> float:
        """``C="scale"``: 10 divided by the mean of K(x, x)."""
        if kernel.of_distances:
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
        local = gamma == "local" and Kernel(self.kernel).of_distances
        if local:
            gamma = 1.0
        elif gamma == "auto":
            gamma = 1.0 / scale.n_columns
        elif isinstance(gamma, str):
            laplace = self.kernel == "laplace"
            gamma = scale.median_gamma() if laplace else scale.scale_gamma()
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


@dataclass(frozen=True)
class LocalSettings:
    """What is fitted, whatever the rows.

    Attributes
    ----------
    n_neighbors, n_assigned : int
        k and k'; no more than all rows are taken.
    local : LocalKernel
        Kernel and penalty, or the grid of both that each neighbourhood chooses from.
    route : {"row", "center"}, default="row"
    neighbors : str or search object, default="auto"
    """

    n_neighbors: int
    n_assigned: int
    local: LocalKernel
    route: str = "row"
    neighbors: Any = "auto"


@dataclass(frozen=True)
class LocalOptions:
    """How a fit runs; none of it is part of the model that is sought.

    Attributes
    ----------
    seed : int
        Of the order in which rows become centres.
    tol, cache_size
        As in :class:`~localsvm.LocalSVC`.
    max_iter : int or None
        None is what :meth:`for_neighborhoods` chooses.
    n_jobs : int or None
    clock : StageClock
        Counts the seconds, and stops the solver.
    """

    seed: int = 0
    tol: float = 1e-3
    max_iter: int | None = None
    cache_size: float = 200.0
    n_jobs: int | None = None
    clock: StageClock = field(default_factory=StageClock)

    def for_neighborhoods(self, n_neighbors: int, n_rows: int) -> KernelOptions:
        """Options of the solver for neighbourhoods of one size.

        Without ``max_iter``: 50 steps per row of a neighbourhood, at least 20,000; for
        one of all rows, the limit of the core.
        """
        max_iter = self.max_iter
        if max_iter is None:
            few = n_neighbors < n_rows
            steps = max(_FEWEST_STEPS, _STEPS_PER_ROW * n_neighbors)
            max_iter = steps if few else _CORE_LIMIT
        return KernelOptions(
            tol=self.tol,
            max_iter=int(max_iter),
            n_threads=effective_n_jobs(self.n_jobs),
            cache_size=self.cache_size,
            deadline=self.clock.deadline,
        )


@dataclass(frozen=True)
class LocalFit:
    """A model, and what is known of the rows that it was fitted to.

    Attributes
    ----------
    model : LocalModel
    C : float
        Penalty, before a neighbourhood chose a factor.
    centers : ndarray of shape (n_regions,)
        Fitted row at the centre of each neighbourhood.
    labels : ndarray of shape (n_rows,), int32
        Neighbourhood that each fitted row is assigned to.
    n_neighbors, n_assigned : int
        k and k' as used.
    n_support : ndarray of shape (n_classes,)
        Rows of each class that are a support vector of any neighbourhood.
    support : ndarray
        Fitted rows that are such support vectors.
    held_out : HeldOut or None, default=None
        Decisions on some rows by cells without them; only of rows in memory.
    """

    model: LocalModel
    C: float
    centers: NDArray[np.integer[Any]]
    labels: NDArray[np.int32]
    n_neighbors: int
    n_assigned: int
    n_support: NDArray[np.intp]
    support: NDArray[np.integer[Any]]
    held_out: HeldOut | None = None

    @property
    def report(self) -> LocalModels:
        """Certificates, penalties and widths of the neighbourhoods."""
        return self.model.models

    @property
    def region_sizes(self) -> NDArray[np.intp]:
        """Fitted rows that are assigned to each neighbourhood."""
        return np.bincount(self.labels)


def fit_local(
    rows: Rows,
    settings: LocalSettings,
    options: LocalOptions,
    prior: Prior | None = None,
    *,
    calibrates: bool = False,
) -> LocalFit:
    """Fit kernel SVMs to the neighbourhoods of a cover of the rows.

    Parameters
    ----------
    rows : Rows
        Distinct rows of positive weight, as ``Rows.merged`` gives them.
    settings : LocalSettings
    options : LocalOptions
    prior : Prior or None, default=None
        Global model that the local ones add to.
    calibrates : bool, default=False
        Whether to decide some rows by cells without them.

    Returns
    -------
    LocalFit
        Its neighbourhoods have not all been solved to ``tol``: see ``report.endings``.
    """
    clock, local = options.clock, settings.local
    if prior is not None:
        rows = replace(rows, prior=prior.of_rows)
    with clock.stage("cover"):
        cover = cover_neighborhoods(rows.X, settings, options)
    with clock.stage("solve"):
        models = fit_neighborhoods(
            rows,
            cover.neighborhoods_,
            local,
            options.for_neighborhoods(cover.n_neighbors_, rows.n_rows),
        )
    held_out = None
    if calibrates:
        with clock.stage("calibrate"):
            held_out = hold_out_of_cells(
                rows,
                cover,
                local,
                options.for_neighborhoods(cover.n_neighbors_, rows.n_rows),
                settings.route,
            )
    with clock.stage("route"):
        kept, support_rows, router = _keep(rows.X, cover, models, settings.route)
    support = np.unique(models.support)
    model = LocalModel(
        kept,
        support_rows,
        kernel_of(local),
        router,
        rows.n_classes,
        None if prior is None else prior.model,
        0.0 if prior is None else prior.shrink,
    )
    return LocalFit(
        model,
        local.C,
        cover.center_indices_,
        cover.labels_,
        cover.n_neighbors_,
        cover.n_assigned_,
        count_support(rows.class_index[support], rows.n_classes),
        support,
        held_out,
    )


def count_support(class_index: NDArray[np.int32], n_classes: int) -> NDArray[np.intp]:
    """Count distinct support vectors by class."""
    return np.bincount(class_index, minlength=n_classes)


def cover_neighborhoods(
    X: Any, settings: LocalSettings, options: LocalOptions
) -> NeighborhoodCover:
    """Lines 4-9 and 11-17, in the feature space of the kernel."""
    k = min(settings.n_neighbors, X.shape[0])
    neighbors, kernel = settings.neighbors, kernel_of(settings.local)
    if not kernel.searches_euclidean:
        neighbors = make_search(neighbors, X, k, kernel)
    return NeighborhoodCover(
        k,
        n_assigned=min(settings.n_assigned, k),
        neighbors=neighbors,
        random_state=options.seed,
        n_jobs=options.n_jobs,
    ).fit(X)


def _keep(
    X: Any, cover: NeighborhoodCover, models: LocalModels, route: str
) -> tuple[LocalModels, Any, Router]:
    """Models, the rows that they point to, and the way to them."""
    if route == "row":
        return models, X, Router(X, cover.router_, cover.labels_)
    kept, support = models.compact()
    router = Router.to_centers(X[cover.center_indices_], cover.neighbors)
    return kept, X[support], router
