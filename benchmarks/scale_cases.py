"""The fits of ``scale_out.py``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

GB = 1_000_000_000
MILLION = 1_000_000


@dataclass(frozen=True)
class Case:
    """One fit: of what, on how many rows, where."""

    method: str
    n_rows: int
    workers: int = 1
    driver: str = "threads"
    n_classes: int = 7
    limit: int = 2 * GB
    settings: dict[str, Any] = field(default_factory=dict)


def cases() -> list[Case]:
    """All fits. The smallest of a method is what its cost model is taken from."""
    return [
        Case("SGDClassifier", 20 * MILLION),
        Case("SupportClusterSVC", 2 * MILLION),
        *_on_one_and_two("SupportClusterSVC", 20 * MILLION, "threads"),
        *_on_one_and_two("SupportClusterSVC", 20 * MILLION, "dask"),
        *_on_one_and_two("ClusteredSVC", 2 * MILLION, "threads"),
        *_on_one_and_two("ClusteredSVC", 2 * MILLION, "dask"),
        Case("ClusteredSVC", 20 * MILLION, workers=2),
        *_of_two_classes("LocalSVC", {}),
        *_of_two_classes("MixtureSVC", {}),
        *_of_two_classes("ReducedSVC", {"kernel": "linear"}),
    ]


def _on_one_and_two(method: str, n_rows: int, driver: str) -> list[Case]:
    return [Case(method, n_rows, workers, driver) for workers in (1, 2)]


def _of_two_classes(method: str, settings: dict[str, Any]) -> list[Case]:
    sizes = ((MILLION // 10, 1), (MILLION // 2, 1), (MILLION // 2, 2))
    return [
        Case(method, n_rows, workers, n_classes=2, settings=settings)
        for n_rows, workers in sizes
    ]
