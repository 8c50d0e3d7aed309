"""GradientMetric: columns weighted by the gradients of linear SVMs in regions."""

from localsvm.estimators._regional.gradient_metric.estimator import GradientMetric

__all__ = ["GradientMetric"]
