"""Large non-linear classification by many small SVMs instead of one big one."""

from localsvm.estimators import (
    ClusteredSVC,
    ClusteredSVCCV,
    GeneralizationBound,
    GradientMetric,
    LocallyLinearSVC,
    LocalSVC,
    LocalSVCCV,
    MixtureSVC,
    NeighborSVC,
    ReducedSVC,
    StagedSVC,
    SupportClusterSVC,
)
from localsvm.export import load, save

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
    "load",
    "save",
]
__version__ = "0.1.0"
