"""The two stages of the staged SVM, fitted one after the other."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import row_norms

from localsvm._checks import scales_already_told
from localsvm._clock import StageClock
from localsvm._seeds import draw_seed
from localsvm._threads import effective_n_jobs
from localsvm.cluster import NeighborhoodCover, SampledKMeans
from localsvm.estimators._base import check_solution
from localsvm.estimators._local import LocalSVC, Router
from localsvm.estimators._regional import (
    ClusteredSVC,
    FitOptions,
    GradientMetric,
    RegionalSettings,
    confidences,
    fit_regional,
    margins,
    unseen_decisions,
)
from localsvm.estimators._staged.preparation import Preparation
from localsvm.estimators._staged.setting import (
    MOST_PAIRED_CLASSES,
    SecondGrid,
    StagedSetting,
)
from localsvm.kernels import Kernel
from localsvm.rows import Rows
from localsvm.solvers import (
    KernelOptions,
    LocalKernel,
    cross_validate_neighborhoods,
    fit_neighborhoods,
)

# Of dense copies of hard rows that came as CSR.
LARGEST_DENSE_BYTES = 1 << 30

# Hundreds of regions need no careful clustering: accuracies are the same, at a third of
# the cost.
_CLUSTERED_ROWS, _CLUSTERED_ROWS_PER_REGION, _CLUSTER_ITERATIONS = 10_000, 20, 10
_STEPS_PER_ROW = 50
_FEWEST_STEPS = 20_000

_METRIC_C = 10.0
_METRIC_ROWS = 50_000
_METRIC_ROWS_PER_CLASS = 20
_LEAST_TIME = 1e-3
_METRICS: dict[str, dict[str, Any]] = {
    "full": {"power": 0.5, "diagonal": False},
    "diagonal": {"power": 1.0, "diagonal": True},
}
METRICS = (None, *_METRICS)


class OutOfTimeError(Exception):
    """The time for the choice is over; what is being tried has no result."""


@dataclass(frozen=True)
class FirstStage:
    """Soft regions of linear SVMs, and what they say of the training rows.

    Attributes
    ----------
    model : ClusteredSVC
    margin : ndarray of shape (n_samples,)
        Lead of each training row's own class when the row is left out.
    confidence : ndarray of shape (n_samples,)
        Lead of the class that wins, the row being seen.
    """

    model: ClusteredSVC
    margin: NDArray[np.float64]
    confidence: NDArray[np.float64]


@dataclass(frozen=True)
class StageFitter:
    """How stages are fitted, whatever their setting.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
    n_regions, tol, max_iter, n_jobs
        As in :class:`~localsvm.StagedSVC`.
    seed : int
    clock : StageClock
    """

    classes: NDArray[Any]
    n_regions: int | str
    tol: float
    max_iter: int
    n_jobs: int | None
    seed: int
    clock: StageClock

    def prepare(self, rows: Rows, setting: StagedSetting) -> Preparation:
        """Learn how rows are scaled and, with a metric, turned and stretched."""
        plain = Preparation.learn(
            rows, setting.scaling, setting.n_components, self.seed
        )
        if setting.gradient_metric is None:
            return plain
        first = self._first_model(rows.X.shape[0], _METRIC_C)
        first.set_params(max_time=self._time_left())
        learner = GradientMetric(
            **_METRICS[setting.gradient_metric],
            estimator=first,
            max_rows=_metric_rows(rows.class_index),
            random_state=self.seed,
            n_jobs=self.n_jobs,
        )
        with scales_already_told():
            # A metric of gradients that are not exact is as good.
            warnings.simplefilter("ignore", ConvergenceWarning)
            learner.fit(
                plain.apply(rows.X, self.n_jobs),
                self.classes[rows.class_index],
                rows.sample_weight,
            )
        return plain.then(learner)

    def fit_first(self, rows: Rows, Cs: Sequence[float]) -> list[FirstStage]:
        """Fit prepared rows for ascending penalties, each from the one before."""
        template = self._first_model(rows.X.shape[0], Cs[0])
        settings = RegionalSettings(
            Cs[0],
            n_regions=template.n_regions,
            clusterer=template.clusterer,
            joint=rows.n_classes > 2,
        )
        options = FitOptions(
            seed=self.seed,
            tol=self.tol,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
            clock=StageClock(self.clock.remaining()),
        )
        stages: list[FirstStage] = []
        fit = None
        for C in Cs:
            fit = fit_regional(rows, replace(settings, C=C), options, start=fit)
            check_solution(fit.solution, template)
            decisions = fit.decide_training_rows(rows.X, self.n_jobs)
            unseen = unseen_decisions(rows, fit, decisions)
            model = clone(template).set_params(C=C)
            stages.append(
                FirstStage(
                    model._adopt(fit, rows, self.classes, options.clock.seconds),
                    margins(unseen, rows.class_index),
                    confidences(decisions),
                )
            )
        return stages

    def fit_second(
        self, rows: Rows, setting: StagedSetting, cell_size: int | None
    ) -> LocalSVC:
        """Fit RBF SVMs to the hard ones of the prepared rows, in cells or as one."""
        rows = replace(rows, X=densified(rows.X))
        n_rows = rows.X.shape[0]
        model = LocalSVC(
            cell_size or n_rows,
            n_assigned=None if cell_size else n_rows,
            C=setting.kernel_C,
            gamma=(
                ("local", setting.gamma_factor)
                if cell_size
                else setting.gamma_factor * (1.0 / typical_distance(rows.X))
            ),
            route="center",
            tol=self.tol,
            max_time=self._time_left(),
            random_state=self.seed,
            n_jobs=self.n_jobs,
        )
        self._introduce(model, rows)
        model._fit(rows)
        return model

    def score_second(
        self,
        rows: Rows,
        n_train: int,
        grid: SecondGrid,
    ) -> NDArray[Any]:
        """Decisions for the rows from ``n_train`` on, by models of those before.

        The models are those that :meth:`fit_second` would fit, and a row takes the same
        route to them.

        Returns an array of shape (n_settings, n_held_out, n_outputs); settings run
        through the gamma factors and, within, the penalties.
        """
        labelled = Rows.weighted(
            densified(rows.X), rows.class_index, rows.penalty_weight, len(self.classes)
        )
        options = KernelOptions(
            tol=self.tol,
            max_iter=max(_FEWEST_STEPS, _STEPS_PER_ROW * n_train),
            max_time=self.clock.remaining(),
            n_threads=effective_n_jobs(self.n_jobs),
        )
        if grid.cell_size is None:
            return self._score_one_model(labelled, n_train, grid, options)
        return self._score_cells(labelled, n_train, grid, options)

    def _score_one_model(
        self,
        rows: Rows,
        n_train: int,
        grid: SecondGrid,
        options: KernelOptions,
    ) -> NDArray[Any]:
        train = rows.take(slice(n_train))
        held_out = rows.X[n_train:]
        gamma = 1.0 / typical_distance(train.X)
        every_row = np.arange(n_train, dtype=np.int32)[np.newaxis]
        route = np.zeros(held_out.shape[0], dtype=np.int64)

        def score(pair: tuple[float, float]) -> NDArray[Any]:
            self.stop_if_late()
            kernel = Kernel("rbf", gamma * pair[0])
            local = LocalKernel(kernel, pair[1])
            limited = replace(options, max_time=self.clock.remaining())
            models = fit_neighborhoods(train, every_row, local, limited)
            return models.decide(train.X, kernel, rows.n_classes, held_out, route, 1)

        settings = list(product(grid.gamma_factors, grid.penalties))
        return np.array([score(setting) for setting in settings])

    def _score_cells(
        self,
        rows: Rows,
        n_train: int,
        grid: SecondGrid,
        options: KernelOptions,
    ) -> NDArray[Any]:
        """Score by the cells of the training rows; settings share their Gram."""
        train, held_out = rows.X[:n_train], np.arange(n_train, rows.X.shape[0])
        assert grid.cell_size is not None
        # The seed that LocalSVC would draw: the cells are those of the fit.
        cover = NeighborhoodCover(
            grid.cell_size, random_state=draw_seed(self.seed), n_jobs=self.n_jobs
        ).fit(train)
        router = Router.to_centers(train[cover.center_indices_], cover.neighbors)
        route = router.route(rows.X[n_train:], self.n_jobs)
        used, cell = np.unique(route, return_inverse=True)
        by_cell = np.split(
            held_out[np.argsort(cell, kind="stable")], np.cumsum(np.bincount(cell))[:-1]
        )
        neighborhoods = [
            np.append(cover.neighborhoods_[center], queries).astype(np.int32)
            for center, queries in zip(used, by_cell, strict=True)
        ]
        assigned = np.append(np.full(n_train, -1), cell).astype(np.int32)
        local = LocalKernel(
            Kernel("rbf"),
            1.0,
            local_gamma=True,
            C_factors=grid.penalties,
            gamma_factors=grid.gamma_factors,
        )
        (scores,) = cross_validate_neighborhoods(
            rows,
            neighborhoods,
            assigned,
            [(np.arange(n_train), held_out)],
            local,
            options,
        )
        return scores

    def stop_if_late(self) -> None:
        """Leave what a solver may not have finished: half a fit says nothing."""
        if self.clock.remaining() == 0:
            raise OutOfTimeError

    def _time_left(self) -> float | None:
        """Seconds left, and more than none, as a parameter has to be."""
        limit = self.clock.remaining()
        return None if limit is None else max(limit, _LEAST_TIME)

    def _introduce(self, model: Any, rows: Rows) -> None:
        """Tell a model what its validation of rows would have."""
        model.classes_ = self.classes
        model.n_features_in_ = rows.X.shape[1]
        model.metric_ = None

    def _first_model(self, n_rows: int, C: float) -> ClusteredSVC:
        n_regions = self.n_regions
        if isinstance(n_regions, str):
            n_regions = default_regions(n_rows, len(self.classes))
        n_regions = min(n_regions, n_rows)
        clusterer = SampledKMeans(
            max_samples=max(_CLUSTERED_ROWS, _CLUSTERED_ROWS_PER_REGION * n_regions),
            max_iter=_CLUSTER_ITERATIONS,
            init="random",
            compute_labels=False,
            random_state=self.seed,
            n_jobs=self.n_jobs,
        )
        return ClusteredSVC(
            n_regions,
            clusterer=clusterer,
            C=C,
            multi_class="crammer_singer",
            intercept_scaling=1.0,
            tol=self.tol,
            max_iter=self.max_iter,
            max_time=self.clock.max_time,
            random_state=self.seed,
            n_jobs=self.n_jobs,
        )


def _metric_rows(class_index: NDArray[np.int32]) -> int | None:
    """Rows to learn a metric from: a sample, unless it could miss all but one class."""
    counts = np.sort(np.bincount(class_index))
    expected = counts[-2] * _METRIC_ROWS / len(class_index)
    return _METRIC_ROWS if expected >= _METRIC_ROWS_PER_CLASS else None


def default_regions(n_rows: int, n_classes: int) -> int:
    """One region per hundred rows, from 20 (one per twenty rows) to 800.

    Where many classes leave the first stage alone, one per class at least: a linear SVM
    parts few of many classes.
    """
    fewest = min(20, n_rows // 20)
    if n_classes > MOST_PAIRED_CLASSES:
        fewest = min(n_classes, n_rows // 20)
    return int(np.clip(n_rows // 100, max(1, fewest), 800))


def typical_distance(X: Any) -> float:
    """Squared distance of a row to the middle of the others: half that of pairs.

    The median over neighbours in the order of the rows, which is random; distances of
    zero are left out.
    """
    step = X - X[np.roll(np.arange(X.shape[0]), 1)]
    distance = np.asarray(row_norms(step, squared=True))
    distance = distance[distance > 0]
    return 0.5 * float(np.median(distance)) if distance.size else 1.0


def densified(X: Any) -> Any:
    """Rows as a dense array, if that is small enough."""
    if not sparse.issparse(X):
        return X
    if X.shape[0] * X.shape[1] * X.dtype.itemsize > LARGEST_DENSE_BYTES:
        return X
    return X.toarray()
