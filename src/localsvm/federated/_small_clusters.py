"""Statistical disclosure control: no small clusters, no exact counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.cluster import GaussianSummary
from localsvm.federated._privacy import MinimumSize


@dataclass(frozen=True)
class CoarseClusters:
    """Clusters of enough rows each, with rounded weights, and what was left out.

    Attributes
    ----------
    summary : GaussianSummary
    cells : ndarray of shape (n_clusters,) or None
    dropped : dict
        Rounded count of the rows of each class that was left out.
    """

    summary: GaussianSummary
    cells: NDArray[np.int64] | None
    dropped: dict[Any, float]


def coarsen(
    summary: GaussianSummary, cells: NDArray[np.int64] | None, level: MinimumSize
) -> CoarseClusters:
    """Join small clusters, drop small classes, round the weights.

    O(K² d) for the K clusters of a class.
    """
    joined, cells, dropped = join_small(summary, cells, least_rows(summary, level))
    return CoarseClusters(
        replace(
            joined,
            weight=np.maximum(_rounded(joined.weight, level), float(level.round_to)),
        ),
        cells,
        {
            label: float(_rounded(np.float64(rows), level))
            for label, rows in dropped.items()
        },
    )


def least_rows(summary: GaussianSummary, level: MinimumSize) -> int:
    """Fewest rows of a cluster: mean and covariance of d rows span these rows."""
    if summary.covariance_type == "full":
        return max(level.k, 2 * summary.n_features)
    return level.k


def join_small(
    summary: GaussianSummary, cells: NDArray[np.int64] | None, least: int
) -> tuple[GaussianSummary, NDArray[np.int64] | None, dict[Any, float]]:
    """Join clusters below ``least`` rows; classes that cannot reach it are dropped.

    Returns
    -------
    summary : GaussianSummary
        Exact: what the rows of the joined clusters would give.
    cells : ndarray or None
        A joined cluster has the cell of the one that the others were added to.
    dropped : dict
        Exact count of the rows of each class that was left out.
    """
    label = np.asarray(summary.label)
    target = np.arange(summary.n_clusters)
    dropped: dict[Any, float] = {}
    for each in np.unique(label):
        own = np.flatnonzero(label == each)
        rows = float(summary.weight[own].sum())
        if rows < least:
            dropped[each.item()] = rows
            target[own] = -1
        else:
            target[own] = own[_targets(summary.take(own), least)]
    kept = np.flatnonzero(target >= 0)
    if not kept.size:
        raise ValueError(
            f"Each class has fewer than {least} rows, the fewest that may be shared."
        )
    survivors, groups = np.unique(target[kept], return_inverse=True)
    return (
        summary.take(kept).merged(groups),
        None if cells is None else cells[survivors],
        dropped,
    )


def _targets(summary: GaussianSummary, least: int) -> NDArray[np.intp]:
    """Which cluster each one ends in: the smallest goes to the nearest, repeatedly."""
    weight, mean = summary.weight.copy(), summary.mean.copy()
    target = np.arange(summary.n_clusters)
    while weight.min() < least:
        small = int(weight.argmin())
        distance = np.square(mean - mean[small]).sum(axis=1)
        distance[np.isinf(weight)] = np.inf  # those that were joined to others
        distance[small] = np.inf
        near = int(distance.argmin())
        total = weight[near] + weight[small]
        mean[near] += (mean[small] - mean[near]) * (weight[small] / total)
        weight[near], weight[small] = total, np.inf
        target[target == small] = near
    return target


def _rounded(weight: Any, level: MinimumSize) -> Any:
    return np.round(weight / level.round_to) * level.round_to
