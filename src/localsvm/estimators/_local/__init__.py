"""Kernel SVMs in neighbourhoods: LocalSVC, NeighborSVC, LocalSVCCV."""

from localsvm.estimators._local.base import BaseLocalSVC
from localsvm.estimators._local.estimator import LocalSVC
from localsvm.estimators._local.fit import (
    LocalFit,
    LocalOptions,
    LocalSettings,
    cover_neighborhoods,
    fit_local,
)
from localsvm.estimators._local.local_cv import LocalSVCCV
from localsvm.estimators._local.model import GlobalModel, LocalModel, Router
from localsvm.estimators._local.neighbor import NeighborIndex, NeighborSVC

__all__ = [
    "BaseLocalSVC",
    "GlobalModel",
    "LocalFit",
    "LocalModel",
    "LocalOptions",
    "LocalSVC",
    "LocalSVCCV",
    "LocalSettings",
    "NeighborIndex",
    "NeighborSVC",
    "Router",
    "cover_neighborhoods",
    "fit_local",
]
