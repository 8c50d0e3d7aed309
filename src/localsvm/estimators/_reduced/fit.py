"""The fit of the exact SVM: merge equal rows, choose a space, reduce or solve.

``fit_reduced`` does it for rows in memory. It knows no estimator; what it returns is
frozen.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm._clock import StageClock
from localsvm._threads import (
    map_in_threads,
    map_row_blocks,
    single_threaded_libraries,
)
from localsvm.estimators._reduced.clusters import cluster_rows
from localsvm.estimators._reduced.model import ReducedModel
from localsvm.estimators._reduced.reduction import (
    ReducedSolution,
    TwoClassRows,
    objectives,
    reduce_units,
    relative_gap,
    signs_of_tasks,
    solve_all,
)
from localsvm.estimators._reduced.rule import ReductionRule
from localsvm.estimators._reduced.spaces import (
    MOST_FEATURES,
    DualSpace,
    FeatureSpace,
    MatrixSpace,
    OutOfTimeError,
    RowSpace,
)
from localsvm.kernels import Kernel
from localsvm.rows import Rows, take_rows
from localsvm.solvers import Endings, KernelOptions, Status


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
            raise ValueError(
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


@dataclass(frozen=True)
class TaskReport:
    """How a task ended.

    Attributes
    ----------
    objective : float
        Of the dual.
    gap : float
        Relative duality gap over all rows.
    violation : float
        Largest violation of the optimality conditions, over all rows.
    rows_used : sequence of int
        Rows and groups in the problem of each pass.
    status : Status
    n_iter : int
    """

    objective: float
    gap: float
    violation: float
    rows_used: Sequence[int]
    status: Status
    n_iter: int

    @classmethod
    def of(cls, rows: TwoClassRows, solution: ReducedSolution) -> TaskReport:
        """Report on a solution of these rows."""
        last = solution.last
        primal, dual = objectives(rows, solution)
        return cls(
            dual,
            relative_gap(primal, dual, solution.violation),
            solution.violation,
            solution.rows_used,
            last.status,
            last.n_iter,
        )


@dataclass(frozen=True)
class ReducedFit:
    """Result of a fit.

    Attributes
    ----------
    settings : ReducedSettings
    model : ReducedModel
    support : ndarray of shape (n_support,)
        Training rows with a dual in any task.
    n_support : ndarray of shape (n_classes,)
        How many of them are of each class.
    tasks : tuple of TaskReport
    method : str
        How it was solved, in words.
    travelled : str or None
        Of a fit to blocks, how many rows entered the problem.
    """

    settings: ReducedSettings
    model: ReducedModel
    support: NDArray[np.intp]
    n_support: NDArray[np.intp]
    tasks: tuple[TaskReport, ...]
    method: str
    travelled: str | None = None

    @property
    def violation(self) -> float:
        """Largest violation over all rows and tasks."""
        return float(max(task.violation for task in self.tasks))

    @property
    def gap(self) -> float:
        """Largest relative duality gap of a task."""
        return float(max(task.gap for task in self.tasks))

    @property
    def n_iter(self) -> int:
        """Most steps of a solver, at least one."""
        return max(1, *(task.n_iter for task in self.tasks))

    def endings(self, tol: float) -> Endings:
        """Status of each task; what is exact has converged, whatever its solver says.

        Parameters
        ----------
        tol : float
        """
        status = [
            Status.converged if task.violation <= tol else task.status
            for task in self.tasks
        ]
        return Endings(
            np.array([each.value for each in status]),
            np.array([task.violation for task in self.tasks]),
        )


def fit_reduced(
    rows: Rows, settings: ReducedSettings, options: FitOptions
) -> ReducedFit:
    """Solve the SVM of all rows, at once or from clusters that are opened.

    Parameters
    ----------
    rows : Rows
    settings : ReducedSettings
    options : FitOptions

    Returns
    -------
    ReducedFit
        It may have stopped before ``tol``; the caller checks that.
    """
    clock = options.clock
    with clock.stage("merge"):
        merged = rows.merged(options.seed)
    distinct = merged.rows
    with clock.stage("kernel"):
        space, where = choose_space(distinct, settings, options)
    if settings.reduction is None:
        with clock.stage("solve"):
            tasks = make_tasks(distinct, settings.C)
            solutions = _solve_tasks(tasks, space, options)
    else:
        with clock.stage("cluster"):
            clusters = cluster_rows(distinct, settings.clusterer, options.seed)
        with clock.stage("solve"):
            tasks = make_tasks(distinct, settings.C, clusters)
            solutions = _reduce_tasks(tasks, space, settings.reduction, options)
    duals = np.array([solution.duals for solution in solutions])
    support = np.flatnonzero(duals.any(axis=0))
    what = "all rows" if settings.reduction is None else "clusters opened"
    return ReducedFit(
        settings,
        _make_model(settings.kernel, distinct, support, solutions),
        merged.first[support],
        np.bincount(distinct.class_index[support], minlength=distinct.n_classes),
        tuple(map(TaskReport.of, tasks, solutions)),
        f"{what}, {where}",
    )


def choose_space(
    rows: Rows, settings: ReducedSettings, options: FitOptions
) -> tuple[DualSpace, str]:
    """Choose where to solve: features, a shared matrix, or kernel rows.

    Returns
    -------
    space : DualSpace
    where : str
        The same in words.
    """
    kernel = settings.kernel
    if settings.takes_interior_point(rows.X):
        space = FeatureSpace(rows.X, by_interior_point=True)
        return space, "on features, by an interior point method"
    # One task alone needs the kernel rows of its support only.
    pays = rows.n_classes > 2 or settings.reduction is not None
    size = rows.X.dtype.itemsize * rows.n_rows**2
    if pays and size <= options.cache_size * 2**20:
        with suppress(OutOfTimeError):
            gram = kernel_matrix(kernel, rows.X, options)
            return MatrixSpace(gram), "on one kernel matrix of all rows, by SMO"
    where = "on kernel rows, by SMO"
    if kernel.name == "linear":
        return FeatureSpace(rows.X, by_interior_point=False), where
    return RowSpace(rows.X, kernel, options.n_jobs), where


def kernel_matrix(kernel: Kernel, X: Any, options: FitOptions) -> NDArray[Any]:
    """Kernel values of all pairs of rows, in their type, if there is time for them."""
    values = np.empty((X.shape[0], X.shape[0]), dtype=X.dtype)

    def fill_block(block: slice) -> None:
        if options.clock.remaining() == 0:
            raise OutOfTimeError
        values[block] = kernel(X[block], X)

    map_row_blocks(fill_block, X.shape[0], options.n_jobs)
    return values


def make_tasks(
    rows: Rows, C: float, clusters: NDArray[np.intp] | None = None
) -> list[TwoClassRows]:
    """Two classes are one task, more are one each against the rest."""
    if clusters is None:
        clusters = np.zeros(rows.n_rows, dtype=np.intp)
    return [
        TwoClassRows(rows.X, sign, C * rows.penalty_weight, clusters)
        for sign in signs_of_tasks(rows.class_index, rows.n_classes)
    ]


def _solve_tasks(
    tasks: list[TwoClassRows], space: DualSpace, options: FitOptions
) -> list[ReducedSolution]:
    cancel = threading.Event()
    return map_in_threads(
        lambda task: solve_all(task, space, options.for_solver(cancel)),
        tasks,
        _threads_of(space, options),
        cancel,
    )


def _reduce_tasks(
    tasks: list[TwoClassRows],
    space: DualSpace,
    rule: ReductionRule,
    options: FitOptions,
) -> list[ReducedSolution]:
    cancel = threading.Event()
    settings = rule.with_options(options.tol, options.for_reduction(cancel))
    return map_in_threads(
        lambda task: reduce_units(task, space, settings),
        tasks,
        _threads_of(space, options),
        cancel,
    )


def _threads_of(space: DualSpace, options: FitOptions) -> int | None:
    """Threads over tasks; kernel rows of one task may fill the cache."""
    return 1 if isinstance(space, RowSpace) else options.n_jobs


def _make_model(
    kernel: Kernel,
    rows: Rows,
    support: NDArray[np.intp],
    solutions: list[ReducedSolution],
) -> ReducedModel:
    vectors = take_rows(rows.X, support)
    dual_coef = np.array([solution.duals for solution in solutions])[:, support]
    coef = np.empty((len(solutions), 0))
    if kernel.name == "linear":
        # The weights of an interior point are no sum of duals.
        with single_threaded_libraries():
            coef = np.array(
                [
                    vectors.T @ duals if each.last.coef is None else each.last.coef
                    for each, duals in zip(solutions, dual_coef, strict=True)
                ]
            )
    intercept = np.array([each.last.intercept for each in solutions])
    return ReducedModel(kernel, vectors, dual_coef, coef, intercept)
