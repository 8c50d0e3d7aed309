"""The two stages of the staged SVM, fitted one after the other."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import row_norms

from localsvm._checks import scales_already_told
from localsvm._threads import effective_n_jobs
from localsvm.cluster import SampledKMeans
from localsvm.cluster._neighborhood_cover import cover_rows
from localsvm.cluster._neighbors import fit_search, make_search
from localsvm.estimators._base import StageClock, TrainingRows, check_solution
from localsvm.estimators._clustered import ClusteredSVC
from localsvm.estimators._gradient_metric import GradientMetric
from localsvm.estimators._leave_one_out import (
    coded_squared_norms,
    confidences,
    leave_one_out_decisions,
    margins,
    signed_duals,
)
from localsvm.estimators._local import LocalSVC
from localsvm.estimators._preparation import Preparation
from localsvm.kernels import Kernel
from localsvm.solvers import (
    KernelOptions,
    LabelledRows,
    LocalKernel,
    cross_validate_neighborhoods,
    fit_neighborhoods,
)

# A margin of one is what the hinge asks of a row.
HARD_MARGIN = 1.0
# Above this share of hard rows, all rows are.
LARGEST_HARD_SHARE = 0.4
# Of dense copies of hard rows that came as CSR.
LARGEST_DENSE_BYTES = 1 << 30

_FEWEST_TRIAL_ROWS = 2000
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


@dataclass(frozen=True)
class StagedSetting:
    """What the choice phase decides.

    Attributes
    ----------
    scaling, n_components, metric
        How rows are prepared.
    C : float
        Penalty of the first stage.
    cell_size : int or None
        Rows of a cell of the second stage; None is one model.
    gamma_factor, kernel_C : float
        Width and penalty of the second stage.
    threshold : float
        Confidence up to which the second stage answers; 0 is never, inf always.
    """

    scaling: str
    n_components: int | None
    metric: str | None
    C: float
    cell_size: int | None
    gamma_factor: float
    kernel_C: float
    threshold: float


@dataclass(frozen=True)
class SecondGrid:
    """Settings of the second stage that are tried on the same cells."""

    cell_size: int | None
    gamma_factors: Sequence[float]
    penalties: Sequence[float]


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
class StageSizes:
    """How many rows the second stage takes.

    Attributes
    ----------
    fewest_hard : int
        Fewer hard rows are filled up with the next ones: rows more never hurt, rows
        less do.
    largest_model : int or None
        More rows than this are cut into cells; None is never.
    given : bool
        Whether the user has set ``largest_model``.
    """

    fewest_hard: int = 8000
    largest_model: int | None = 10_000
    given: bool = False

    def shrunk(self, share: float) -> StageSizes:
        """Sizes that treat a part of the rows as these treat all of them."""
        fewest_hard = max(_FEWEST_TRIAL_ROWS, int(share * self.fewest_hard))
        if self.given or self.largest_model is None:
            return replace(self, fewest_hard=fewest_hard)
        largest_model = max(_FEWEST_TRIAL_ROWS, int(share * self.largest_model))
        return StageSizes(fewest_hard, largest_model)

    def hard_rows(self, margin: NDArray[np.float64]) -> NDArray[np.intp]:
        """Rows that a kernel SVM may need: those inside the margin when left out.

        If they are many, all rows; if they are few, those of the smallest margins. The
        set is never cut from above: the rows of the very smallest margins are the
        mislabelled ones, and a model of those alone is worse than none.
        """
        n_rows = len(margin)
        n_hard = int(np.count_nonzero(margin < HARD_MARGIN))
        if n_hard > LARGEST_HARD_SHARE * n_rows:
            return np.arange(n_rows)
        n_kept = min(n_rows, max(n_hard, self.fewest_hard))
        return np.sort(np.argsort(margin, kind="stable")[:n_kept])

    def in_cells(self, n_hard: int) -> bool:
        """Whether the second stage is more than one model."""
        return self.largest_model is not None and n_hard > self.largest_model


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

    def prepare(self, rows: TrainingRows, setting: StagedSetting) -> Preparation:
        """Learn how rows are scaled and, with a metric, turned and stretched."""
        plain = Preparation.learn(
            rows, setting.scaling, setting.n_components, self.seed
        )
        if setting.metric is None:
            return plain
        first = self._first_model(rows.X.shape[0], _METRIC_C)
        first.set_params(max_time=self._time_left())
        learner = GradientMetric(
            **_METRICS[setting.metric],
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

    def fit_first(self, rows: TrainingRows, Cs: Sequence[float]) -> list[FirstStage]:
        """Fit prepared rows for ascending penalties, each from the one before."""
        template = self._first_model(rows.X.shape[0], Cs[0])
        self._introduce(template, rows)
        template._scale(rows)
        clock = StageClock(self.clock.remaining())
        parts = template._cluster(rows, template.n_clusters, self.seed, clock)
        codes = parts[1]
        norms = coded_squared_norms(
            rows.X, codes, template.global_reg, template.intercept_scaling_
        )
        stages: list[FirstStage] = []
        duals = None
        for C, before in zip(Cs, (None, *Cs), strict=False):
            model = copy(template).set_params(C=C)
            start = None if duals is None else duals * (C / before)
            solution = model._solve_parts(
                rows, parts, (C, model.global_reg), self.seed, clock, start
            )
            check_solution(solution, model)
            duals = solution.duals
            decisions = model._model.decide(rows.X, codes, self.n_jobs)
            unseen = leave_one_out_decisions(
                decisions, signed_duals(duals, rows.class_index, model._is_joint), norms
            )
            stages.append(
                FirstStage(
                    model, margins(unseen, rows.class_index), confidences(decisions)
                )
            )
        return stages

    def fit_second(
        self, rows: TrainingRows, setting: StagedSetting, sizes: StageSizes
    ) -> LocalSVC:
        """Fit RBF SVMs to the hard ones of the prepared rows."""
        rows = replace(rows, X=densified(rows.X))
        n_rows = rows.X.shape[0]
        size = setting.cell_size if sizes.in_cells(n_rows) else None
        model = LocalSVC(
            size or n_rows,
            n_assigned=None if size else n_rows,
            C=setting.kernel_C,
            gamma="local" if size else 1.0 / typical_distance(rows.X),
            gamma_factor=setting.gamma_factor,
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
        rows: TrainingRows,
        n_train: int,
        grid: SecondGrid,
        sizes: StageSizes,
    ) -> NDArray[Any]:
        """Decisions for the rows from ``n_train`` on, by models of those before.

        Returns an array of shape (n_settings, n_held_out, n_outputs); settings run
        through the gamma factors and, within, the penalties.
        """
        labelled = LabelledRows(
            densified(rows.X), rows.class_index, rows.penalty_weight, len(self.classes)
        )
        options = KernelOptions(
            tol=self.tol,
            max_iter=max(_FEWEST_STEPS, _STEPS_PER_ROW * n_train),
            n_threads=effective_n_jobs(self.n_jobs),
        )
        if sizes.in_cells(n_train):
            return self._score_cells(labelled, n_train, grid, options)
        return self._score_one_model(labelled, n_train, grid, options)

    def _score_one_model(
        self,
        rows: LabelledRows,
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
            kernel = Kernel("rbf", gamma * pair[0])
            local = LocalKernel(kernel, pair[1])
            models = fit_neighborhoods(train, every_row, local, options)
            return models.decide(train.X, kernel, rows.n_classes, held_out, route, 1)

        settings = list(product(grid.gamma_factors, grid.penalties))
        return np.array([score(setting) for setting in settings])

    def _score_cells(
        self,
        rows: LabelledRows,
        n_train: int,
        grid: SecondGrid,
        options: KernelOptions,
    ) -> NDArray[Any]:
        """Score on cells that cover the held-out rows; settings share their Gram."""
        n_rows = rows.X.shape[0]
        held_out = np.arange(n_train, n_rows)
        assert grid.cell_size is not None
        k = min(n_rows, round(grid.cell_size * n_rows / n_train))
        search = fit_search(make_search("auto", rows.X, k), rows.X)
        cover = cover_rows(rows.X, held_out, search, (k, max(1, k // 4)), self.n_jobs)
        local = LocalKernel(
            Kernel("rbf"),
            1.0,
            local_gamma=True,
            C_factors=grid.penalties,
            gamma_factors=grid.gamma_factors,
        )
        (scores,) = cross_validate_neighborhoods(
            rows,
            cover.neighborhoods,
            cover.labels,
            [(np.arange(n_train), held_out)],
            local,
            options,
        )
        return scores

    def _time_left(self) -> float | None:
        """Seconds left, and more than none, as a parameter has to be."""
        limit = self.clock.remaining()
        return None if limit is None else max(limit, _LEAST_TIME)

    def _introduce(self, model: Any, rows: TrainingRows) -> None:
        """Tell a model what its validation of rows would have."""
        model.classes_ = self.classes
        model.n_features_in_ = rows.X.shape[1]
        model.metric_ = None

    def _first_model(self, n_rows: int, C: float) -> ClusteredSVC:
        n_regions = self.n_regions
        if isinstance(n_regions, str):
            n_regions = default_regions(n_rows)
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


def default_regions(n_rows: int) -> int:
    """One region per hundred rows, from 20 (one per twenty rows) to 800."""
    return int(np.clip(n_rows // 100, max(1, min(20, n_rows // 20)), 800))


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
