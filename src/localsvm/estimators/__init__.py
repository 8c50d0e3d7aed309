"""Estimators: one file per method."""

from localsvm.estimators._local import (
    BaseLocalSVC as BaseLocalSVC,
    GlobalModel as GlobalModel,
    LocalSVC,
    LocalSVCCV,
    NeighborSVC,
    Router as Router,
)
from localsvm.estimators._mixture import (
    CenterGate as CenterGate,
    MixtureModel as MixtureModel,
    MixtureSVC,
    SoftmaxGate as SoftmaxGate,
    TwoLevelGate as TwoLevelGate,
)
from localsvm.estimators._reduced import ReducedSVC
from localsvm.estimators._regional import (
    BaseRegionalSVC as BaseRegionalSVC,
    ClusteredSVC,
    ClusteredSVCCV,
    GeneralizationBound,
    GradientMetric,
    LocallyLinearSVC,
    RegionalModel as RegionalModel,
)
from localsvm.estimators._staged import (
    CellModel as CellModel,
    Preparation as Preparation,
    QuantileMap as QuantileMap,
    StagedModel as StagedModel,
    StagedSVC,
)
from localsvm.estimators._support_cluster import (
    ClusterMachine as ClusterMachine,
    SupportClusterSVC,
    as_gaussians as as_gaussians,
)

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
