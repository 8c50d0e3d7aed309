"""Regions of rows in partitions, from a sample of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from localsvm._seeds import seeded_clone
from localsvm.cluster import ParallelKMeans, SampledKMeans
from localsvm.engine import Block, Partitions, Statistics
from localsvm.passes._clustering import check_n_clusters
from localsvm.rows import RowSample

Weigh = Callable[[Block], NDArray[np.float64]]

_SAMPLED_ROWS = 10_000
_SAMPLED_ROWS_PER_CLUSTER = 50


def own_weight(block: Block) -> NDArray[np.float64]:
    """Weights of rows as they are given."""
    return block.sample_weight


class PartClusterer:
    """Copy of an estimator's clusterer that is fitted to a sample of distinct rows.

    Parameters
    ----------
    clusterer : clusterer or None
        None is :class:`~localsvm.cluster.SampledKMeans`.
    n_clusters : int or "auto"
        For clusterers that have such a parameter; "auto" leaves it as it is.
    seed : int
    name : str, default="n_regions"
        Name of the number of clusters in the estimator.
    """

    def __init__(
        self,
        clusterer: Any,
        n_clusters: int | str,
        seed: int,
        name: str = "n_regions",
    ) -> None:
        self._name = name
        if clusterer is None:
            self._clusterer: Any = SampledKMeans(
                n_clusters, compute_labels=False, random_state=seed
            )
        else:
            self._clusterer = seeded_clone(clusterer, lambda: seed)
            if n_clusters != "auto" and "n_clusters" in self._parameters:
                self._clusterer.set_params(n_clusters=n_clusters)
        self.sample_seed = seed
        if isinstance(self._clusterer, SampledKMeans):
            self.sample_seed = self._clusterer.sample_seed

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

    def fit(self, rows: Partitions, scan: Statistics, weigh: Weigh = own_weight) -> Any:
        """Fit to the sample that the scan has drawn, or by passes over all rows.

        Parameters
        ----------
        rows : Partitions
        scan : dict
        weigh : callable, default=own_weight
            Weights of the rows of a partition, if they are not those given.
        """
        wanted, n_rows = self._parameters.get("n_clusters"), int(scan["n_rows"])
        if isinstance(wanted, int):
            check_n_clusters(self._name, wanted, n_rows)
        sample = RowSample.from_arrays(scan, int(scan["limit"]))
        if isinstance(self._clusterer, ParallelKMeans):
            return self._clusterer.fit_passes(_BlockPasses(rows, weigh))
        if isinstance(self._clusterer, SampledKMeans):
            return self._clusterer.fit_sample(sample)
        if has_fit_parameter(self._clusterer, "sample_weight"):
            self._clusterer.fit(sample.rows, sample_weight=sample.weight)
        else:
            self._clusterer.fit(sample.rows)
        return self._clusterer


def centers_for(what: str, clusterer: Any, cure: str) -> NDArray[Any]:
    """Centres of a fitted clusterer; refuses one that has none."""
    if not hasattr(clusterer, "cluster_centers_"):
        raise ValueError(
            f"{what} of rows in partitions needs a clusterer with cluster_centers_; "
            f"{type(clusterer).__name__} has none. {cure}"
        )
    return np.asarray(clusterer.cluster_centers_)


class _BlockPasses:
    """Passes over the rows and weights of all partitions."""

    def __init__(self, rows: Partitions, weigh: Weigh) -> None:
        self._rows = rows
        self._weigh = weigh

    def reduce(
        self,
        function: Callable[..., Statistics],
        merge: Callable[[Statistics, Statistics], Statistics],
        *arguments: Any,
        stage: str,
    ) -> Statistics:
        return self._rows.reduce(
            _call_on_block, merge, self._weigh, function, *arguments, stage=stage
        )


def _call_on_block(
    block: Block, weigh: Weigh, function: Callable[..., Statistics], *arguments: Any
) -> Statistics:
    return function(block.X, weigh(block), *arguments)
