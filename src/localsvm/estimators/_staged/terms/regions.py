"""The regions: linear SVMs in soft regions of prepared rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from localsvm._clock import StageClock
from localsvm.cluster import SampledKMeans
from localsvm.estimators._endings import check_solution
from localsvm.estimators._regional import (
    ClusteredSVC,
    FitOptions,
    RegionalFit,
    RegionalSettings,
    fit_regional,
)
from localsvm.estimators._staged.setting import MOST_PAIRED_CLASSES, StageOptions
from localsvm.rows import Rows

# Hundreds of regions need no careful clustering: accuracies are the same, at a third of
# the cost.
_CLUSTERED_ROWS, _CLUSTERED_ROWS_PER_REGION, _CLUSTER_ITERATIONS = 10_000, 20, 10


def fit_regions(
    rows: Rows,
    Cs: Sequence[float],
    options: StageOptions,
    start: RegionalFit | None = None,
) -> Iterator[tuple[RegionalFit, dict[str, float]]]:
    """Fit soft regions for ascending penalties, each from the one before.

    Yields each fit, and the seconds so far by stage. ``start`` is a fit of the same
    rows, whose regions are used again.
    """
    clock = StageClock(options.clock.remaining())
    for C in Cs:
        start = solve_region_rows(rows, C, options, start, clock)
        check_solution(start.solution, options)
        yield start, clock.seconds


def solve_region_rows(
    rows: Rows,
    C: float,
    options: StageOptions,
    start: RegionalFit | None = None,
    clock: StageClock | None = None,
) -> RegionalFit:
    """Fit soft regions for one penalty; its solution may have stopped early."""
    n_regions = _n_regions(rows, options)
    settings = RegionalSettings(
        C,
        n_regions=n_regions,
        clusterer=_clusterer(n_regions, options),
        joint=rows.n_classes > 2,
    )
    run = FitOptions(
        seed=options.seed,
        tol=options.tol,
        max_iter=options.n_passes,
        n_jobs=options.n_jobs,
        clock=clock or StageClock(options.clock.remaining()),
        cancel=options.cancel,
    )
    return fit_regional(rows, settings, run, start=start)


def region_estimator(rows: Rows, C: float, options: StageOptions) -> ClusteredSVC:
    """Unfitted estimator of the regions."""
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


def default_regions(n_rows: int, n_classes: int) -> int:
    """One region per hundred rows, from 20 (one per twenty rows) to 800.

    Where many classes leave only the first stage, one per class at least: a linear SVM
    parts few of many classes.
    """
    fewest = min(20, n_rows // 20)
    if n_classes > MOST_PAIRED_CLASSES:
        fewest = min(n_classes, n_rows // 20)
    return int(np.clip(n_rows // 100, max(1, fewest), 800))
