"""Estimators: one folder per family of methods; ``METHODS`` lists them."""

from localsvm.estimators._additive import (
    AdditiveModel as AdditiveModel,
    AdditiveSVC,
    ColumnBins as ColumnBins,
    ColumnEffect,
)
from localsvm.estimators._base import (
    BaseLocalClassifier as BaseLocalClassifier,
    winning_labels as winning_labels,
)
from localsvm.estimators._costs import CostClassifier
from localsvm.estimators._local import (
    BaseLocalSVC as BaseLocalSVC,
    GlobalModel as GlobalModel,
    LocalModel as LocalModel,
    LocalSVC,
    LocalSVCCV,
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
    SwapMetric,
    swap_metric,
)
from localsvm.estimators._registry import (
    DEFAULT_METHOD as DEFAULT_METHOD,
    METHODS as METHODS,
    MethodInfo as MethodInfo,
    method_named as method_named,
    method_of as method_of,
    specs_of_family as specs_of_family,
)
from localsvm.estimators._staged import (
    ColumnCode as ColumnCode,
    Preparation as Preparation,
    QuantileMap as QuantileMap,
    RegionAnswer as RegionAnswer,
    StagedSVC,
    SumModel as SumModel,
    SwitchModel as SwitchModel,
    joined_lists as joined_lists,
)
from localsvm.estimators._support_cluster import (
    ClusterMachine as ClusterMachine,
    SupportClusterSVC,
)
from localsvm.estimators._updates import UpdateReport
from localsvm.estimators._views import ColumnParts as ColumnParts

__all__ = [
    "AdditiveSVC",
    "ClusteredSVC",
    "ClusteredSVCCV",
    "ColumnEffect",
    "CostClassifier",
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
    "SwapMetric",
    "UpdateReport",
    "swap_metric",
]
