"""Clusters by repeated cuts across the direction in which rows vary most."""

from __future__ import annotations

import heapq
import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from localsvm._checks import (
    check_parameters,
    integer,
    level_of_caller,
    one_of,
    real,
)
from localsvm._threads import (
    effective_n_jobs,
    map_in_threads,
    single_threaded_libraries,
)
from localsvm.cluster._base import BaseClusterer, check_enough_rows
from localsvm.cluster._pddp._principal import principal_direction, scatter_around
from localsvm.rows import distinct_rows, merge_weights

_HASH_SEED = 0
_BLOCK_ENTRIES = 1 << 20


class PDDP(BaseClusterer):
    r"""Principal direction divisive partitioning (PDDP).

    All rows begin as one cluster. The cluster of largest scatter, the weighted sum of
    squared distances to its mean, is cut by the hyperplane through its mean across its
    principal direction, again and again. There is no random start and nothing to
    iterate, new rows are assigned by a walk down the tree of cuts, and sparse rows stay
    sparse. Good for many clusters of many rows or columns; where few clusters must fit
    tightly, k-means finds better ones.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Number of clusters; fewer are found when there are fewer distinct rows. None
        means no limit if ``max_scatter`` is given, and otherwise the rounded square
        root of the sum of the weights.
    max_scatter : float or None, default=None
        Clusters of at most this scatter are not cut. With ``n_clusters``, whichever
        ends first.
    n_jobs : int or None, default=None
        Threads of ``predict``.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Weighted means, in the data type of ``X``. Clusters are numbered as the leaves
        of the tree from left to right: the two sides of every cut have consecutive
        ranges of labels, first the side against the direction.
    cluster_scatters_ : ndarray of shape (n_clusters,), float64
        Weighted sums of squared distances to the means.
    n_clusters_ : int
        Number of clusters found.
    labels_ : ndarray of shape (n_samples,), int32
        What ``predict`` says of the rows, those of weight zero among them.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    SampledKMeans : Nearest centres, from a sample of the rows.
    sklearn.cluster.BisectingKMeans : Cuts by k-means with two centres.

    Notes
    -----
    With n rows of a cluster, a cut of dense rows with :math:`m = \min(n, d) \le 200`
    takes the eigenvector of an m by m matrix, in O(n d m). Any other takes Lanczos
    steps, O(n d) or O(number of stored entries) each, some tens as a rule: the
    direction has a residual of at most 1e-6 of its eigenvalue, or is the best after 400
    steps, where many directions are about as wide. A level of the tree costs as much as
    one cut of all rows. Memory is that of ``X`` once more, in float64, and O(K d) for
    the K clusters; ``predict`` costs one inner product per row and level.

    Equal rows are merged and rows are taken in an order that depends on their content
    alone, and sums are taken in float64 on one thread. So the order of the rows does
    not change a bit, a row of weight two equals the row twice, and a row of weight zero
    its absence.

    A row whose projection is zero, as the mean itself, goes to the side against the
    direction, and the largest entry of a direction is positive; of equal scatters the
    cluster that was made first is cut. A cluster whose rows rounding cannot tell apart
    along its direction is left as it is.

    The columns must have comparable scales: the direction follows the widest.

    References
    ----------
    D. Boley. Principal direction divisive partitioning. Data Mining and Knowledge
    Discovery 2(4), 1998.

    D. Boley, D. Cao. Training support vector machines using adaptive clustering. SDM
    2004.

    Examples
    --------
    >>> import numpy as np
    >>> from localsvm.cluster import PDDP
    >>> X = np.array([[0.0], [9.0], [0.2], [5.0], [9.2], [5.2]])
    >>> model = PDDP(3).fit(X)
    >>> model.labels_
    array([0, 2, 0, 1, 2, 1], dtype=int32)
    >>> model.predict([[6.0]])
    array([1], dtype=int32)
    >>> PDDP(max_scatter=20.0).fit(X).cluster_scatters_.round(2)
    array([ 0.02, 16.04])
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        max_scatter: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_scatter = max_scatter
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            n_clusters=one_of(None) | integer(1),
            max_scatter=one_of(None) | real(0, closed="left"),
        )

    def _fit(self, X: Any, weight: NDArray[np.float64]) -> None:
        """Grow the tree."""
        if self.n_clusters is not None:
            check_enough_rows(X, self.n_clusters)
        first, kind = distinct_rows(X, weight, _HASH_SEED)
        rows = _WeightedRows(X, first, merge_weights(weight, kind))
        limit = self._limit(rows.weight, len(first))
        with single_threaded_libraries():
            self._tree, leaves = _cut(rows, limit, self.max_scatter or 0.0)
        self.n_clusters_ = len(leaves)
        self.cluster_centers_ = np.array([leaf.mean for leaf in leaves], dtype=X.dtype)
        self.cluster_scatters_ = np.array([leaf.scatter for leaf in leaves])
        self.labels_ = self._labels(X, leaves, kind)
        if self.max_scatter is None and self.n_clusters_ < (self.n_clusters or 0):
            warnings.warn(
                f"Only {self.n_clusters_} clusters instead of n_clusters="
                f"{self.n_clusters}: {len(first)} distinct rows have positive weight.",
                ConvergenceWarning,
                stacklevel=level_of_caller(),
            )

    def _limit(self, weight: NDArray[np.float64], n_distinct: int) -> int:
        if self.n_clusters is not None:
            return int(self.n_clusters)
        if self.max_scatter is not None:
            return n_distinct
        return max(1, round(min(n_distinct, math.sqrt(weight.sum()))))

    def _labels(
        self, X: Any, leaves: list[_Cluster], kind: NDArray[np.intp]
    ) -> NDArray[np.int32]:
        of_kind = np.empty(kind.max() + 1, dtype=np.int32)
        for label, leaf in enumerate(leaves):
            of_kind[leaf.members] = label
        labels = of_kind[kind]
        absent = np.flatnonzero(kind < 0)
        if absent.size:
            labels[absent] = self._assign(X[absent])
        return labels

    def _assign(self, X: Any) -> NDArray[np.int32]:
        # A row's label does not depend on the rows beside it, so that the blocks may
        # depend on the number of threads.
        n_blocks = min(effective_n_jobs(self.n_jobs), X.shape[0])
        blocks = np.array_split(np.arange(X.shape[0]), n_blocks)
        labels = map_in_threads(
            lambda block: self._tree.walk(X, block), blocks, self.n_jobs
        )
        return np.concatenate(labels)


@dataclass(frozen=True)
class _Cluster:
    """Some of the distinct rows, their mean and their scatter."""

    members: NDArray[np.intp]
    mean: NDArray[np.float64]
    scatter: float


@dataclass(frozen=True)
class _Split:
    """A hyperplane, and the two parts of a cluster that it separates."""

    direction: NDArray[np.float64]
    offset: float
    sides: tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class SplitTree:
    """Hyperplanes; node 0 is the root, the k-th has the nodes 2k + 1 and 2k + 2.

    ``content`` is the hyperplane of each node, or ``~label`` of a leaf.
    """

    directions: NDArray[np.float64]
    offsets: NDArray[np.float64]
    content: NDArray[np.intp]

    def walk(self, X: Any, index: NDArray[np.intp]) -> NDArray[np.int32]:
        """Labels of some rows; each node looks at the rows that reach it."""
        labels = np.empty(len(index), dtype=np.int32)
        pending = [(0, np.arange(len(index)))]
        while pending:
            node, places = pending.pop()
            split = self.content[node]
            if split < 0:
                labels[places] = ~split
                continue
            projection = _project(X, index[places], self.directions[split])
            right = projection > self.offsets[split]
            for child, side in enumerate((places[~right], places[right])):
                if side.size:
                    pending.append((2 * split + 1 + child, side))
        return labels


@dataclass(frozen=True)
class _WeightedRows:
    """Distinct rows of positive weight, taken from all rows when they are needed."""

    X: Any
    first: NDArray[np.intp]
    weight: NDArray[np.float64]

    def cluster(self, members: NDArray[np.intp]) -> _Cluster:
        weight = self.weight[members]
        rows = self._take(members)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = rows.T @ weight / weight.sum()
            if len(members) == 1:  # the quotient may not be the row to the last bit
                mean = np.asarray(rows.sum(axis=0), dtype=np.float64).ravel()
            scatter = scatter_around(rows, weight, mean)
        if not np.isfinite(scatter):
            raise ValueError(
                "Weighted sums of squares are not finite: X or sample_weight has "
                f"entries too large (weights up to {weight.max():.3g}). Scale the "
                "features, e.g. with StandardScaler, and divide weights by their mean."
            )
        return _Cluster(members, mean, scatter)

    def split(self, cluster: _Cluster) -> _Split | None:
        """Cut a cluster, or None if all rows lie on one side."""
        members = cluster.members
        direction = principal_direction(
            self._take(members), self.weight[members], cluster.mean
        )
        offset = float(direction @ cluster.mean)
        right = _project(self.X, self.first[members], direction) > offset
        if right.all() or not right.any():
            return None
        return _Split(direction, offset, (members[~right], members[right]))

    def _take(self, members: NDArray[np.intp]) -> Any:
        """Copy rows, in float64."""
        return self.X[self.first[members]].astype(np.float64, copy=False)


def _cut(
    rows: _WeightedRows, max_clusters: int, max_scatter: float
) -> tuple[SplitTree, list[_Cluster]]:
    """Grow the tree; the leaves are given from left to right."""
    root = rows.cluster(np.arange(len(rows.first)))
    leaves = {0: root}
    heap = [(-root.scatter, 0)]
    directions: list[NDArray[np.float64]] = []
    offsets: list[float] = []
    content = [-1]
    while len(leaves) < max_clusters and heap and -heap[0][0] > max_scatter:
        node = heapq.heappop(heap)[1]
        split = rows.split(leaves[node])
        if split is None:
            continue
        del leaves[node]
        content[node] = len(directions)
        directions.append(split.direction)
        offsets.append(split.offset)
        for side in split.sides:
            child = len(content)
            leaves[child] = rows.cluster(side)
            content.append(-1)
            heapq.heappush(heap, (-leaves[child].scatter, child))
    order = _leaves_from_left(content)
    tree = SplitTree(
        np.array(directions).reshape(-1, rows.X.shape[1]),
        np.array(offsets),
        np.array(content),
    )
    tree.content[order] = ~np.arange(len(order))
    return tree, [leaves[node] for node in order]


def _leaves_from_left(content: list[int]) -> list[int]:
    order, pending = [], [0]
    while pending:
        node = pending.pop()
        split = content[node]
        if split < 0:
            order.append(node)
        else:
            pending += [2 * split + 2, 2 * split + 1]
    return order


def _project(
    X: Any, index: NDArray[np.intp], direction: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Inner products with a direction, each the same bits whatever rows are beside.

    BLAS does not promise that: its sums depend on the number of rows.
    """
    projection = np.empty(len(index))
    step = max(1, _BLOCK_ENTRIES // X.shape[1])
    for start in range(0, len(index), step):
        block = X[index[start : start + step]].astype(np.float64, copy=False)
        projection[start : start + step] = (
            block @ direction
            if sparse.issparse(block)
            else np.einsum("ij,j->i", block, direction)
        )
    return projection
