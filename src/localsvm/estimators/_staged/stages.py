"""The steps of a fit of the staged SVM: prepare the rows, first stage, second stage."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import row_norms

from localsvm._checks import check_squares, scales_already_told
from localsvm._clock import StageClock
from localsvm._seeds import draw_seed
from localsvm.cluster import SampledKMeans, neighborhood_sizes
from localsvm.estimators._base import check_solution
from localsvm.estimators._local import (
    LocalFit,
    LocalOptions,
    LocalSettings,
    LocalSVC,
    fit_local,
)
from localsvm.estimators._regional import (
    ClusteredSVC,
    FitOptions,
    GradientMetric,
    RegionalFit,
    RegionalSettings,
    confidences,
    fit_regional,
    margins,
    unseen_decisions,
)
from localsvm.estimators._staged.preparation import Preparation
from localsvm.estimators._staged.setting import (
    MOST_PAIRED_CLASSES,
    StagedSetting,
    StageOptions,
)
from localsvm.kernels import Kernel
from localsvm.rows import MergedRows, Rows
from localsvm.solvers import LocalKernel

# Of dense copies of hard rows that came as CSR.
LARGEST_DENSE_BYTES = 1 << 30

# Hundreds of regions need no careful clustering: accuracies are the same, at a third of
# the cost.
_CLUSTERED_ROWS, _CLUSTERED_ROWS_PER_REGION, _CLUSTER_ITERATIONS = 10_000, 20, 10

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
class FirstStage:
    """Soft regions of linear SVMs, and their decisions on the training rows.

    Attributes
    ----------
    fit : RegionalFit
    margin : ndarray of shape (n_rows,)
        Lead of each training row's own class when the row is left out.
    confidence : ndarray of shape (n_rows,)
        Lead of the class that wins, the row being seen.
    seconds : dict of str to float
        Seconds of the fit by stage.
    """

    fit: RegionalFit
    margin: NDArray[np.float64]
    confidence: NDArray[np.float64]
    seconds: dict[str, float]


@dataclass(frozen=True)
class SecondStage:
    """RBF SVMs of the hard rows.

    Attributes
    ----------
    fit : LocalFit
    rows : Rows
        The hard ones of the prepared rows.
    merged : MergedRows
        Those that the preparation has left distinct.
    seconds : dict of str to float
        Seconds of the fit by stage.
    """

    fit: LocalFit
    rows: Rows
    merged: MergedRows
    seconds: dict[str, float]

    @property
    def is_support(self) -> NDArray[np.bool_]:
        """Whether each of the rows is a support vector of any cell."""
        return np.isin(self.merged.kind, self.fit.support)


def learn_preparation(
    rows: Rows, setting: StagedSetting, options: StageOptions
) -> Preparation:
    """Learn how rows are scaled and, with a metric, turned and stretched."""
    plain = Preparation.learn(rows, setting.scaling, setting.n_components, options.seed)
    if setting.gradient_metric is None:
        return plain
    regions = first_stage_estimator(rows, _METRIC_C, options)
    metric = GradientMetric(
        **_METRICS[setting.gradient_metric],
        estimator=regions.set_params(max_time=_time_left(options)),
        max_rows=_metric_rows(rows.class_index),
        random_state=options.seed,
        n_jobs=options.n_jobs,
    )
    with scales_already_told():
        # A metric of gradients that are not exact is as good.
        warnings.simplefilter("ignore", ConvergenceWarning)
        metric.fit(
            plain.apply(rows.X, options.n_jobs), rows.class_index, rows.sample_weight
        )
    return plain.then(metric)


def fit_first(
    rows: Rows, Cs: Sequence[float], options: StageOptions
) -> list[FirstStage]:
    """Fit prepared rows for ascending penalties, each from the one before."""
    n_regions = _n_regions(rows, options)
    settings = RegionalSettings(
        Cs[0],
        n_regions=n_regions,
        clusterer=_clusterer(n_regions, options),
        joint=rows.n_classes > 2,
    )
    run = FitOptions(
        seed=options.seed,
        tol=options.tol,
        max_iter=options.n_passes,
        n_jobs=options.n_jobs,
        clock=StageClock(options.clock.remaining()),
    )
    stages: list[FirstStage] = []
    fit = None
    for C in Cs:
        fit = fit_regional(rows, replace(settings, C=C), run, start=fit)
        check_solution(fit.solution, options)
        decisions = fit.decide_training_rows(rows.X, options.n_jobs)
        unseen = unseen_decisions(rows, fit, decisions)
        stages.append(
            FirstStage(
                fit,
                margins(unseen, rows.class_index),
                confidences(decisions),
                run.clock.seconds,
            )
        )
    return stages


def fit_second(
    rows: Rows, setting: StagedSetting, cell_size: int | None, options: StageOptions
) -> SecondStage:
    """Fit RBF SVMs to the hard ones of the prepared rows, in cells or as one."""
    rows = replace(rows, X=densified(rows.X))
    check_squares(rows.X)
    gamma = 1.0 if cell_size else 1.0 / typical_distance(rows.X)
    kernel = Kernel("rbf", gamma * setting.gamma_factor)
    settings = LocalSettings(
        *neighborhood_sizes(*_cover_sizes(rows, cell_size), rows.n_rows),
        LocalKernel(kernel, setting.kernel_C, local_gamma=cell_size is not None),
        route="center",
    )
    run = LocalOptions(
        draw_seed(options.seed),
        options.tol,
        n_jobs=options.n_jobs,
        clock=StageClock(_time_left(options)),
    )
    with run.clock.stage("merge"):
        merged = rows.merged(run.seed)
    fit = fit_local(merged.rows, settings, run)
    check_solution(fit.report.endings, replace(options, max_iter=None))
    return SecondStage(fit, rows, merged, run.clock.seconds)


def _cover_sizes(rows: Rows, cell_size: int | None) -> tuple[int, int | None]:
    """Rows of a cell, and how many of them it answers; one cell answers all."""
    return (cell_size, None) if cell_size else (rows.n_rows, rows.n_rows)


def second_stage_estimator(
    second: SecondStage,
    setting: StagedSetting,
    cell_size: int | None,
    options: StageOptions,
) -> LocalSVC:
    """Unfitted estimator of the second stage."""
    n_neighbors, n_assigned = _cover_sizes(second.rows, cell_size)
    gamma: Any = second.fit.model.kernel.gamma
    if cell_size:
        gamma = ("local", setting.gamma_factor)
    return LocalSVC(
        n_neighbors,
        n_assigned=n_assigned,
        C=setting.kernel_C,
        gamma=gamma,
        route="center",
        tol=options.tol,
        max_time=options.max_time,
        random_state=options.seed,
        n_jobs=options.n_jobs,
    )


def first_stage_estimator(rows: Rows, C: float, options: StageOptions) -> ClusteredSVC:
    """Unfitted estimator of the first stage."""
    n_regions = _n_regions(rows, options)
    return ClusteredSVC(
        n_regions,
        clusterer=_clusterer(n_regions, options),
        C=C,
        multi_class="crammer_singer",
        intercept_scaling=1.0,
        tol=options.tol,
        max_iter=options.n_passes,
        max_time=options.max_time,
        random_state=options.seed,
        n_jobs=options.n_jobs,
    )


def _n_regions(rows: Rows, options: StageOptions) -> int:
    n_regions = options.n_regions
    if isinstance(n_regions, str):
        n_regions = default_regions(rows.n_rows, rows.n_classes)
    return min(n_regions, rows.n_rows)


def _clusterer(n_regions: int, options: StageOptions) -> SampledKMeans:
    return SampledKMeans(
        max_samples=max(_CLUSTERED_ROWS, _CLUSTERED_ROWS_PER_REGION * n_regions),
        max_iter=_CLUSTER_ITERATIONS,
        init="random",
        compute_labels=False,
        random_state=options.seed,
        n_jobs=options.n_jobs,
    )


def _time_left(options: StageOptions) -> float | None:
    """Seconds left, and more than none, as a parameter has to be."""
    limit = options.clock.remaining()
    return None if limit is None else max(limit, _LEAST_TIME)


def _metric_rows(class_index: NDArray[np.int32]) -> int | None:
    """Rows to learn a metric from: a sample, unless it could miss all but one class."""
    counts = np.sort(np.bincount(class_index))
    expected = counts[-2] * _METRIC_ROWS / len(class_index)
    return _METRIC_ROWS if expected >= _METRIC_ROWS_PER_CLASS else None


def default_regions(n_rows: int, n_classes: int) -> int:
    """One region per hundred rows, from 20 (one per twenty rows) to 800.

    Where many classes leave only the first stage, one per class at least: a linear SVM
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
