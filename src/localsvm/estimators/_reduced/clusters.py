"""Clusters of each class, the first groups of the reduction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.cluster import PDDP, copy_for, hard_labels
from localsvm.rows import Rows, take_rows


def cluster_rows(rows: Rows, clusterer: Any, seed: int) -> NDArray[np.intp]:
    """Cluster each class once, for all tasks."""
    template = PDDP() if clusterer is None else clusterer
    return cluster_classes(
        rows.X, rows.class_index, lambda _, n_rows: copy_for(template, n_rows, seed)
    )


def cluster_classes(
    X: Any,
    class_index: NDArray[np.int32],
    make_clusterer: Callable[[int, int], Any],
) -> NDArray[np.intp]:
    """Cluster the rows of each class.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    class_index : ndarray of shape (n_samples,)
    make_clusterer : callable
        Gives a new clusterer for a class and the number of its rows.

    Returns
    -------
    ndarray of shape (n_samples,)
        From 0; clusters of different classes have different numbers.
    """
    clusters = np.zeros(len(class_index), dtype=np.intp)
    n_clusters = 0
    for label in np.unique(class_index).tolist():
        own = np.flatnonzero(class_index == label)
        rows = take_rows(X, own)
        clusterer = make_clusterer(label, len(own)).fit(rows)
        clusters[own] = n_clusters + hard_labels(clusterer, rows)
        n_clusters = int(clusters.max()) + 1
    return clusters
