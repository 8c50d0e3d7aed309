"""Linear SVMs in regions that share a global one: ClusteredSVC and its kin."""

from localsvm.estimators._regional.base import BaseRegionalSVC
from localsvm.estimators._regional.bound import GeneralizationBound
from localsvm.estimators._regional.estimator import ClusteredSVC
from localsvm.estimators._regional.fit import find_regions, fit_regional
from localsvm.estimators._regional.gradient_metric import (
    GradientMetric,
    MetricSettings,
    SwapMetric,
    gradient_second_moment,
    learn_metric,
    swap_metric,
)
from localsvm.estimators._regional.leave_one_out import (
    confidences,
    margins,
    unseen_decisions,
)
from localsvm.estimators._regional.locally_linear import LocallyLinearSVC
from localsvm.estimators._regional.model import (
    Coded,
    RegionalFit,
    RegionalModel,
    RegionalSettings,
    Regions,
)
from localsvm.estimators._regional.search import ClusteredSVCCV
from localsvm.estimators._regional.solve import FitOptions, solve_regions

__all__ = [
    "BaseRegionalSVC",
    "ClusteredSVC",
    "ClusteredSVCCV",
    "Coded",
    "FitOptions",
    "GeneralizationBound",
    "GradientMetric",
    "LocallyLinearSVC",
    "MetricSettings",
    "RegionalFit",
    "RegionalModel",
    "RegionalSettings",
    "Regions",
    "SwapMetric",
    "confidences",
    "find_regions",
    "fit_regional",
    "gradient_second_moment",
    "learn_metric",
    "margins",
    "solve_regions",
    "swap_metric",
    "unseen_decisions",
]
