"""Cover of the rows by neighbourhoods of equal size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm._checks import (
    check_parameters,
    integer,
    one_of,
    with_methods,
)
from localsvm._seeds import draw_seed
from localsvm.cluster._base import BaseClusterer
from localsvm.cluster._neighborhoods._neighbors import (
    choose_search,
    find_neighbors,
    fit_search,
    make_search,
)
from localsvm.rows import hash_rows, take_rows

SEARCHES = one_of("auto", "kd_tree", "brute") | with_methods("fit", "kneighbors")

_LARGEST_AUTO = 100
_LARGEST_BATCH = 512


class NeighborhoodCover(BaseClusterer):
    r"""Centres whose nearest rows cover the data, each with a larger neighbourhood.

    The rows are visited in random order. A row that no centre before it has among its
    :math:`k'` nearest rows becomes a centre (Eq. 2); its k' nearest rows that are not
    assigned yet are assigned to it (Eq. 3); its k nearest rows are its neighbourhood.
    So every row is assigned to one centre and lies in the middle of the neighbourhood
    of that centre (Definition 1).

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        The size k of a neighbourhood, the centre included. "auto" is 100, or all rows
        if there are fewer.
    n_assigned : int or None, default=None
        The number k' of rows that a centre covers, itself included; at most k. None is
        a quarter of k. About 2 n / k' centres are found.
    neighbors : {"auto", "kd_tree", "brute"} or search object, default="auto"
        The search. "auto" estimates which share of the rows a k-d tree would look at
        and takes it if that is cheaper than comparing all rows. An object with
        ``fit`` and ``kneighbors`` is cloned and fitted; it may measure distances in
        another space.
    random_state : int, RandomState instance or None, default=None
        Of the order.
    n_jobs : int or None, default=None
        Threads; they do not change the result.

    Attributes
    ----------
    center_indices_ : ndarray of shape (n_centers,)
        Row of each centre, in the order in which they were found.
    neighborhoods_ : ndarray of shape (n_centers, n_neighbors), int32
        Rows of each neighbourhood, the centre first, then nearest first.
    labels_ : ndarray of shape (n_samples,), int32
        Centre that each row is assigned to.
    n_neighbors_, n_assigned_ : int
        k and k' as used.
    search_ : object with ``kneighbors``
        The fitted search.
    router_ : object with ``kneighbors``
        The one that ``predict`` finds the nearest row by.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    localsvm.LocalSVC : Kernel SVMs on the neighbourhoods.

    Notes
    -----
    Costs one search of k neighbours per centre, and a few per cent more, since centres
    are searched for in batches and those covered meanwhile are thrown away: the result
    is that of the sequential algorithm.

    Corrections to Algorithm 1 of the paper: line 9 must search around ``x[index]``, the
    row that is not covered; and the centre is put first by hand, since with more than
    k' copies of a row it may be missing from its own list. The order is that of a hash
    of the rows' content, so it does not depend on how the rows are sorted.

    References
    ----------
    N. Segata, E. Blanzieri. Fast local support vector machines for large datasets.
    Technical report DISI-08-063, University of Trento, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from localsvm.cluster import NeighborhoodCover
    >>> X = np.arange(12.0).reshape(-1, 1)
    >>> cover = NeighborhoodCover(6, n_assigned=3, random_state=0).fit(X)
    >>> bool((cover.labels_ >= 0).all()), cover.neighborhoods_.shape[1]
    (True, 6)
    """

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        *,
        n_assigned: int | None = None,
        neighbors: Any = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_assigned = n_assigned
        self.neighbors = neighbors
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Find the centres.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : None
            Ignored.

        Returns
        -------
        self : NeighborhoodCover
        """
        return super().fit(X)

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            n_neighbors=integer(1) | one_of("auto"),
            n_assigned=one_of(None) | integer(1),
            neighbors=SEARCHES,
        )

    def _fit(self, X: Any, weight: NDArray[np.float64]) -> None:
        del weight
        self.n_neighbors_, self.n_assigned_ = neighborhood_sizes(
            self.n_neighbors, self.n_assigned, X.shape[0]
        )
        seed = draw_seed(self.random_state)
        search = make_search(self.neighbors, X, self.n_neighbors_)
        self.search_ = fit_search(search, X)
        order = np.argsort(hash_rows(X, seed), kind="stable")
        sizes = self.n_neighbors_, self.n_assigned_
        cover = cover_rows(X, order, self.search_, sizes, self.n_jobs)
        self.center_indices_ = cover.centers
        self.neighborhoods_ = cover.neighborhoods
        self.labels_ = cover.labels
        self.router_ = self._routing_search(X)

    def _assign(self, X: Any) -> NDArray[np.int32]:
        """Centre that the nearest row of the data is assigned to (Eq. 4)."""
        n_rows = len(self.labels_)
        nearest = find_neighbors(self.router_, X, 1, n_rows, self.n_jobs)[:, 0]
        return np.asarray(self.labels_[nearest])

    def _routing_search(self, X: Any) -> Any:
        """Search for one neighbour, where a tree is quick more often."""
        if self.neighbors != "auto" or sparse.issparse(X):
            return self.search_
        search = choose_search(X, 1)
        if type(search) is type(self.search_):
            return self.search_
        return fit_search(search, X)


