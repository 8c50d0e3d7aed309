"""NeighborSVC: an SVM on the neighbours of each query."""

from localsvm.estimators._local.neighbor.estimator import NeighborIndex, NeighborSVC

__all__ = ["NeighborIndex", "NeighborSVC"]
