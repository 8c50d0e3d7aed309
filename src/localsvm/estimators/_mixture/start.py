"""Where a mixture of linear SVMs starts: clusters, and soft gates between them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from localsvm._threads import single_threaded_libraries
from localsvm.cluster import NearestCenters
from localsvm.estimators._mixture.gates import (
    CenterGate,
    Gate,
    Mask,
    SoftmaxGate,
    TwoLevelGate,
)
from localsvm.rows import held_out_by_content

# The sharpness tau="scale", times the mean squared distance of a row to its centre.
SCALED_TAU = 4.0

# Rows above which early_stopping="auto" sets some aside.
_EARLY_STOPPING_ROWS = 10_000

_GATES: dict[str, type[SoftmaxGate] | type[CenterGate]] = {
    "softmax": SoftmaxGate,
    "paper": CenterGate,
}


@dataclass(frozen=True)
class HoldOut:
    """Which rows are set aside, by their content: copies stay together.

    Attributes
    ----------
    fraction : float
        0 sets no row aside.
    seed : int
    is_asked : bool, default=True
        Whether the user wants rows to be set aside, whatever they are.
    """

    fraction: float
    seed: int
    is_asked: bool = True

    @classmethod
    def of(cls, model: Any, n_samples: int, seed: int) -> HoldOut:
        """Take what the parameters of a mixture ask for."""
        wanted, is_asked = model.early_stopping, model.early_stopping != "auto"
        if not is_asked:
            wanted = n_samples > _EARLY_STOPPING_ROWS
        return cls(model.validation_fraction if wanted else 0.0, seed, is_asked)

    def rows(self, X: Any) -> Mask:
        """Whether each row is set aside."""
        return held_out_by_content(X, self.fraction, self.seed)

    def accepts(
        self,
        training_counts: NDArray[Any],
        validation_counts: NDArray[Any],
        n_samples: int,
    ) -> bool:
        """Whether a split has rows to validate, and rows of each class to train on.

        Few different rows may leave none of either: copies stay together. Raises where
        the user has asked for the split.

        Parameters
        ----------
        training_counts, validation_counts : ndarray of shape (n_classes,)
            Rows with a weight.
        n_samples : int
            Rows that were given.
        """
        lost = (training_counts == 0) & (validation_counts > 0)
        if self.fraction == 0 or (validation_counts.any() and not lost.any()):
            return True
        if self.is_asked:
            raise ValueError(
                f"early_stopping with validation_fraction={self.fraction} leaves "
                f"{int(training_counts.sum())} of {n_samples} rows for training and "
                f"{int(validation_counts.sum())} for validation; expected rows of "
                "every class to train on and at least one to validate. Set "
                "early_stopping=False."
            )
        return False


def assign_to_centers(
    X: Any, centers: NDArray[Any], n_jobs: int | None
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Nearest centre of each row, and the squared distance to it."""
    search = NearestCenters(centers, X.dtype, n_jobs)
    labels, scores = search.search(X, 1)
    return labels[:, 0], search.squared_distances(X, scores[:, 0])


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
