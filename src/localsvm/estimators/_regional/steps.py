"""Steps that linear SVMs over regions share, for one setting or many."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from localsvm._checks import (
    boolean,
    check_parameters,
    class_weights,
    integer,
    one_of,
    real,
    with_methods,
)
from localsvm._clock import StageClock
from localsvm._threads import effective_n_jobs
from localsvm.cluster import (
    HardRegions,
    LocalCoordinates,
    RegionCodes,
    SoftRegions,
)
from localsvm.estimators._base import BaseLocalClassifier, check_solution
from localsvm.estimators._metric import in_columns
from localsvm.estimators._regional.model import RegionalModel
from localsvm.passes import centers_of, fit_clusterer
from localsvm.rows import Rows, intercept_constant, mean_squared_norm
from localsvm.solvers import (
    LinearProblem,
    LinearSolution,
    SolverOptions,
    solve_blocks,
    solve_codes,
    solve_codes_jointly,
)

Regions = HardRegions | SoftRegions | LocalCoordinates


class BaseRegionalSVC(BaseLocalClassifier):
    """Cluster, code, solve and decide: linear SVMs that the code of a row mixes.

    A method implements ``_cut``, and ``_fit`` by ``_cluster`` and ``_solve_parts``.
    """

    @property
    def coef_(self) -> NDArray[Any]:
        """Weights of each region, of shape (n_regions, n_tasks, n_features)."""
        return self._in_columns(self._fitted_model().coef[:-1])

    @property
    def intercept_(self) -> NDArray[Any]:
        """Intercept of each region, of shape (n_regions, n_tasks)."""
        return self._fitted_model().intercept[:-1]

    def region(self, X: Any, *, return_weights: bool = False) -> Any:
        """Region that each row falls in.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        return_weights : bool, default=False
            Whether to return all regions of a row with their weights.

        Returns
        -------
        regions : ndarray of shape (n_samples,) or (n_samples, n_nearest)
            The nearest region; with ``return_weights`` all of them, nearest first. A
            label that the clusterer never gave in training is ``n_regions_`` or more;
            such a row is decided by the global weights.
        weights : ndarray of shape (n_samples, n_nearest)
            Only with ``return_weights``: what each region counts for the row.
        """
        X = self._check_query_rows(X)
        codes = self.regions_.code(X, self.n_jobs)
        if return_weights:
            return codes.regions, codes.weights
        return codes.regions[:, 0]

    def local_coef(self, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weights of the linear function that decides each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        coef : ndarray of shape (n_samples, n_tasks, n_features)
        intercept : ndarray of shape (n_samples, n_tasks)
            ``coef[i] @ X[i] + intercept[i]`` is the decision value of row i. With a
            metric this needs one that maps by ``X @ components_``.
        """
        X = self._check_query_rows(X)
        coef, intercept = self._fitted_model().blend(self.regions_.code(X, self.n_jobs))
        return self._in_columns(coef), intercept

    def _in_columns(self, coef: NDArray[Any]) -> NDArray[Any]:
        return in_columns(self.metric_, coef, self.n_features_in_)

    def _fitted_model(self) -> RegionalModel:
        check_is_fitted(self)
        model: RegionalModel = self._model
        return model

    def _decide(self, X: Any) -> NDArray[Any]:
        codes = self.regions_.code(X, self.n_jobs)
        return self._fitted_model().decide(X, codes, self.n_jobs)

    def _fit_clusterer(self, rows: Rows, n_clusters: int | str, seed: int) -> Any:
        return fit_clusterer(self.clusterer, rows, n_clusters, seed, self.n_jobs)

    @abstractmethod
    def _cut(self, rows: Rows, clusterer: Any) -> tuple[Regions, RegionCodes]:
        """Give each row its region or regions."""

    def _solve(
        self,
        problem: LinearProblem,
        regions: Regions,
        codes: RegionCodes,
        global_reg: float,
        options: SolverOptions,
        duals: NDArray[np.float64] | None = None,
    ) -> tuple[LinearSolution, RegionalModel]:
        """Eq. 3/7 for hard regions; the same with mixed rows for soft ones."""
        dtype = problem.X.dtype
        if isinstance(regions, HardRegions):
            solution = solve_blocks(
                problem,
                codes.regions[:, 0],
                regions.n_regions,
                coupling=1.0 / global_reg,
                options=options,
                duals=duals,
            )
            return solution, RegionalModel.from_solution(solution, 1.0, dtype)
        global_weight = 1.0 / np.sqrt(global_reg)
        nodes, weights = with_global_node(codes, regions.n_regions, global_weight)
        solve = solve_codes_jointly if self._is_joint else solve_codes
        solution = solve(
            problem,
            nodes,
            weights,
            regions.n_regions + int(global_weight > 0),
            options=options,
            duals=duals,
        )
        return solution, RegionalModel.from_solution(solution, global_weight, dtype)

    @property
    def _is_joint(self) -> bool:
        """Whether all classes are one problem."""
        return False

    def _problem(self, rows: Rows, C: float) -> LinearProblem:
        return LinearProblem(
            rows.X,
            rows.class_index,
            len(self.classes_),
            C * rows.penalty_weight,
            self.intercept_scaling_,
        )

    def _scale(self, rows: Rows) -> float:
        """Fix the constant column; return the mean squared norm of the rows."""
        mean = mean_squared_norm(rows)
        self.intercept_scaling_ = intercept_constant(self, mean)
        return mean

    def _options(
        self, seed: int, max_time: float | None, n_threads: int
    ) -> SolverOptions:
        return SolverOptions(
            loss=self.loss,
            tol=self.tol,
            max_iter=self.max_iter,
            max_time=max_time,
            seed=seed,
            n_threads=n_threads,
        )

    def _fit_setting(
        self,
        rows: Rows,
        setting: tuple[float, float, int | str],
        seed: int,
        clock: StageClock,
    ) -> tuple[RegionCodes, NDArray[np.float64]]:
        """Cluster, assign, solve and store, for one (C, global_reg, n_clusters).

        Returns the codes of the rows and their duals.
        """
        C, global_reg, n_clusters = setting
        parts = self._cluster(rows, n_clusters, seed, clock)
        solution = self._solve_parts(rows, parts, (C, global_reg), seed, clock)
        check_solution(solution, self)
        return parts[1], solution.duals

    def _cluster(
        self, rows: Rows, n_clusters: int | str, seed: int, clock: StageClock
    ) -> tuple[Regions, RegionCodes]:
        """Find the regions and code the rows."""
        with clock.stage("cluster"):
            clusterer = self._fit_clusterer(rows, n_clusters, seed)
        with clock.stage("assign"):
            regions, codes = self._cut(rows, clusterer)
        self.clusterer_ = clusterer
        self.regions_ = regions
        self.n_regions_ = regions.n_regions
        present = codes.regions[rows.sample_weight > 0, 0]
        self.region_sizes_ = np.bincount(present, minlength=regions.n_regions)
        self.region_class_counts_ = rows.class_counts(
            codes.regions[:, 0], regions.n_regions
        )
        return regions, codes

    def _solve_parts(
        self,
        rows: Rows,
        parts: tuple[Regions, RegionCodes],
        penalties: tuple[float, float],
        seed: int,
        clock: StageClock,
        duals: NDArray[np.float64] | None = None,
    ) -> LinearSolution:
        """Solve for one (C, global_reg) from the given duals, and store."""
        C, global_reg = penalties
        with clock.stage("solve"):
            options = self._options(
                seed, clock.remaining(), effective_n_jobs(self.n_jobs)
            )
            solution, self._model = self._solve(
                self._problem(rows, C), *parts, global_reg, options, duals
            )
        self.C_ = C
        self.duality_gap_ = solution.worst_gap
        self.n_iter_ = max(1, solution.n_iter)
        self.n_support_ = np.count_nonzero(solution.duals, axis=1)
        self.fit_report_ = clock.seconds
        return solution

    def _check_common_parameters(self) -> None:
        check_parameters(
            self,
            n_nearest=integer(1),
            loss=one_of("hinge", "squared_hinge"),
            clusterer=one_of(None) | with_methods("fit", "predict"),
            fit_intercept=boolean(),
            intercept_scaling=real(0) | one_of("scale"),
            class_weight=class_weights(),
            tol=real(0, closed="left"),
            max_iter=integer(1),
            max_time=one_of(None) | real(0),
        )


