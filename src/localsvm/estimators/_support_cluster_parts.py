"""Clusters of the classes in one partition, and how those of two are joined."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from localsvm._checks import check_squares, column_range
from localsvm.cluster import (
    GaussianSummary,
    ThresholdClustering,
    summarize_classes,
)
from localsvm.cluster._distinct import hash_rows
from localsvm.cluster._summarize import copy_for
from localsvm.engine import Block, Statistics


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
    return found | _as_arrays(summary)


def merge_parts(
    first: Statistics, second: Statistics, clusterer: Any, seed: int
) -> Statistics:
    """Join the clusters of each class and reduce them by the clusterer again."""
    found = {
        "classes": np.union1d(first["classes"], second["classes"]),
        "low": np.minimum(first["low"], second["low"]),
        "high": np.maximum(first["high"], second["high"]),
    }
    parts = [as_summary(part) for part in (first, second) if "weight" in part]
    if not parts:
        return found
    whole = GaussianSummary.concatenated(parts)
    label = np.asarray(whole.label)
    joined = [
        _reduced(
            whole.take(label == own),
            max(int(np.sum(np.asarray(part.label) == own)) for part in parts),
            clusterer,
            seed,
        )
        for own in np.unique(label)
    ]
    return found | _as_arrays(GaussianSummary.concatenated(joined))


def as_summary(part: Statistics) -> GaussianSummary:
    """Clusters of :func:`summarize_part` and :func:`merge_parts`."""
    if "weight" not in part:
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return GaussianSummary(
        part["weight"], part["mean"], part.get("covariance"), part["label"]
    )


def _as_arrays(summary: GaussianSummary) -> Statistics:
    arrays = {
        "weight": summary.weight,
        "mean": summary.mean,
        "label": np.asarray(summary.label),
    }
    if summary.covariance is not None:
        arrays["covariance"] = summary.covariance
    return arrays


def _reduced(
    clusters: GaussianSummary, larger: int, clusterer: Any, seed: int
) -> GaussianSummary:
    """Cluster the means, each with the weight of its cluster, in a random order."""
    clusters = clusters.take(np.argsort(hash_rows(clusters.mean, seed), kind="stable"))
    if has_fit_parameter(clusterer, "sample_weight"):
        copy = copy_for(clusterer, clusters.n_clusters, seed)
    else:
        # A mixture cannot count a cluster by its weight.
        copy = ThresholdClustering(larger)
    copy.fit(clusters.mean, sample_weight=clusters.weight)
    return clusters.merged(_from_zero(copy.labels_))


def _from_zero(labels: Any) -> NDArray[np.intp]:
    return np.unique(labels, return_inverse=True)[1]
