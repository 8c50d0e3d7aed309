"""Clusters of rows in blocks, and their centres."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import has_fit_parameter

from localsvm._seeds import seeded_clone
from localsvm.cluster import HardRegions, ParallelKMeans, SampledKMeans
from localsvm.engine import Block, Blocks, Record, record_of
from localsvm.exceptions import DataError
from localsvm.passes._survey import Survey, count_rows, survey_block
from localsvm.rows import RowSample

Merged = TypeVar("Merged", bound=Record)
Weigh = Callable[[Block], NDArray[np.float64]]

_SAMPLED_ROWS = 10_000
_SAMPLED_ROWS_PER_CLUSTER = 50


def own_weight(block: Block) -> NDArray[np.float64]:
    """Weights of rows as they are given."""
    return block.sample_weight


class BlockClusterer:
    """Copy of a clusterer that is fitted to blocks of rows.

    Parameters
    ----------
    clusterer : clusterer or None
        None is :class:`~localsvm.cluster.SampledKMeans`. A ``random_state`` of None is
        replaced by the seed.
    n_clusters : int or "auto"
        For clusterers that have such a parameter; "auto" leaves it as it is.
    seed : int
    name : str, default="n_regions"
        Name of the number of clusters in the estimator.
    n_jobs : int or None, default=None
        Threads of the default clusterer.
    """

    def __init__(
        self,
        clusterer: Any,
        n_clusters: int | str,
        seed: int,
        name: str = "n_regions",
        n_jobs: int | None = None,
    ) -> None:
        self._name = name
        self._n_clusters = n_clusters
        if clusterer is None:
            self._clusterer: Any = SampledKMeans(
                n_clusters, compute_labels=False, random_state=seed, n_jobs=n_jobs
            )
        else:
            self._clusterer = seeded_clone(clusterer, lambda: seed)
            if n_clusters != "auto" and "n_clusters" in self._parameters:
                self._clusterer.set_params(n_clusters=n_clusters)
        self.sample_seed = seed

    @property
    def _parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = self._clusterer.get_params()
        return parameters

    def sample_limit(self, n_rows: int) -> int:
        """Rows of the sample, at most."""
        if isinstance(self._clusterer, SampledKMeans):
            return self._clusterer.sample_limit(n_rows)
        wanted = self._parameters.get("n_clusters")
        per_cluster = wanted * _SAMPLED_ROWS_PER_CLUSTER if wanted else 0
        return max(_SAMPLED_ROWS, per_cluster)

    def sampling(self, n_rows: int) -> tuple[int, int]:
        """Seed and size of the sample, for blocks that are not in memory."""
        seed = self.sample_seed
        if isinstance(self._clusterer, SampledKMeans):
            seed = self._clusterer.sample_seed
        return seed, self.sample_limit(n_rows)

    def survey(self, blocks: Blocks, *, sampled: bool | None = None) -> Survey:
        """Survey the blocks, and draw the sample that :meth:`fit_blocks` needs.

        Parameters
        ----------
        blocks : Blocks
        sampled : bool or None, default=None
            Whether to draw a sample; None draws one unless the rows are in memory.
        """
        seed, limit = self.sample_seed, 0
        if isinstance(self._clusterer, SampledKMeans) and not blocks.is_in_memory:
            seed = self._clusterer.sample_seed
        if sampled or (sampled is None and not blocks.is_in_memory):
            limit = self.sample_limit(count_rows(blocks))
        return blocks.reduce(survey_block, seed, limit, stage="scan")

    def fit_blocks(
        self, blocks: Blocks, survey: Survey, weigh: Weigh = own_weight
    ) -> Any:
        """Fit to all rows in memory, or else to a sample of distinct rows.

        :class:`~localsvm.cluster.ParallelKMeans` passes over all rows of the blocks.

        Parameters
        ----------
        blocks : Blocks
        survey : Survey
            Of the blocks, from :meth:`survey`.
        weigh : callable, default=own_weight
            Weights of the rows of a block, if they are not those given.
        """
        for wanted in (self._n_clusters, self._parameters.get("n_clusters")):
            if isinstance(wanted, int | np.integer):
                check_n_clusters(self._name, int(wanted), survey.n_rows)
        if blocks.is_in_memory:
            (fitted,) = blocks.map(_fit_to_block, self._clusterer, weigh, stage="fit")
            return fitted
        assert survey.sample is not None
        return self._fit_outside(blocks, survey.sample, weigh)

    def _fit_outside(self, blocks: Blocks, sample: RowSample, weigh: Weigh) -> Any:
        if isinstance(self._clusterer, ParallelKMeans):
            return self._clusterer.fit_passes(_BlockPasses(blocks, weigh))
        if isinstance(self._clusterer, SampledKMeans):
            return self._clusterer.fit_sample(sample)
        return _fit_weighted(self._clusterer, sample.rows, sample.weight)


def check_n_clusters(name: str, n_clusters: int, n_rows: int) -> None:
    """Raise if there are fewer rows than clusters."""
    if n_rows < n_clusters:
        raise DataError(f"n_samples={n_rows} should be >= {name}={n_clusters}.")


def _fit_to_block(block: Block, clusterer: Any, weigh: Weigh) -> Any:
    return _fit_weighted(clusterer, block.X, weigh(block))


def _fit_weighted(clusterer: Any, X: Any, weight: NDArray[np.float64]) -> Any:
    """Fit with weights, or to the rows of positive weight."""
    if has_fit_parameter(clusterer, "sample_weight"):
        return clusterer.fit(X, sample_weight=weight)
    present = weight > 0
    return clusterer.fit(X if present.all() else X[present])


@dataclass(frozen=True)
class ClusterSums(Record):
    """Rows of some blocks, added up by cluster.

    Attributes
    ----------
    sums : ndarray of shape (n_clusters, n_features)
    mass : ndarray of shape (n_clusters,)
    """

    sums: NDArray[Any]
    mass: NDArray[np.float64]

    def merge(self, other: ClusterSums) -> ClusterSums:
        """Add up; the later clusters may be missing in one of them."""
        n_clusters = max(len(self.mass), len(other.mass))
        sums = np.zeros((n_clusters, self.sums.shape[1]), self.sums.dtype)
        mass = np.zeros(n_clusters)
        for each in (self, other):
            sums[: len(each.mass)] += each.sums
            mass[: len(each.mass)] += each.mass
        return ClusterSums(sums, mass)


def sum_clusters(block: Block, clusterer: Any) -> ClusterSums:
    """Add up the rows of a block by the label that the clusterer predicts."""
    labels = HardRegions(clusterer).assign(block.X)
    members = sparse.csr_array(
        (block.sample_weight, (labels, np.arange(len(labels)))),
        shape=(labels.max() + 1, len(labels)),
    )
    sums = members @ block.X
    dense = sums.toarray() if sparse.issparse(sums) else np.asarray(sums)
    return ClusterSums(dense, np.asarray(members.sum(axis=1)).ravel())


def cluster_centers(blocks: Blocks, clusterer: Any) -> NDArray[Any]:
    """``cluster_centers_`` of a fitted clusterer, or the means of its clusters."""
    centers = getattr(clusterer, "cluster_centers_", None)
    if centers is not None:
        return np.asarray(centers)
    found = blocks.reduce(sum_clusters, clusterer, stage="centers")
    present = found.mass > 0
    return np.asarray(found.sums[present] / found.mass[present, np.newaxis])


def centers_for(what: str, clusterer: Any, cure: str) -> NDArray[Any]:
    """Centres of a fitted clusterer; refuses one that has none."""
    if not hasattr(clusterer, "cluster_centers_"):
        raise ValueError(
            f"{what} of rows in blocks needs a clusterer with cluster_centers_; "
            f"{type(clusterer).__name__} has none. {cure}"
        )
    return np.asarray(clusterer.cluster_centers_)


class _BlockPasses:
    """Passes over the rows and weights of all blocks."""

    def __init__(self, blocks: Blocks, weigh: Weigh) -> None:
        self._blocks = blocks
        self._weigh = weigh

    def reduce(
        self, function: Callable[..., Merged], *arguments: Any, stage: str
    ) -> Merged:
        merged: Merged = self._blocks.reduce(
            _call_on_block,
            self._weigh,
            function,
            *arguments,
            stage=stage,
            record=record_of(function),
        )
        return merged


def _call_on_block(
    block: Block, weigh: Weigh, function: Callable[..., Merged], *arguments: Any
) -> Merged:
    return function(block.X, weigh(block), *arguments)
