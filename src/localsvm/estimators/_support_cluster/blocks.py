"""Clusters of the classes in one partition, and how those of two are joined."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._checks import check_squares, column_range
from localsvm.cluster import (
    GaussianSummary,
    SampledKMeans,
    summarize_classes,
)
from localsvm.engine import Block, Statistics
from localsvm.rows import hash_rows

# Clusters of a class that are kept while partitions are merged, as a multiple of the
# most that a partition has: each reduction makes clusters coarser.
_KEPT = 16


def summarize_part(
    block: Block, clusterer: Any, covariance: str, seed: int
) -> Statistics:
    """Classes, ranges of the columns and Gaussian clusters of a partition."""
    check_squares(block.X)
    low, high = column_range(block.X)
    found = {"classes": np.unique(block.y), "low": low, "high": high}
    if not block.sample_weight.any():
        return found
    summary = summarize_classes(
        clusterer,
        block.X,
        block.y,
        sample_weight=block.sample_weight,
        covariance=covariance,
        seed=seed,
    )
    counts = _counts(np.asarray(summary.label), found["classes"])
    return found | _as_arrays(summary, counts)


def wanted_clusters(clusterer: Any) -> int:
    """Clusters of a class that a clusterer is asked for; 0 if it finds the number."""
    given = clusterer.get_params()
    wanted = [
        given.get(name) for name in ("n_clusters", "n_components", "max_clusters")
    ]
    return max((each for each in wanted if isinstance(each, int)), default=0)


def merge_parts(
    first: Statistics, second: Statistics, wanted: int, seed: int
) -> Statistics:
    """Join the clusters of two groups of partitions; reduce them if they are many.

    ``wanted`` clusters of a class are never reduced.
    """
    found = {
        "classes": np.union1d(first["classes"], second["classes"]),
        "low": np.minimum(first["low"], second["low"]),
        "high": np.maximum(first["high"], second["high"]),
    }
    parts = [part for part in (first, second) if "weight" in part]
    if not parts:
        return found
    whole = GaussianSummary.concatenated([_as_summary(part) for part in parts])
    most = np.max([_most_of(part, found["classes"]) for part in parts], axis=0)
    most = np.maximum(most, wanted)
    return found | _reduce(whole, found["classes"], most, _KEPT, seed)


def finish_merging(found: Statistics, seed: int) -> GaussianSummary:
    """Reduce the clusters of each class to as many as the richest partition has."""
    summary, classes = _as_summary(found), found["classes"]
    most = _most_of(found, classes)
    return _as_summary(_reduce(summary, classes, most, 1, seed))


def _as_summary(part: Statistics) -> GaussianSummary:
    """Clusters of :func:`summarize_part` and :func:`merge_parts`."""
    if "weight" not in part:
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return GaussianSummary(
        part["weight"], part["mean"], part.get("covariance"), part["label"]
    )


def _as_arrays(summary: GaussianSummary, most: NDArray[np.intp]) -> Statistics:
    arrays = {
        "weight": summary.weight,
        "mean": summary.mean,
        "label": np.asarray(summary.label),
        "most": most,
    }
    if summary.covariance is not None:
        arrays["covariance"] = summary.covariance
    return arrays


def _counts(label: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    return np.bincount(np.searchsorted(classes, label), minlength=len(classes))


def _most_of(part: Statistics, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Most clusters that a partition has of each of the classes."""
    most = np.zeros(len(classes), dtype=np.intp)
    most[np.searchsorted(classes, part["classes"])] = part["most"]
    return most


def _reduce(
    clusters: GaussianSummary,
    classes: NDArray[Any],
    most: NDArray[np.intp],
    kept: int,
    seed: int,
) -> Statistics:
    """Cluster the clusters of each class that has more than ``kept * most``."""
    label = np.asarray(clusters.label)
    joined = []
    for own, limit in zip(classes, most.tolist(), strict=True):
        members = clusters.take(label == own)
        if members.n_clusters > kept * limit:
            members = _reduced(members, limit, seed)
        if members.n_clusters:
            joined.append(members)
    return _as_arrays(GaussianSummary.concatenated(joined), most)


def _reduced(clusters: GaussianSummary, n_clusters: int, seed: int) -> GaussianSummary:
    """Cluster the means by k-means, each with the weight of its cluster.

    Whatever made the clusters of the rows: one pass over few heavy means, as a
    threshold makes it, joins them unevenly and costs up to two points of accuracy.
    """
    clusters = clusters.take(np.argsort(hash_rows(clusters.mean, seed), kind="stable"))
    means = SampledKMeans(
        n_clusters, max_samples=clusters.n_clusters, random_state=seed
    ).fit(clusters.mean, sample_weight=clusters.weight)
    return clusters.merged(_from_zero(means.labels_))


def _from_zero(labels: Any) -> NDArray[np.intp]:
    return np.unique(labels, return_inverse=True)[1]
