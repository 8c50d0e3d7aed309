"""k-means on all rows, by passes that only add up what blocks of them say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import kmeans_plusplus

from localsvm._checks import (
    check_parameters,
    integer,
    real,
)
from localsvm._record import Record
from localsvm._seeds import draw_seed
from localsvm._threads import map_in_threads, single_threaded_libraries
from localsvm.cluster._base import BaseClusterer, check_enough_rows
from localsvm.cluster._centers import NearestCenters
from localsvm.rows import RowSample

Merged = TypeVar("Merged", bound=Record)

_BLOCK_ROWS = 1 << 16


class Passes(Protocol):
    """Blocks of rows that can be passed over again and again."""

    def reduce(
        self, function: Callable[..., Merged], *arguments: Any, stage: str
    ) -> Merged:
        """Merge ``function(X, weight, *arguments)`` of all blocks, in their order."""


@dataclass(frozen=True)
class DrawnRows(Record):
    """Rows that were drawn as candidates.

    Attributes
    ----------
    rows : ndarray of shape (n_drawn, n_features)
    key : ndarray of shape (n_drawn,)
        A row stays while this is below ``wanted`` over ``distance``.
    distance : float
        Weighted sum of squared distances of all rows from the candidates before.
    wanted : float
        Rows to draw.
    """

    rows: NDArray[Any]
    key: NDArray[np.float64]
    distance: float
    wanted: float

    def merge(self, other: DrawnRows) -> DrawnRows:
        """Join the rows, without those that the sum of the distances sorts out."""
        total = self.distance + other.distance
        rows = np.concatenate([self.rows, other.rows])
        key = np.concatenate([self.key, other.key])
        if total > 0:
            kept = key < self.wanted / total
        else:
            kept = np.arange(len(key)) == (np.argmin(key) if len(key) else -1)
        return DrawnRows(rows[kept], key[kept], total, self.wanted)


@dataclass(frozen=True)
class Shares(Record):
    """Weight of the rows that are nearest to each centre."""

    weight: NDArray[np.float64]

    def merge(self, other: Shares) -> Shares:
        """Add up."""
        return Shares(self.weight + other.weight)


@dataclass(frozen=True)
class CenterSums(Record):
    """Rows by their nearest centre, added up.

    Attributes
    ----------
    weight : ndarray of shape (n_centers,)
    sums : ndarray of shape (n_centers, n_features)
    distance : float
        Weighted sum of the squared distances.
    """

    weight: NDArray[np.float64]
    sums: NDArray[np.float64]
    distance: float

    def merge(self, other: CenterSums) -> CenterSums:
        """Add up."""
        return CenterSums(
            self.weight + other.weight,
            self.sums + other.sums,
            self.distance + other.distance,
        )

    def means(self, centers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Means of the rows of each centre; a centre without rows stays."""
        weight = self.weight[:, np.newaxis]
        return np.divide(self.sums, weight, out=centers.copy(), where=weight > 0)


