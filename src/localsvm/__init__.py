"""Large non-linear classification by many small SVMs instead of one big one.

The names below are enough for most uses; searches and rarer methods are in
``localsvm.estimators``. All are imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from localsvm.estimators import (
        AdditiveSVC,
        ClusteredSVC,
        GradientMetric,
        LocalSVC,
        MixtureSVC,
        ReducedSVC,
        StagedSVC,
        SupportClusterSVC,
    )
    from localsvm.export import compile, load, save

__all__ = [
    "AdditiveSVC",
    "ClusteredSVC",
    "GradientMetric",
    "LocalSVC",
    "MixtureSVC",
    "ReducedSVC",
    "StagedSVC",
    "SupportClusterSVC",
    "compile",
    "load",
    "save",
]
__version__ = "0.1.0"
_FILES = ("compile", "load", "save")
_SUBMODULES = (
    *("cluster", "data", "engine", "estimators", "exceptions", "export", "federated"),
    *("inspect", "kernels", "serve"),
)


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: the command line is quick to start."""
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    folder = "export" if name in _FILES else "estimators"
    return getattr(import_module(f"{__name__}.{folder}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES})