@dataclass(frozen=True)
class Cover:
    """Centres, their neighbourhoods, and the centre of each row (-1: none)."""

    centers: NDArray[np.intp]
    neighborhoods: NDArray[np.int32]
    labels: NDArray[np.int32]


def cover_rows(
    X: Any,
    order: NDArray[np.intp],
    search: Any,
    sizes: tuple[int, int],
    n_jobs: int | None,
    max_centers: float = math.inf,
) -> Cover:
    """Algorithm 1 without its SVMs; rows are searched around in batches.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    order : ndarray of shape (n_samples,)
        In which the rows are visited.
    search : fitted object with ``kneighbors``
    sizes : (int, int)
        k and k'.
    n_jobs : int or None
    max_centers : int, default=inf
        Where to stop; rows that are not covered by then have the label -1.
    """
    n_neighbors, n_assigned = sizes
    labels = np.full(X.shape[0], -1, dtype=np.int32)
    centers: list[int] = []
    neighborhoods: list[NDArray[np.int32]] = []
    # A twentieth of the expected number of centres.
    batch = min(math.ceil(0.1 * X.shape[0] / n_assigned), _LARGEST_BATCH)
    while len(order) and len(centers) < max_centers:
        candidates = order[:batch]
        found = find_neighbors(
            search, take_rows(X, candidates), n_neighbors, X.shape[0], n_jobs
        )
        for center, rows in zip(candidates, found, strict=True):
            if labels[center] >= 0 or len(centers) >= max_centers:
                continue
            neighborhood = _center_first(rows, center)
            covered = neighborhood[:n_assigned]
            labels[covered[labels[covered] < 0]] = len(centers)
            centers.append(center)
            neighborhoods.append(neighborhood)
        order = order[labels[order] < 0]
    return Cover(np.array(centers), np.array(neighborhoods), labels)


def neighborhood_sizes(
    n_neighbors: int | str, n_assigned: int | None, n_samples: int
) -> tuple[int, int]:
    """Sizes k and k' for a number of rows; raise if they do not fit."""
    if n_neighbors == "auto":
        n_neighbors = min(_LARGEST_AUTO, n_samples)
    k = int(n_neighbors)
    if k > n_samples:
        raise ValueError(
            f"n_neighbors={k} should be <= n_samples={n_samples}: a neighbourhood "
            "cannot hold more rows than there are."
        )
    assigned = max(1, k // 4) if n_assigned is None else int(n_assigned)
    if assigned > k:
        raise ValueError(
            f"n_assigned={assigned} should be <= n_neighbors={k}: the rows that a "
            "centre covers are the nearest of its neighbourhood."
        )
    return k, assigned


def _center_first(rows: NDArray[np.int32], center: int) -> NDArray[np.int32]:
    if rows[0] == center:
        return rows
    others = rows[rows != center]
    return np.concatenate([[center], others[: len(rows) - 1]]).astype(np.int32)
