"""Estimators: one file per method."""

from localsvm.estimators._clustered import ClusteredSVC
from localsvm.estimators._clustered_cv import ClusteredSVCCV
from localsvm.estimators._generalization_bound import GeneralizationBound
from localsvm.estimators._gradient_metric import GradientMetric
from localsvm.estimators._local import LocalSVC
from localsvm.estimators._local_cv import LocalSVCCV
from localsvm.estimators._locally_linear import LocallyLinearSVC
from localsvm.estimators._mixture import MixtureSVC
from localsvm.estimators._neighbor import NeighborSVC
from localsvm.estimators._reduced import ReducedSVC
from localsvm.estimators._staged import StagedSVC
from localsvm.estimators._support_cluster import SupportClusterSVC

__all__ = [
    "ClusteredSVC",
    "ClusteredSVCCV",
    "GeneralizationBound",
    "GradientMetric",
    "LocalSVC",
    "LocalSVCCV",
    "LocallyLinearSVC",
    "MixtureSVC",
    "NeighborSVC",
    "ReducedSVC",
    "StagedSVC",
    "SupportClusterSVC",
]
