"""Clusters of the classes in one block, and how those of two are merged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.cluster import (
    GaussianSummary,
    SampledKMeans,
    summarize_classes,
)
from localsvm.engine import Block, Record
from localsvm.passes import Content
from localsvm.rows import hash_rows

# Clusters of a class that are kept while blocks are merged, as a multiple of the most
# that a block has: each reduction makes clusters coarser.
_KEPT = 16


@dataclass(frozen=True)
class Clusters(Record):
    """Gaussian clusters with labels, as arrays that can be saved.

    Attributes
    ----------
    weight, mean, label, covariance
        As in :class:`~localsvm.cluster.GaussianSummary`.
    """

    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    label: NDArray[Any]
    covariance: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, summary: GaussianSummary) -> Clusters:
        """Arrays of a summary."""
        label = np.asarray(summary.label)
        return cls(summary.weight, summary.mean, label, summary.covariance)

    def summary(self) -> GaussianSummary:
        """Build the summary of these arrays."""
        return GaussianSummary(self.weight, self.mean, self.covariance, self.label)


@dataclass(frozen=True)
class BlockClusters(Record):
    """Classes, ranges of the columns and clusters of some blocks.

    Attributes
    ----------
    content : Content
        Without moments.
    most : ndarray of shape (n_classes,)
        Most clusters that one block has of each class.
    wanted : int
        So many clusters of a class are never reduced.
    seed : int
    clusters : Clusters or None
        None if no row has a weight.
    """

    content: Content
    most: NDArray[np.intp]
    wanted: int
    seed: int
    clusters: Clusters | None = None

    def merge(self, other: BlockClusters) -> BlockClusters:
        """Join the clusters of both; reduce them if they are many."""
        content = self.content.merge(other.content)
        classes = content.totals.classes
        joined = BlockClusters(
            content,
            np.maximum(self.most_of(classes), other.most_of(classes)),
            self.wanted,
            self.seed,
        )
        found = [each.clusters for each in (self, other) if each.clusters is not None]
        if not found:
            return joined
        whole = GaussianSummary.concatenated([each.summary() for each in found])
        most = np.maximum(joined.most, self.wanted)
        reduced = _reduce(whole, classes, most, _KEPT, self.seed)
        return replace(joined, most=most, clusters=Clusters.of(reduced))

    def most_of(self, classes: NDArray[Any]) -> NDArray[np.intp]:
        """Most clusters that a block has of each of the classes."""
        return self.content.totals.among(classes, self.most)


def cluster_block(
    block: Block, clusterer: Any, covariance: str, seed: int, n_jobs: int | None
) -> BlockClusters:
    """Cluster each class of a block.

    Parameters
    ----------
    block : Block
    clusterer : clusterer
        A copy is fitted to each class.
    covariance : {"diag", "full", "none"}
    seed : int
    n_jobs : int or None
        Threads over the classes.

    Returns
    -------
    BlockClusters
    """
    content = Content.of(block, moments=False)
    classes = content.totals.classes
    none_yet = np.zeros(len(classes), dtype=np.intp)
    wanted = wanted_clusters(clusterer)
    found = BlockClusters(content, none_yet, wanted, seed)
    if not block.sample_weight.any():
        return found
    summary = summarize_classes(
        clusterer,
        block.X,
        block.y,
        sample_weight=block.sample_weight,
        covariance=covariance,
        seed=seed,
        n_jobs=n_jobs,
    )
    class_index = np.searchsorted(classes, np.asarray(summary.label))
    counts = np.bincount(class_index, minlength=len(classes))
    return replace(found, most=counts, clusters=Clusters.of(summary))


def wanted_clusters(clusterer: Any) -> int:
    """Clusters of a class that a clusterer is asked for; 0 if it finds the number."""
    given = clusterer.get_params()
    wanted = [
        given.get(name) for name in ("n_clusters", "n_components", "max_clusters")
    ]
    return max((each for each in wanted if isinstance(each, int)), default=0)


def finish_merging(found: BlockClusters) -> GaussianSummary:
    """Reduce the clusters of each class to as many as the richest block has."""
    found.content.require_weight()
    assert found.clusters is not None
    summary = found.clusters.summary()
    return _reduce(summary, found.content.totals.classes, found.most, 1, found.seed)


def _reduce(
    clusters: GaussianSummary,
    classes: NDArray[Any],
    most: NDArray[np.intp],
    kept: int,
    seed: int,
) -> GaussianSummary:
    """Cluster the clusters of each class that has more than ``kept * most``."""
    label = np.asarray(clusters.label)
    joined = []
    for own, limit in zip(classes, most.tolist(), strict=True):
        if not (label == own).any():
            continue
        members = clusters.take(label == own)
        if members.n_clusters > kept * limit:
            members = _reduced(members, limit, seed)
        joined.append(members)
    return GaussianSummary.concatenated(joined)


def _reduced(clusters: GaussianSummary, n_clusters: int, seed: int) -> GaussianSummary:
    """Cluster the means by k-means, each with the weight of its cluster.

    Whatever made the clusters of the rows: one pass over few heavy means, as a
    threshold makes it, joins them unevenly and costs up to two points of accuracy.
    """
    clusters = clusters.take(np.argsort(hash_rows(clusters.mean, seed), kind="stable"))
    means = SampledKMeans(
        n_clusters, max_samples=clusters.n_clusters, random_state=seed
    ).fit(clusters.mean, sample_weight=clusters.weight)
    return clusters.merged(np.unique(means.labels_, return_inverse=True)[1])
