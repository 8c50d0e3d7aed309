"""Steps and fitted attributes of the exact SVM."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm._threads import (
    map_in_threads,
    map_row_blocks,
    single_threaded_libraries,
)
from localsvm.cluster import PDDP
from localsvm.cluster._distinct import distinct_rows, merge_weights, take_rows
from localsvm.cluster._summarize import copy_for, hard_labels
from localsvm.estimators._base import (
    BaseLocalClassifier,
    StageClock,
    TrainingRows,
    check_solution,
)
from localsvm.estimators._dual_space import (
    MOST_FEATURES,
    DualSpace,
    FeatureSpace,
    MatrixSpace,
    RowSpace,
)
from localsvm.estimators._kernel_base import stored_as
from localsvm.estimators._reduction import (
    ReducedSolution,
    ReductionSettings,
    TwoClassRows,
    reduce_units,
    solve_all,
)
from localsvm.kernels import Kernel, scale_gamma
from localsvm.solvers import Endings, KernelOptions, Status, decide_in_blocks


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

    def _resolve_kernel(self, rows: TrainingRows) -> Kernel:
        gamma = self.gamma
        if gamma == "auto":
            gamma = 1.0 / rows.X.shape[1]
        elif gamma == "scale":
            gamma = scale_gamma(rows.X, rows.sample_weight)
        self.gamma_ = float(gamma)
        return Kernel(self.kernel, self.gamma_, self.degree, self.coef0)

    def _merge(self, rows: TrainingRows) -> TrainingRows:
        """Merge equal rows of a class, in an order that depends on content alone."""
        first, kind = distinct_rows(
            rows.X, rows.penalty_weight, self._draw_seed(), rows.class_index
        )
        self._first = first
        weight = merge_weights(rows.penalty_weight, kind)
        return TrainingRows(
            take_rows(rows.X, first), rows.class_index[first], weight, weight
        )

    def _make_space(self, rows: TrainingRows) -> DualSpace:
        """Choose where to solve: features, a shared matrix, or kernel rows."""
        by_interior_point = self._takes_interior_point(rows.X)
        if by_interior_point:
            self._say("on features, by an interior point method")
            return FeatureSpace(rows.X, by_interior_point)
        if self._shares_matrix(rows.X):
            self._say("on one kernel matrix of all rows, by SMO")
            return MatrixSpace(kernel_matrix(self._kernel, rows.X, self.n_jobs))
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

    def _cluster(self, rows: TrainingRows) -> NDArray[np.intp]:
        """Cluster each class once, for all tasks."""
        clusters = np.zeros(len(rows.class_index), dtype=np.intp)
        template = PDDP() if self.clusterer is None else self.clusterer
        n_clusters, seed = 0, self._draw_seed()
        for label in np.unique(rows.class_index):
            own = np.flatnonzero(rows.class_index == label)
            X = take_rows(rows.X, own)
            clusterer = copy_for(template, len(own), seed).fit(X)
            clusters[own] = n_clusters + hard_labels(clusterer, X)
            n_clusters = int(clusters.max()) + 1
        return clusters

    def _tasks(
        self, rows: TrainingRows, clusters: NDArray[np.intp] | None
    ) -> list[TwoClassRows]:
        """Two classes are one task, more are one each against the rest."""
        n_classes = len(self.classes_)
        positive = [1] if n_classes == 2 else range(n_classes)
        if clusters is None:
            clusters = np.zeros(len(rows.class_index), dtype=np.intp)
        return [
            TwoClassRows(
                rows.X,
                np.where(rows.class_index == label, 1.0, -1.0),
                self.C * rows.penalty_weight,
                clusters,
            )
            for label in positive
        ]

    def _solve_all(
        self, rows: TrainingRows, space: DualSpace, clock: StageClock
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
        rows: TrainingRows,
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
        self, tol: float, clock: StageClock, cancel: threading.Event
    ) -> KernelOptions:
        max_iter = np.iinfo(np.int64).max if self.max_iter == -1 else self.max_iter
        return KernelOptions(
            tol=tol,
            max_iter=int(max_iter),
            max_time=clock.remaining(),
            cache_size=self.cache_size,
            cancel=cancel,
        )

    def _keep(self, rows: TrainingRows, solutions: list[ReducedSolution]) -> None:
        duals = np.array([solution.duals for solution in solutions])
        support = np.flatnonzero(duals.any(axis=0))
        self.support_ = self._first[support]
        self.dual_coef_ = duals[:, support]
        self.intercept_ = np.array([each.last.intercept for each in solutions])
        self._support_rows = take_rows(rows.X, support)
        self._coef = self._weights(solutions)
        self.n_rows_used_ = [solution.rows_used for solution in solutions]
        self.passes_ = np.array([len(used) - 1 for used in self.n_rows_used_])
        self.violation_ = max(solution.violation for solution in solutions)
        self.exact_ = bool(self.violation_ <= self.tol)
        self.n_iter_ = max(1, *(solution.last.n_iter for solution in solutions))
        self.dual_objective_ = np.array(
            [
                dual_objective(task, each)
                for task, each in zip(self._tasks(rows, None), solutions, strict=True)
            ]
        )
        check_solution(
            Endings(
                np.array([self._status(each).value for each in solutions]),
                np.array([solution.violation for solution in solutions]),
            ),
            self,
        )

    def _status(self, solution: ReducedSolution) -> Status:
        """How a task ended; what is exact has converged, whatever its solver says."""
        exact = solution.violation <= self.tol
        return Status.converged if exact else solution.last.status

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
        if not len(self.support_):
            return np.zeros((X.shape[0], len(self.intercept_)))
        X = stored_as(X, self._support_rows)
        Z = self._support_rows
        if sparse.issparse(Z):
            return decide_in_blocks(
                lambda part: self._kernel(part, Z), self.dual_coef_, X, self.n_jobs
            )
        compare = self._kernel.compare_with(Z, self.gamma_)
        return decide_in_blocks(compare, self.dual_coef_, X, self.n_jobs)


def kernel_matrix(kernel: Kernel, X: Any, n_jobs: int | None) -> NDArray[Any]:
    """Kernel values of all pairs of rows, in their type."""
    values = np.empty((X.shape[0], X.shape[0]), dtype=X.dtype)

    def fill_block(block: slice) -> None:
        values[block] = kernel(X[block], X)

    map_row_blocks(fill_block, X.shape[0], n_jobs)
    return values


def dual_objective(rows: TwoClassRows, solution: ReducedSolution) -> float:
    """Objective of the dual over all rows."""
    sums = solution.last.decisions - solution.last.intercept
    coef = solution.last.coef
    squared = solution.duals @ sums if coef is None else coef @ coef
    return float(solution.duals @ rows.sign - squared / 2)