class BaseClusteredSVC(BaseRegionalSVC):
    """Regions and fitted attributes of the clustered SVM."""

    @property
    def global_coef_(self) -> NDArray[Any]:
        """Global weights w of Eq. 3 and 12, of shape (n_tasks, n_features)."""
        return self._in_columns(self._fitted_model().coef[-1])

    @property
    def global_intercept_(self) -> NDArray[Any]:
        """Intercept that belongs to ``global_coef_``, of shape (n_tasks,)."""
        return np.asarray(self._fitted_model().intercept[-1])

    def _cut(self, rows: Rows, clusterer: Any) -> tuple[Regions, RegionCodes]:
        """Give each row its region or regions."""
        if self.assignment == "hard":
            hard = HardRegions(clusterer)
            labels = hard.learn(rows.X).astype(np.int32)[:, np.newaxis]
            return hard, RegionCodes(labels, np.ones(labels.shape, rows.X.dtype))
        soft = SoftRegions(
            centers_of(clusterer, rows),
            n_nearest=self.n_nearest,
            sharpness=self.sharpness,
        )
        return soft, soft.learn(rows.X, rows.sample_weight, self.n_jobs)

    @property
    def _is_joint(self) -> bool:
        """Whether all classes are one problem; two classes are one task anyway."""
        return self.multi_class == "crammer_singer" and len(self.classes_) > 2

    def _check_common_parameters(self) -> None:
        super()._check_common_parameters()
        check_parameters(
            self,
            assignment=one_of("soft", "hard"),
            multi_class=one_of("ovr", "crammer_singer"),
            sharpness=real(0),
        )
        if self.multi_class == "crammer_singer" and (self.assignment, self.loss) != (
            "soft",
            "hinge",
        ):
            raise ValueError(
                "multi_class='crammer_singer' needs assignment='soft' and "
                f"loss='hinge'; found assignment={self.assignment!r} and "
                f"loss={self.loss!r}."
            )


def with_global_node(
    codes: RegionCodes, n_regions: int, global_weight: float
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Append the global node, if it has any weight."""
    if global_weight == 0:
        return codes.regions, codes.weights
    shape = (codes.regions.shape[0], 1)
    node = np.full(shape, n_regions, dtype=np.int32)
    weight = np.full(shape, global_weight, dtype=codes.weights.dtype)
    return (
        np.concatenate([codes.regions, node], axis=1),
        np.concatenate([codes.weights, weight], axis=1),
    )
