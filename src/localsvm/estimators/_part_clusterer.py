"""Regions of rows in partitions, from a sample of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.utils.validation import has_fit_parameter

from localsvm._seeds import seeded_clone
from localsvm.cluster import ParallelKMeans, SampledKMeans
from localsvm.cluster._row_sample import RowSample
from localsvm.engine import Block, Partitions, Statistics

_SAMPLED_ROWS = 10_000
_SAMPLED_ROWS_PER_CLUSTER = 50


class PartClusterer:
    """Copy of an estimator's clusterer that is fitted to a sample of distinct rows.

    Parameters
    ----------
    model : ClusteredSVC
    seed : int
    """

    def __init__(self, model: Any, seed: int) -> None:
        self._soft = model.assignment == "soft"
        self._n_clusters = model.n_clusters
        if model.clusterer is None:
            self._clusterer: Any = SampledKMeans(
                model.n_clusters, compute_labels=False, random_state=seed
            )
        else:
            self._clusterer = seeded_clone(model.clusterer, lambda: seed)
            if model.n_clusters != "auto" and "n_clusters" in self._parameters:
                self._clusterer.set_params(n_clusters=model.n_clusters)
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

    def fit(self, rows: Partitions, scan: Statistics) -> Any:
        """Fit to the sample that the scan has drawn, or by passes over all rows."""
        wanted, n_rows = self._parameters.get("n_clusters"), int(scan["n_rows"])
        if isinstance(wanted, int) and n_rows < wanted:
            raise ValueError(f"n_samples={n_rows} should be >= n_clusters={wanted}.")
        sample = RowSample.from_arrays(scan, int(scan["limit"]))
        if isinstance(self._clusterer, ParallelKMeans):
            return self._clusterer.fit_passes(_BlockPasses(rows))
        if isinstance(self._clusterer, SampledKMeans):
            return self._clusterer.fit_sample(sample)
        if has_fit_parameter(self._clusterer, "sample_weight"):
            self._clusterer.fit(sample.rows, sample_weight=sample.weight)
        else:
            self._clusterer.fit(sample.rows)
        if self._soft and not hasattr(self._clusterer, "cluster_centers_"):
            raise ValueError(
                "Soft assignment of rows in partitions needs a clusterer with "
                f"cluster_centers_; {type(self._clusterer).__name__} has none. Use "
                "assignment='hard', or another clusterer."
            )
        return self._clusterer


class _BlockPasses:
    """Passes over the rows and weights of all partitions."""

    def __init__(self, rows: Partitions) -> None:
        self._rows = rows

    def reduce(
        self,
        function: Callable[..., Statistics],
        merge: Callable[[Statistics, Statistics], Statistics],
        *arguments: Any,
        stage: str,
    ) -> Statistics:
        return self._rows.reduce(
            _call_on_block, merge, function, *arguments, stage=stage
        )


def _call_on_block(
    block: Block, function: Callable[..., Statistics], *arguments: Any
) -> Statistics:
    return function(block.X, block.sample_weight, *arguments)
