"""Kernel SVMs in neighbourhoods: LocalSVC, NeighborSVC."""

from localsvm.estimators._local.estimator import LocalSVC
from localsvm.estimators._local.neighbor import NeighborSVC
from localsvm.estimators._local.prior import GlobalModel
from localsvm.estimators._local.router import Router
from localsvm.estimators._local.search import LocalSVCCV
from localsvm.estimators._local.steps import BaseLocalSVC

__all__ = [
    "BaseLocalSVC",
    "GlobalModel",
    "LocalSVC",
    "LocalSVCCV",
    "NeighborSVC",
    "Router",
]
