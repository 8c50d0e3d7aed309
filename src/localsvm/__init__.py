"""Large non-linear classification by many small SVMs instead of one big one."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
_FILES = ("load", "save")


def __getattr__(name: str) -> Any:
    """Import an estimator when it is first used: the command line is quick to start."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    folder = "export" if name in _FILES else "estimators"
    return getattr(import_module(f"{__name__}.{folder}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
