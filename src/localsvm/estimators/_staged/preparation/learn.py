"""Learn preparations: the scaling, and a metric that linear SVMs teach."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm._clock import StageClock
from localsvm.estimators._endings import check_finite
from localsvm.estimators._regional import (
    GradientMetric,
    MetricSettings,
    gradient_second_moment,
    learn_metric,
)
from localsvm.estimators._staged.preparation.columns import ColumnCode
from localsvm.estimators._staged.preparation.model import Preparation
from localsvm.estimators._staged.setting import StageOptions
from localsvm.estimators._staged.terms.regions import solve_region_rows
from localsvm.rows import Rows

_METRIC_C = 10.0
_METRIC_ROWS = 50_000
_METRIC_ROWS_PER_CLASS = 20
_METRICS = {
    "full": MetricSettings(power=0.5, diagonal=False),
    "diagonal": MetricSettings(power=1.0, diagonal=True),
}
METRICS = (None, *_METRICS)

Moment = NDArray[np.float64]


class HowPrepared(Protocol):
    """What a preparation is learned by; a setting of the staged SVM is one."""

    @property
    def scaling(self) -> str: ...
    @property
    def n_components(self) -> int | None: ...
    @property
    def gradient_metric(self) -> str | None: ...


class Preparations:
    """Preparations of the same rows; what several need is learned once.

    The code of the columns serves all of them. The first step of a metric, full or
    diagonal, is the same for one scaling: the gradients of one model.

    Parameters
    ----------
    rows : Rows
        Distinct, in random order.
    options : StageOptions
        Which columns are categories; how a call runs is said by its own options.
    """

    def __init__(self, rows: Rows, options: StageOptions) -> None:
        self._rows = rows
        self._columns: ColumnCode | None = None
        if not sparse.issparse(rows.X):
            self._columns = ColumnCode.learn(rows, options.categorical)
        self._plain: dict[tuple[str, int | None], Preparation] = {}
        self._first: dict[tuple[str, int | None], Moment] = {}

    def learn(self, how: HowPrepared, options: StageOptions) -> Preparation:
        """Learn how rows are scaled and, with a metric, turned and stretched."""
        plain = self.learn_scaling(how, options)
        if how.gradient_metric is None:
            return plain
        settings = _METRICS[how.gradient_metric]
        rows = self._metric_rows(plain, options)
        fit = learn_metric(
            rows,
            settings,
            lambda mapped: _moment(replace(rows, X=mapped), options),
            StageClock(options.time_left),
            options.n_jobs,
            self._first_moment(how, rows, options),
        )
        parameters: dict[str, Any] = {
            "max_rows": _METRIC_ROWS,
            "random_state": options.seed,
            "n_jobs": options.n_jobs,
        }
        return plain.then(GradientMetric.of_fit(fit, settings, **parameters))

    def learn_scaling(
        self, how: HowPrepared, options: StageOptions, *, metric: bool = False
    ) -> Preparation:
        """Learn the preparation before the metric; also the metric's first step."""
        key = how.scaling, how.n_components
        if key not in self._plain:
            self._plain[key] = Preparation.learn(
                self._rows, *key, options.seed, self._columns
            )
        plain = self._plain[key]
        if metric:
            self._first_moment(how, self._metric_rows(plain, options), options)
        return plain

    def _first_moment(
        self, how: HowPrepared, rows: Rows, options: StageOptions
    ) -> Moment:
        key = how.scaling, how.n_components
        if key not in self._first:
            self._first[key] = _moment(rows, options)
        return self._first[key]

    def _metric_rows(self, plain: Preparation, options: StageOptions) -> Rows:
        """Prepare the rows that the metric learns from: the first, or all."""
        rows = self._rows
        n_rows = _n_metric_rows(rows.class_index)
        if n_rows is not None and n_rows < rows.n_rows:
            rows = rows.take(slice(n_rows))
        return prepare_single(plain, rows, options)


def prepare_single(preparation: Preparation, rows: Rows, options: StageOptions) -> Rows:
    """Prepare rows in float32: of unit size they need no more to be compared."""
    prepared = preparation.apply(rows.X, options.n_jobs)
    return replace(rows, X=prepared.astype(np.float32, copy=False))


def _moment(rows: Rows, options: StageOptions) -> Moment:
    """Mean of g g' over prepared rows; gradients that are not exact are as good."""
    fit = solve_region_rows(rows, _METRIC_C, options)
    check_finite(fit.solution)
    return gradient_second_moment(fit.model, fit.coded.codes, rows.sample_weight)


def _n_metric_rows(class_index: NDArray[np.int32]) -> int | None:
    """Rows to learn a metric from: a sample, unless it could miss all but one class."""
    counts = np.sort(np.bincount(class_index))
    expected = counts[-2] * _METRIC_ROWS / len(class_index)
    return _METRIC_ROWS if expected >= _METRIC_ROWS_PER_CLASS else None