class ParallelKMeans(BaseClusterer):
    r"""k-means on all rows, begun by k-means||, for rows in blocks.

    k-means|| [1]_ draws about ``oversampling * n_clusters`` candidates in each of a few
    rounds, each row with a probability in proportion to its squared distance from the
    candidates so far; weighted k-means++ chooses the first centres among them. Lloyd's
    iterations then see all rows. Every round and iteration is one pass that adds up
    what the blocks of rows say, so blocks can be anywhere; see
    :mod:`localsvm.engine`. Use it where clusters are small or far apart and a sample
    may miss them; :class:`SampledKMeans`, the default of the library, costs much less.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    oversampling : float, default=1.0
        Candidates of a round, as a multiple of ``n_clusters``.
    n_rounds : int, default=5
        Passes that choose candidates for the first centres.
    max_iter : int, default=20
        Lloyd iterations.
    tol : float, default=1e-3
        Mean squared movement of the centres, as a part of the mean squared distance of
        the rows to their centre, at which the iterations end.
    random_state : int, RandomState instance or None, default=None
        Chooses candidates and centres.
    n_jobs : int or None, default=None
        Threads. Results do not depend on it.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_centers, n_features)
    labels_ : ndarray of shape (n_samples,)
        Of the rows that ``fit`` was given in memory.
    inertia_ : float
        Weighted sum of the squared distances to the centres before the last update.
    n_iter_ : int
        Lloyd iterations run.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    SampledKMeans : k-means on a sample; its cost does not grow with the rows.

    Notes
    -----
    With k clusters, r rounds of s k candidates and t iterations: O(n d k (s r² / 2 +
    t)) and 1 + r + t passes. Whether a row becomes a candidate is decided by a hash of
    its content, so the result does not depend on the number of threads or workers; the
    order of the sums depends on the blocks.

    References
    ----------
    .. [1] Bahmani, B. et al. (2012). Scalable k-means++. PVLDB 5(7):622-633.

    Examples
    --------
    >>> import numpy as np
    >>> from localsvm.cluster import ParallelKMeans
    >>> X = np.array([[0.0], [0.2], [5.0], [5.2]])
    >>> centers = ParallelKMeans(2, random_state=0).fit(X).cluster_centers_
    >>> sorted(centers.ravel().round(1).tolist())
    [0.1, 5.1]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        oversampling: float = 1.0,
        n_rounds: int = 5,
        max_iter: int = 20,
        tol: float = 1e-3,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.oversampling = oversampling
        self.n_rounds = n_rounds
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, weight: NDArray[np.float64]) -> None:
        check_enough_rows(X, self.n_clusters)
        self.fit_passes(_InMemory(X, weight, self.n_jobs))
        self.labels_ = self._assign(X)

    def fit_passes(self, passes: Passes) -> Self:
        """Find the centres of rows in blocks.

        Parameters
        ----------
        passes : object with ``reduce``
            As :class:`localsvm.engine.Blocks` has it, but for functions of rows and
            weights.

        Returns
        -------
        self : ParallelKMeans
        """
        self._check_parameters()
        seed = draw_seed(self.random_state)
        candidates = self._draw_candidates(passes, seed)
        shares = passes.reduce(count_nearest, candidates, stage="share")
        centers = self._choose(candidates, shares.weight, seed)
        self.n_features_in_ = centers.shape[1]
        self.n_iter_ = 0
        for number in range(1, self.max_iter + 1):
            sums = passes.reduce(sum_nearest, centers, stage=f"lloyd{number}")
            moved = sums.means(centers)
            movement = sums.weight @ ((moved - centers) ** 2).sum(axis=1)
            centers, self.n_iter_ = moved, number
            self.inertia_ = sums.distance
            if movement <= self.tol * self.inertia_:
                break
        self.cluster_centers_ = centers
        return self

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            n_clusters=integer(1),
            oversampling=real(0),
            n_rounds=integer(1),
            max_iter=integer(1),
            tol=real(0, closed="left"),
        )

    def _draw_candidates(self, passes: Passes, seed: int) -> NDArray[Any]:
        wanted = self.oversampling * self.n_clusters
        candidates = passes.reduce(draw_first, seed, stage="first").rows
        for number in range(1, self.n_rounds + 1):
            drawn = passes.reduce(
                draw_far,
                candidates,
                wanted,
                seed + number,
                stage=f"round{number}",
            )
            if drawn.distance == 0:
                break
            chosen = drawn.key < wanted / drawn.distance
            rows = np.concatenate([candidates, drawn.rows[chosen]])
            candidates = np.unique(rows, axis=0)
        return candidates

    def _choose(
        self, candidates: NDArray[Any], weight: NDArray[np.float64], seed: int
    ) -> NDArray[np.float64]:
        """Weighted k-means++ among the candidates that some row is nearest to."""
        rows, weight = candidates[weight > 0], weight[weight > 0]
        if len(rows) <= self.n_clusters:
            return np.asarray(rows, dtype=np.float64)
        with single_threaded_libraries():
            centers, _ = kmeans_plusplus(
                rows, self.n_clusters, sample_weight=weight, random_state=seed
            )
        return np.asarray(centers, dtype=np.float64)


def draw_first(X: Any, weight: NDArray[np.float64], seed: int) -> DrawnRows:
    """Draw a row of a block, by its hash."""
    sample = RowSample.draw(X, weight, seed, 1)
    return DrawnRows(_dense(sample.rows), sample.hashes.astype(np.float64), 0.0, 1.0)


def draw_far(
    X: Any,
    weight: NDArray[np.float64],
    candidates: NDArray[Any],
    wanted: float,
    seed: int,
) -> DrawnRows:
    """Draw rows of a block in proportion to their distances from the candidates.

    A row is drawn if its key, a uniform number over weight and squared distance, is
    below ``wanted`` over the sum of all distances. The sum over the block is smaller,
    so some are drawn that will be sorted out.
    """
    sample = RowSample.draw(X, weight, seed, X.shape[0])
    distance = sample.weight * _nearest(sample.rows, candidates)[1]
    total = float(distance.sum())
    uniform = (sample.hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53
    far = distance > 0
    key = np.full(len(distance), np.inf)
    key[far] = uniform[far] / distance[far]
    chosen = np.flatnonzero(key < wanted / total) if total > 0 else far
    return DrawnRows(_dense(sample.rows[chosen]), key[chosen], total, wanted)


def count_nearest(X: Any, weight: NDArray[np.float64], centers: NDArray[Any]) -> Shares:
    """Weight of the rows that are nearest to each centre."""
    label, _ = _nearest(X, centers)
    return Shares(np.bincount(label, weight, len(centers)).astype(np.float64))


def sum_nearest(
    X: Any, weight: NDArray[np.float64], centers: NDArray[Any]
) -> CenterSums:
    """Weights and sums of the rows of each centre, and their squared distances."""
    label, distance = _nearest(X, centers)
    members = sparse.csr_array(
        (weight, (label, np.arange(len(label)))), shape=(len(centers), len(label))
    )
    return CenterSums(
        np.bincount(label, weight, len(centers)).astype(np.float64),
        _dense(members @ X.astype(np.float64)),
        float(weight @ distance),
    )


class _InMemory:
    """Rows in memory, as blocks."""

    def __init__(self, X: Any, weight: NDArray[np.float64], n_jobs: int | None) -> None:
        self._X, self._weight, self._n_jobs = X, weight, n_jobs

    def reduce(
        self, function: Callable[..., Merged], *arguments: Any, stage: str
    ) -> Merged:
        del stage

        def call(first: int) -> Merged:
            own = slice(first, first + _BLOCK_ROWS)
            return function(self._X[own], self._weight[own], *arguments)

        with single_threaded_libraries():
            starts = range(0, self._X.shape[0], _BLOCK_ROWS)
            found = map_in_threads(call, starts, self._n_jobs)
            return reduce(lambda first, second: first.merge(second), found)


def _nearest(
    X: Any, centers: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    search = NearestCenters(centers, X.dtype)
    label, scores = search.search(X, 1)
    distance = search.squared_distances(X, scores[:, 0])
    return label[:, 0].astype(np.intp), distance


def _dense(rows: Any) -> NDArray[Any]:
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows)
