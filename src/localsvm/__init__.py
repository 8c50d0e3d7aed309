"""Large non-linear classification by many small SVMs instead of one big one.

The names below are enough for most uses. Searches and rarer methods are in
``localsvm.estimators``; other submodules are imported when they are first used.
"""

from importlib import import_module
from typing import Any

from localsvm.estimators import (
    ClusteredSVC,
    GradientMetric,
    LocalSVC,
    MixtureSVC,
    ReducedSVC,
    StagedSVC,
    SupportClusterSVC,
)
from localsvm.export import load, save

__all__ = [
    "ClusteredSVC",
    "GradientMetric",
    "LocalSVC",
    "MixtureSVC",
    "ReducedSVC",
    "StagedSVC",
    "SupportClusterSVC",
    "load",
    "save",
]
__version__ = "0.1.0"

_SUBMODULES = (
    *("cluster", "data", "engine", "estimators", "exceptions", "export", "federated"),
    *("inspect", "kernels", "serve", "tune"),
)


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES})
