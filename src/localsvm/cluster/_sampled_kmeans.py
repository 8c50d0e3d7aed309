"""k-means on a sample of distinct rows that depends on their content alone."""

from __future__ import annotations

import math
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning

from localsvm._checks import (
    check_parameters,
    integer,
    level_of_caller,
    one_of,
)
from localsvm._seeds import draw_seed
from localsvm._threads import single_threaded_libraries
from localsvm.cluster._base import BaseClusterer, check_enough_rows
from localsvm.rows import RowSample, distinct_rows, merge_weights, take_rows

_SAMPLED_ROWS_PER_CLUSTER = 50
_SEEDING_ROWS_PER_CLUSTER = 5
_AUTO_ROWS_PER_CLUSTER = 20


class SampledKMeans(BaseClusterer):
    """k-means whose result does not depend on row order, copies or threads.

    Rows are hashed by content. Equal rows are merged into one with the sum of their
    weights, and the distinct rows with the smallest hashes, in hash order, are the
    sample that scikit-learn's k-means++ and :class:`~sklearn.cluster.KMeans` see. So a
    row of weight two equals the row twice, shuffled rows give the same centres bit for
    bit, and the cost of fitting does not grow with the number of rows.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of centres; fewer are found when there are fewer distinct rows. "auto"
        is the square root of the number of distinct rows, at most one per 20 of them.
    max_samples : int or None, default=None
        Distinct rows that take part. None means ``max(10_000, 50 * n_clusters)``.
    max_iter : int, default=20
        Lloyd iterations.
    init : {"k-means++", "random"}, default="k-means++"
        Where they begin. "random" takes the first rows of the sample, which costs
        nothing; good enough where there are hundreds of centres.
    compute_labels : bool, default=True
        Whether ``fit`` also assigns every row (one pass over the data).
    random_state : int, RandomState instance or None, default=None
        Chooses the sample and the seeds.
    n_jobs : int or None, default=None
        Threads that assign rows.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_centers, n_features)
    labels_ : ndarray of shape (n_samples,)
        Only if ``compute_labels``.
    n_sampled_ : int
        Distinct rows that took part.
    n_iter_ : int
        Lloyd iterations run.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    sklearn.cluster.MiniBatchKMeans : Streams all rows; depends on their order.

    Notes
    -----
    Hashing reads the data once. Fitting costs O(s k d) per Lloyd iteration with s
    sampled rows; k-means++ runs on the first ``max(1000, 5 k)`` of them. Clustering
    uses one thread, since the order of scikit-learn's sums depends on the number of
    threads.

    Examples
    --------
    >>> import numpy as np
    >>> from localsvm.cluster import SampledKMeans
    >>> X = np.array([[0.0], [0.2], [5.0], [5.2]])
    >>> centers = SampledKMeans(2, random_state=0).fit(X).cluster_centers_
    >>> sorted(centers.ravel().round(1).tolist())
    [0.1, 5.1]
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        max_samples: int | None = None,
        max_iter: int = 20,
        init: str = "k-means++",
        compute_labels: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_samples = max_samples
        self.max_iter = max_iter
        self.init = init
        self.compute_labels = compute_labels
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, weight: NDArray[np.float64]) -> None:
        if self.n_clusters != "auto":
            check_enough_rows(X, int(self.n_clusters))
        seed = draw_seed(self.random_state)
        first, kind = distinct_rows(X, weight, seed)
        row_weight = merge_weights(weight, kind)
        n_clusters = self._n_clusters(len(first))
        limit = self._sample_size(n_clusters)
        self._cluster(take_rows(X, first[:limit]), row_weight[:limit], n_clusters, seed)
        if self.compute_labels:
            self.labels_ = self._assign(X)

    def sample_limit(self, n_rows: int) -> int:
        """How many distinct rows of so many rows can take part.

        Parameters
        ----------
        n_rows : int
            Number of all rows.

        Returns
        -------
        int
        """
        wanted = math.isqrt(n_rows) + 1 if self.n_clusters == "auto" else 0
        return self._sample_size(wanted or int(self.n_clusters))

    @property
    def sample_seed(self) -> int:
        """Seed of the hashes that choose the sample; needs an int ``random_state``."""
        return draw_seed(self.random_state)

    def fit_sample(self, sample: RowSample) -> Self:
        """Find the centres from a sample that was drawn part by part.

        Parameters
        ----------
        sample : RowSample
            Drawn with ``sample_seed`` and at least ``sample_limit``.

        Returns
        -------
        self : SampledKMeans
            As ``fit`` on all rows gives it, up to the rounding of the weights. With
            ``n_clusters="auto"``, the number of distinct rows is estimated if they are
            more than the limit.
        """
        self._check_parameters()
        self.n_features_in_ = sample.rows.shape[1]
        n_clusters = self._n_clusters(sample.n_distinct)
        own = slice(self._sample_size(n_clusters))
        rows, weight = sample.rows[own], sample.weight[own]
        self._cluster(rows, weight, n_clusters, self.sample_seed)
        return self

    def _sample_size(self, n_clusters: int) -> int:
        wanted = max(10_000, _SAMPLED_ROWS_PER_CLUSTER * n_clusters)
        return self.max_samples or wanted

    def _cluster(
        self, rows: Any, weight: NDArray[np.float64], n_clusters: int, seed: int
    ) -> None:
        self.n_sampled_ = rows.shape[0]
        centers, self.n_iter_ = self._lloyd(rows, weight, n_clusters, seed)
        self.cluster_centers_ = centers

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            n_clusters=integer(1) | one_of("auto"),
            max_samples=one_of(None) | integer(1),
            max_iter=integer(1),
            init=one_of("k-means++", "random"),
        )

    def _n_clusters(self, n_distinct: int) -> int:
        if self.n_clusters == "auto":
            few = n_distinct // _AUTO_ROWS_PER_CLUSTER
            return max(1, min(few, round(math.sqrt(n_distinct))))
        if n_distinct < int(self.n_clusters):
            warnings.warn(
                f"Only {n_distinct} distinct rows for {self.n_clusters} clusters: "
                f"{n_distinct} centres are used.",
                ConvergenceWarning,
                stacklevel=level_of_caller(),
            )
        return min(n_distinct, int(self.n_clusters))

    def _lloyd(
        self, rows: Any, row_weight: NDArray[np.float64], n_clusters: int, seed: int
    ) -> tuple[NDArray[Any], int]:
        n_clusters = min(n_clusters, rows.shape[0])
        with single_threaded_libraries(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            seeds = self._seeds(rows, row_weight, n_clusters, seed)
            kmeans = KMeans(
                n_clusters,
                init=seeds.toarray() if sparse.issparse(seeds) else seeds,
                n_init=1,
                max_iter=self.max_iter,
                tol=1e-3,
                copy_x=False,
                random_state=seed,
            ).fit(rows, sample_weight=row_weight)
        return kmeans.cluster_centers_, int(kmeans.n_iter_)

    def _seeds(
        self, rows: Any, row_weight: NDArray[np.float64], n_clusters: int, seed: int
    ) -> Any:
        if self.init == "random":
            return rows[:n_clusters]
        n_seeding = max(1000, _SEEDING_ROWS_PER_CLUSTER * n_clusters)
        seeds, _ = kmeans_plusplus(
            rows[:n_seeding],
            n_clusters,
            sample_weight=row_weight[:n_seeding],
            random_state=seed,
        )
        return seeds
