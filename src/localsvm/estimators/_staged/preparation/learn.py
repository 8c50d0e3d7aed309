"""Learn a preparation: the scaling, and a metric that linear SVMs teach."""

from __future__ import annotations

import warnings
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from localsvm._checks import scales_already_told
from localsvm.estimators._regional import GradientMetric
from localsvm.estimators._staged.preparation.model import Preparation
from localsvm.estimators._staged.setting import StageOptions
from localsvm.estimators._staged.terms.regions import region_estimator
from localsvm.rows import Rows

_METRIC_C = 10.0
_METRIC_ROWS = 50_000
_METRIC_ROWS_PER_CLASS = 20
_METRICS: dict[str, dict[str, Any]] = {
    "full": {"power": 0.5, "diagonal": False},
    "diagonal": {"power": 1.0, "diagonal": True},
}
METRICS = (None, *_METRICS)


class HowPrepared(Protocol):
    """What a preparation is learned by; a setting of the staged SVM is one."""

    @property
    def scaling(self) -> str: ...
    @property
    def n_components(self) -> int | None: ...
    @property
    def gradient_metric(self) -> str | None: ...


def learn_preparation(
    rows: Rows, setting: HowPrepared, options: StageOptions
) -> Preparation:
    """Learn how rows are scaled and, with a metric, turned and stretched."""
    plain = Preparation.learn(
        rows,
        setting.scaling,
        setting.n_components,
        options.seed,
        options.categorical,
    )
    if setting.gradient_metric is None:
        return plain
    regions = region_estimator(rows, _METRIC_C, options)
    metric = GradientMetric(
        **_METRICS[setting.gradient_metric],
        estimator=regions.set_params(max_time=options.time_left),
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


def _metric_rows(class_index: NDArray[np.int32]) -> int | None:
    """Rows to learn a metric from: a sample, unless it could miss all but one class."""
    counts = np.sort(np.bincount(class_index))
    expected = counts[-2] * _METRIC_ROWS / len(class_index)
    return _METRIC_ROWS if expected >= _METRIC_ROWS_PER_CLASS else None
