"""Estimators: one file per method."""

from localsvm.estimators._clustered import ClusteredSVC
from localsvm.estimators._clustered_cv import ClusteredSVCCV
from localsvm.estimators._generalization_bound import GeneralizationBound

__all__ = ["ClusteredSVC", "ClusteredSVCCV", "GeneralizationBound"]
