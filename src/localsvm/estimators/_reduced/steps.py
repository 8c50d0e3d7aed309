"""Steps and fitted attributes of the exact SVM."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from localsvm._checks import level_of_caller
from localsvm._clock import StageClock
from localsvm._threads import (
    map_in_threads,
    map_row_blocks,
    single_threaded_libraries,
)
from localsvm.cluster import PDDP, copy_for, hard_labels
from localsvm.estimators._base import BaseLocalClassifier, check_solution
from localsvm.estimators._reduced.reduction import (
    ReducedSolution,
    ReductionSettings,
    TwoClassRows,
    dual_objective,
    reduce_units,
    signs_of_tasks,
    solve_all,
)
from localsvm.estimators._reduced.spaces import (
    MOST_FEATURES,
    DualSpace,
    FeatureSpace,
    MatrixSpace,
    OutOfTimeError,
    RowSpace,
)
from localsvm.kernels import Kernel, scale_gamma
from localsvm.rows import Rows, stored_as, take_rows
from localsvm.solvers import Endings, KernelOptions, Status, decide_in_blocks


@dataclass(frozen=True)
class Ending:
    """How a task ended.

    Attributes
    ----------
    intercept, objective, violation : float
    rows_used : sequence of int
    status : Status
    n_iter : int
    """

    intercept: float
    objective: float
    violation: float
    rows_used: Sequence[int]
    status: Status
    n_iter: int

    @classmethod
    def of(cls, rows: TwoClassRows, solution: ReducedSolution) -> Ending:
        """Say how a solution of these rows ended."""
        last = solution.last
        return cls(
            last.intercept,
            dual_objective(rows, solution),
            solution.violation,
            solution.rows_used,
            last.status,
            last.n_iter,
        )


class BaseReducedSVC(BaseLocalClassifier):
    """Steps of the exact SVM, for all rows and for units."""

    _kernel: Kernel
    _takes_metric = False

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the features, for the linear kernel."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available with kernel='linear'.")
        return self._coef

    def local_coef(self, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weights of the linear function that touches each row's decision.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        coef : ndarray of shape (n_samples, n_tasks, n_features)
            The gradient of the decision at the row; ``coef_`` for the linear kernel.
        intercept : ndarray of shape (n_samples, n_tasks)
            ``coef[i] @ X[i] + intercept[i]`` is the decision value of row i.
        """
        X = self._check_query_rows(X)
        return self._touching(X, self._gradients(X))

    def _gradients(self, X: Any) -> NDArray[np.float64]:
        """Gradients of shape (n_samples, n_tasks, n_features)."""
        if self.kernel == "linear":
            return np.tile(self._coef, (X.shape[0], 1, 1))
        if not len(self.support_):
            return np.zeros((X.shape[0], len(self.intercept_), X.shape[1]))
        dense, support = (
            np.asarray(rows.toarray() if sparse.issparse(rows) else rows, np.float64)
            for rows in (X, self._support_rows)
        )
        return np.stack(
            [
                self._kernel.weighted_gradient(dense, support, duals, self.gamma_)
                for duals in self.dual_coef_
            ],
            axis=1,
        )

    def _resolve_kernel(self, rows: Rows) -> Kernel:
        gamma = self.gamma
        if gamma == "auto":
            gamma = 1.0 / rows.X.shape[1]
        elif gamma == "scale":
            gamma = scale_gamma(rows.X, rows.sample_weight)
        self.gamma_ = float(gamma)
        return Kernel(self.kernel, self.gamma_, self.degree, self.coef0)

    def _make_space(self, rows: Rows, clock: StageClock) -> DualSpace:
        """Choose where to solve: features, a shared matrix, or kernel rows."""
        by_interior_point = self._takes_interior_point(rows.X)
        if by_interior_point:
            self._say("on features, by an interior point method")
            return FeatureSpace(rows.X, by_interior_point)
        if self._shares_matrix(rows.X):
            options = self._options(self.tol, clock, None)
            with suppress(OutOfTimeError):
                gram = kernel_matrix(self._kernel, rows.X, self.n_jobs, options)
                self._say("on one kernel matrix of all rows, by SMO")
                return MatrixSpace(gram)
        self._say("on kernel rows, by SMO")
        if self.kernel == "linear":
            return FeatureSpace(rows.X, by_interior_point)
        return RowSpace(rows.X, self._kernel, self.n_jobs)

    def _takes_interior_point(self, X: Any) -> bool:
        dense = not sparse.issparse(X)
        if self.solver == "interior_point" and not dense:
            raise ValueError(
                "solver='interior_point' needs dense rows. Got a sparse X instead: use "
                "solver='smo' or 'auto'."
            )
        few = dense and X.shape[1] <= MOST_FEATURES
        wanted = self.solver == "interior_point" or (self.solver == "auto" and few)
        return wanted and self.kernel == "linear"

    def _shares_matrix(self, X: Any) -> bool:
        """Whether a matrix pays: one task alone needs the rows of its support only."""
        pays = len(self.classes_) > 2 or self.method == "reduce"
        size = X.dtype.itemsize * X.shape[0] ** 2
        return pays and bool(size <= self.cache_size * 2**20)

    def _say(self, how: str) -> None:
        what = "clusters opened" if self.method == "reduce" else "all rows"
        self.method_ = f"{what}, {how}"

    def _cluster(self, rows: Rows) -> NDArray[np.intp]:
        """Cluster each class once, for all tasks."""
        template = PDDP() if self.clusterer is None else self.clusterer
        seed = self._draw_seed()
        return cluster_classes(
            rows.X, rows.class_index, lambda _, n_rows: copy_for(template, n_rows, seed)
        )

    def _tasks(
        self, rows: Rows, clusters: NDArray[np.intp] | None
    ) -> list[TwoClassRows]:
        """Two classes are one task, more are one each against the rest."""
        if clusters is None:
            clusters = np.zeros(len(rows.class_index), dtype=np.intp)
        return [
            TwoClassRows(rows.X, sign, self.C * rows.penalty_weight, clusters)
            for sign in signs_of_tasks(rows.class_index, len(self.classes_))
        ]

    def _solve_all(
        self, rows: Rows, space: DualSpace, clock: StageClock
    ) -> list[ReducedSolution]:
        cancel = threading.Event()
        return map_in_threads(
            lambda task: solve_all(task, space, self._options(self.tol, clock, cancel)),
            self._tasks(rows, None),
            # Kernel rows of one task may fill the cache.
            1 if isinstance(space, RowSpace) else self.n_jobs,
            cancel,
        )

    def _reduce(
        self,
        rows: Rows,
        clusters: NDArray[np.intp],
        space: DualSpace,
        clock: StageClock,
    ) -> list[ReducedSolution]:
        cancel = threading.Event()

        def reduce(task: TwoClassRows) -> ReducedSolution:
            settings = ReductionSettings(
                self.representative,
                self.use_bounds,
                self.band,
                self.max_passes,
                self.tol,
                # Half for the rows in the problem leaves half for those outside.
                self._options(self.tol / 2, clock, cancel),
            )
            return reduce_units(task, space, settings)

        n_jobs = 1 if isinstance(space, RowSpace) else self.n_jobs
        return map_in_threads(reduce, self._tasks(rows, clusters), n_jobs, cancel)

    def _options(
        self, tol: float, clock: StageClock, cancel: threading.Event | None
    ) -> KernelOptions:
        return KernelOptions(
            tol=tol,
            max_iter=int(self.max_iter),
            deadline=clock.deadline,
            cache_size=self.cache_size,
            cancel=cancel,
        )

    def _keep(
        self,
        rows: Rows,
        first: NDArray[np.intp],
        solutions: list[ReducedSolution],
    ) -> None:
        duals = np.array([solution.duals for solution in solutions])
        support = np.flatnonzero(duals.any(axis=0))
        self.support_ = first[support]
        self.dual_coef_ = duals[:, support]
        self._support_rows = take_rows(rows.X, support)
        self._coef = self._weights(solutions)
        self._keep_endings(
            [
                Ending.of(task, each)
                for task, each in zip(self._tasks(rows, None), solutions, strict=True)
            ]
        )

    def _keep_endings(self, endings: list[Ending]) -> None:
        """Say how the tasks ended; warn of those that a limit has stopped."""
        self.intercept_ = np.array([each.intercept for each in endings])
        self.n_rows_used_ = [list(each.rows_used) for each in endings]
        self.passes_ = np.array([len(used) - 1 for used in self.n_rows_used_])
        violations = np.array([each.violation for each in endings])
        self.violation_ = float(violations.max())
        self.exact_ = bool(self.violation_ <= self.tol)
        self.n_iter_ = max(1, *(each.n_iter for each in endings))
        self.dual_objective_ = np.array([each.objective for each in endings])
        # What is exact has converged, whatever its solver says.
        status = [
            Status.converged if each.violation <= self.tol else each.status
            for each in endings
        ]
        check_solution(
            Endings(np.array([each.value for each in status]), violations), self
        )
        if not self.exact_ and all(each == Status.converged for each in status):
            warn_of_rounding(self)

    def _weights(self, solutions: list[ReducedSolution]) -> NDArray[np.float64]:
        """Weights of the features; those of an interior point are no sum of duals."""
        if self.kernel != "linear":
            return np.empty((len(solutions), 0))
        with single_threaded_libraries():
            return np.array(
                [
                    self._support_rows.T @ duals
                    if each.last.coef is None
                    else each.last.coef
                    for each, duals in zip(solutions, self.dual_coef_, strict=True)
                ]
            )

    def _sums(self, X: Any) -> NDArray[np.float64]:
        """Decisions without the intercept."""
        if self.kernel == "linear":
            with single_threaded_libraries():
                return np.asarray(X @ self._coef.T, dtype=np.float64)
        return kernel_sums(
            self._kernel, X, self._support_rows, self.dual_coef_, self.n_jobs
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
    if not support.shape[0]:
        return np.zeros((X.shape[0], len(duals)))
    X = stored_as(X, support)
    if sparse.issparse(support):
        return decide_in_blocks(lambda part: kernel(part, support), duals, X, n_jobs)
    return decide_in_blocks(
        kernel.compare_with(support, kernel.gamma), duals, X, n_jobs
    )


def warn_of_rounding(estimator: Any) -> None:
    """Warn that every solver has ended as it should, and the solution is not exact."""
    warnings.warn(
        f"The solution is not exact (exact_=False): violation_="
        f"{estimator.violation_:.3g}, expected at most tol={estimator.tol}. The "
        f"solver converged, but at C={estimator.C:g} rounding hides the rest. Lower C, "
        "scale the features, or raise tol.",
        ConvergenceWarning,
        stacklevel=level_of_caller(),
    )


def cluster_classes(
    X: Any,
    class_index: NDArray[np.int32],
    make_clusterer: Callable[[int, int], Any],
) -> NDArray[np.intp]:
    """Cluster the rows of each class.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    class_index : ndarray of shape (n_samples,)
    make_clusterer : callable
        Gives a new clusterer for a class and the number of its rows.

    Returns
    -------
    ndarray of shape (n_samples,)
        From 0; clusters of different classes have different numbers.
    """
    clusters = np.zeros(len(class_index), dtype=np.intp)
    n_clusters = 0
    for label in np.unique(class_index).tolist():
        own = np.flatnonzero(class_index == label)
        rows = take_rows(X, own)
        clusterer = make_clusterer(label, len(own)).fit(rows)
        clusters[own] = n_clusters + hard_labels(clusterer, rows)
        n_clusters = int(clusters.max()) + 1
    return clusters


def kernel_matrix(
    kernel: Kernel, X: Any, n_jobs: int | None, options: KernelOptions
) -> NDArray[Any]:
    """Kernel values of all pairs of rows, in their type, if there is time for them."""
    values = np.empty((X.shape[0], X.shape[0]), dtype=X.dtype)

    def fill_block(block: slice) -> None:
        if options.is_over:
            raise OutOfTimeError
        values[block] = kernel(X[block], X)

    map_row_blocks(fill_block, X.shape[0], n_jobs)
    return values
