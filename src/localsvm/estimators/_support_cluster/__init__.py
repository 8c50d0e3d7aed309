"""SupportClusterSVC: an SVM whose rows are clusters."""

from localsvm.estimators._support_cluster.estimator import SupportClusterSVC
from localsvm.estimators._support_cluster.fit import SupportClusterFit
from localsvm.estimators._support_cluster.model import ClusterMachine, as_gaussians

__all__ = [
    "ClusterMachine",
    "SupportClusterFit",
    "SupportClusterSVC",
    "as_gaussians",
]
