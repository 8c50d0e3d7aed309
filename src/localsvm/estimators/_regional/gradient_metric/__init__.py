"""Columns weighted by gradients of linear SVMs in regions, or by swaps of columns."""

from localsvm.estimators._regional.gradient_metric.estimator import GradientMetric
from localsvm.estimators._regional.gradient_metric.steps import (
    MetricSettings,
    gradient_second_moment,
    learn_metric,
)
from localsvm.estimators._regional.gradient_metric.swap import SwapMetric, swap_metric

__all__ = [
    "GradientMetric",
    "MetricSettings",
    "SwapMetric",
    "gradient_second_moment",
    "learn_metric",
    "swap_metric",
]
