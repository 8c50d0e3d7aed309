"""Where a mixture of linear SVMs starts: clusters, and soft gates between them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from localsvm._threads import single_threaded_libraries
from localsvm.cluster._centers import NearestCenters
from localsvm.estimators._base import TrainingRows
from localsvm.estimators._gates import CenterGate, Gate, SoftmaxGate, TwoLevelGate

# The sharpness tau="scale", times the mean squared distance of a row to its centre.
SCALED_TAU = 4.0

_GATES: dict[str, type[SoftmaxGate] | type[CenterGate]] = {
    "softmax": SoftmaxGate,
    "paper": CenterGate,
}


def assign_to_centers(
    rows: TrainingRows, centers: NDArray[Any], n_jobs: int | None
) -> tuple[NDArray[np.int32], float]:
    """Nearest centre of each row, and the mean squared distance to it."""
    search = NearestCenters(centers, rows.X.dtype, n_jobs)
    labels, scores = search.search(rows.X, 1)
    distance = search.squared_distances(rows.X, scores[:, 0])
    return labels[:, 0], float(np.average(distance, weights=rows.sample_weight))


def scaled_tau(mean_distance: float) -> float:
    """Sharpness that follows the data; 1 where every row lies on its centre."""
    return SCALED_TAU / mean_distance if mean_distance > 0 else 1.0


def start_gate(
    kind: str,
    centers: NDArray[Any],
    sizes: NDArray[np.float64],
    tau: float,
    n_groups: int | str,
    seed: int,
) -> tuple[Gate, NDArray[np.intp]]:
    """Gate that is softest between the centres; on two levels if there are groups.

    Groups are found by k-means on the centres.

    Returns
    -------
    gate : Gate
    order : ndarray of shape (n_components,)
        The gate's j-th component is the ``order[j]``-th centre.
    """
    make = _GATES[kind].at
    if n_groups == 1:
        return make(centers, tau), np.arange(len(centers))
    wide = np.asarray(centers, dtype=np.float64)
    wanted = round(math.sqrt(len(wide))) if n_groups == "auto" else int(n_groups)
    with single_threaded_libraries():
        grouping = KMeans(min(wanted, len(wide)), n_init=10, random_state=seed).fit(
            wide, sample_weight=np.maximum(sizes, 1e-12)
        )
    members = [
        np.flatnonzero(grouping.labels_ == g) for g in range(grouping.n_clusters)
    ]
    members = [group for group in members if len(group)]
    top = np.stack([_mean(wide[group], sizes[group]) for group in members])
    gate = TwoLevelGate(
        make(top, tau), tuple(make(wide[group], tau) for group in members)
    )
    return gate, np.concatenate(members)


def _mean(centers: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[Any]:
    weights = sizes if sizes.any() else None
    return np.asarray(np.average(centers, axis=0, weights=weights))
