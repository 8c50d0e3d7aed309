"""The fits of ``scale_out.py``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

GB = 1_000_000_000
MILLION = 1_000_000


@dataclass(frozen=True)
class Case:
    """One fit: of what, on how many rows, where."""

    method: str
    n_rows: int
    n_classes: int = 2
    workers: int = 1
    driver: str = "threads"
    limit: int = 2 * GB
    settings: dict[str, Any] = field(default_factory=dict)


# Rows from which the cost model of a method is taken, and rows to check it with.
SIZES = {
    "SupportClusterSVC": (2 * MILLION, 20 * MILLION),
    "ClusteredSVC": (2 * MILLION, 20 * MILLION),
}


def cases() -> list[Case]:
    """All fits, the short ones first."""
    made = [Case("SGDClassifier", 20 * MILLION)]
    for method, sizes in SIZES.items():
        for n_rows in sizes:
            one = Case(method, n_rows)
            made += [one, replace(one, workers=2)]
            if n_rows == 20 * MILLION:
                made += [
                    replace(one, driver="dask", workers=workers) for workers in (1, 2)
                ]
    made.append(Case("ClusteredSVC", 20 * MILLION, n_classes=7, workers=2))
    return made
