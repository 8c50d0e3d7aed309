"""Estimators: one folder per family of methods; ``METHODS`` lists them."""

from localsvm.estimators._local import (
    BaseLocalSVC as BaseLocalSVC,
    GlobalModel as GlobalModel,
    LocalModel as LocalModel,
    LocalSVC,
    LocalSVCCV,
    NeighborIndex as NeighborIndex,
    NeighborSVC,
    Router as Router,
)
from localsvm.estimators._mixture import (
    CenterGate as CenterGate,
    LinearGate as LinearGate,
    MixtureModel as MixtureModel,
    MixtureSVC,
    PaperGate,
    SoftmaxGate,
    TwoLevelGate as TwoLevelGate,
)
from localsvm.estimators._reduced import (
    ReducedModel as ReducedModel,
    ReducedSVC,
    Reduction,
)
from localsvm.estimators._regional import (
    BaseRegionalSVC as BaseRegionalSVC,
    ClusteredSVC,
    ClusteredSVCCV,
    GeneralizationBound,
    GradientMetric,
    LocallyLinearSVC,
    RegionalModel as RegionalModel,
)
from localsvm.estimators._registry import (
    DEFAULT_METHOD as DEFAULT_METHOD,
    METHODS as METHODS,
    MethodInfo as MethodInfo,
    method_named as method_named,
    method_of as method_of,
)
from localsvm.estimators._staged import (
    Preparation as Preparation,
    QuantileMap as QuantileMap,
    StagedModel as StagedModel,
    StagedSVC,
)
from localsvm.estimators._support_cluster import (
    ClusterMachine as ClusterMachine,
    SupportClusterFit as SupportClusterFit,
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
    "PaperGate",
    "ReducedSVC",
    "Reduction",
    "SoftmaxGate",
    "StagedSVC",
    "SupportClusterSVC",
]
