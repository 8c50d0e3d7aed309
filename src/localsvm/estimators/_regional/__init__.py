"""Linear SVMs in regions that share a global one: ClusteredSVC and its kin."""

from localsvm.estimators._regional.bound import GeneralizationBound
from localsvm.estimators._regional.estimator import ClusteredSVC
from localsvm.estimators._regional.gradient_metric import GradientMetric
from localsvm.estimators._regional.leave_one_out import (
    coded_squared_norms,
    confidences,
    leave_one_out_decisions,
    margins,
    signed_duals,
)
from localsvm.estimators._regional.locally_linear import LocallyLinearSVC
from localsvm.estimators._regional.model import RegionalModel
from localsvm.estimators._regional.search import ClusteredSVCCV
from localsvm.estimators._regional.steps import BaseRegionalSVC

__all__ = [
    "BaseRegionalSVC",
    "ClusteredSVC",
    "ClusteredSVCCV",
    "GeneralizationBound",
    "GradientMetric",
    "LocallyLinearSVC",
    "RegionalModel",
    "coded_squared_norms",
    "confidences",
    "leave_one_out_decisions",
    "margins",
    "signed_duals",
]
