"""kNNSVM: a kernel SVM on the neighbours of each query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._clock import StageClock
from localsvm._threads import effective_n_jobs
from localsvm.cluster import find_neighbors, fit_search, make_search, neighborhood_sizes
from localsvm.estimators._endings import check_solution
from localsvm.estimators._local.base import BaseKernelClassifier
from localsvm.estimators._local.fit import Gamma, LocalOptions, RowScale, kernel_of
from localsvm.estimators._local.unseen import hold_out_queries
from localsvm.rows import Rows, stored_as
from localsvm.solvers import (
    Endings,
    LocalKernel,
    LocalModels,
    fit_neighborhoods,
    local_gradients,
)

_BLOCK_QUERIES = 4096


class NeighborSVC(BaseKernelClassifier):
    r"""A kernel SVM on the nearest training rows of each query (kNNSVM).

    Nothing is learned in advance: a query's k nearest rows *in the feature space of the
    kernel* are found, an SVM is fitted to them, and it classifies the query (Eq. 1).
    Between the nearest neighbour rule (k = 2, linear or RBF kernel) and the global SVM
    (k = all rows). For small data and few queries; :class:`LocalSVC` is its fast
    approximation.

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        Neighbours k, counting equal rows once. "auto" is 100, or all rows if there are
        fewer.
    kernel : {"rbf", "laplace", "linear", "poly"}, default="rbf"
        As in :class:`LocalSVC`.
    C : float or "scale", default="scale"
        As in :class:`LocalSVC`.
    gamma : float, "local", ("local", float), "scale" or "auto", default="local"
        "local" is 1 / (median squared distance of the neighbours to the nearest one);
        for the Laplace kernel 1 / (10 times their median absolute distance).
    metric : transformer or None, default=None
        As in :class:`LocalSVC`.
    class_weight : dict, "balanced" or None, default=None
        ``kernel``, ``C``, ``metric`` and ``class_weight`` are as in :class:`LocalSVC`.
    max_time : float or None, default=None
        Seconds for a call of ``predict`` or ``decision_function``, which is where SVMs
        are fitted. Queries that there is no time for are answered with the class of
        most weight among their neighbours; a warning counts them.
    random_state : int, RandomState instance or None, default=None
        Only breaks ties between rows at the same distance.
    n_jobs : int or None, default=None
        Threads; they do not change the answers.

    Other Parameters
    ----------------
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=0.0
        As in :class:`LocalSVC`.
    neighbors : {"auto", "kd_tree", "brute"} or search object, default="auto"
        :class:`~localsvm.cluster.ShortListNeighbors` makes it SVM-KNN (Zhang et al.
        2006): a cheap distance first, the exact one on a short list.
    cache_size : float, default=200
        As in :class:`LocalSVC`.
    tol : float, default=1e-3
        As in :class:`LocalSVC`.
    max_iter : int or None, default=None
        As in :class:`LocalSVC`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    metric_ : object or None
        The fitted metric.
    n_neighbors_ : int
        k as used.
    row_indices_ : ndarray of shape (n_distinct,)
        Training row of each distinct row, the first of its copies.
    search_ : object with ``kneighbors``
        The fitted search.
    C_, gamma_ : float
        Penalty, and width or factor of the local widths.
    n_iter_ : int
        Always 1: nothing is solved before there is a query.
    fit_report_ : dict
        Seconds per stage.
    feature_range_ : ndarray of shape (2, n_features)
        Smallest and largest value of each column; only of rows in memory.
    integer_features_ : ndarray of shape (n_features,)
        Whether all values of a column are integers; only of rows in memory.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    LocalSVC : Fits the SVMs in advance, on a cover of the data.

    Notes
    -----
    Each query costs a search of k neighbours and an SVM of k rows, O(k² d) and more
    where C is large; queries are solved in compiled code, many at a time. Neighbours of
    one class need no SVM. Linear and RBF kernels keep the Euclidean order of the rows;
    polynomial ones of degree two and more do not: see
    :class:`~localsvm.cluster.KernelNeighbors`. With the Laplace kernel the neighbours
    are the Euclidean ones, too. ``local_coef`` fits the SVMs of its rows once more.

    References
    ----------
    E. Blanzieri, F. Melgani. Nearest neighbor classification of remote sensing images
    with the maximal margin principle. IEEE TGRS 46(6), 2008.

    H. Zhang, A. Berg, M. Maire, J. Malik. SVM-KNN: Discriminative nearest neighbor
    classification for visual category recognition. CVPR 2006.

    Examples
    --------
    >>> from localsvm.estimators import NeighborSVC
    >>> from localsvm.data import make_two_spirals
    >>> X, y = make_two_spirals(2000, random_state=0)
    >>> model = NeighborSVC(n_neighbors=30).fit(X[:1500], y[:1500])
    >>> model.score(X[1500:], y[1500:]) > 0.8
    True

    SVM-KNN with a short list from five principal components:

    >>> from sklearn.datasets import load_digits
    >>> from sklearn.decomposition import PCA
    >>> from localsvm.cluster import ShortListNeighbors
    >>> X, y = load_digits(return_X_y=True)
    >>> search = ShortListNeighbors(PCA(5, random_state=0), n_candidates=100)
    >>> model = NeighborSVC(n_neighbors=20, neighbors=search).fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.9
    True
    """

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        *,
        kernel: str = "rbf",
        C: float | str = "scale",
        gamma: Gamma = "local",
        metric: Any = None,
        class_weight: Any = None,
        max_time: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        degree: int = 3,
        coef0: float = 0.0,
        neighbors: Any = "auto",
        cache_size: float = 200.0,
        tol: float = 1e-3,
        max_iter: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.metric = metric
        self.class_weight = class_weight
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.degree = degree
        self.coef0 = coef0
        self.neighbors = neighbors
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter

    def neighborhood(self, X: Any) -> NDArray[np.intp]:
        """Training rows that decide each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        indices : ndarray of shape (n_samples, n_neighbors)
            Nearest first, as positions in the training data; of equal rows the first.
        """
        X = self._check_query_rows(X)
        return np.asarray(self.row_indices_[self._index.find(X, self.n_jobs)])

    def neighborhood_class_counts(self, X: Any) -> NDArray[np.intp]:
        """Count the neighbours of each row by class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        counts : ndarray of shape (n_samples, n_classes)
            Equal rows of one class count once.
        """
        X = self._check_query_rows(X)
        index = self._index
        found = index.rows.class_index[index.find(X, self.n_jobs)]
        own = found[:, :, np.newaxis] == np.arange(len(self.classes_))
        return np.asarray(own.sum(axis=1))

    def _gradients(self, X: Any) -> NDArray[np.float64]:
        """Gradients while the neighbours stay the same, by SVMs fitted once more."""
        return self._index.gradients(X, self._options(0, StageClock()))

    def _check_parameters(self) -> None:
        self._check_setting()
        self._check_kernel_parameters()

    def _fit(self, rows: Rows) -> None:
        clock = StageClock()
        k, _ = neighborhood_sizes(self.n_neighbors, None, rows.n_rows)
        with clock.stage("merge"):
            seed = self._draw_seed()
            merged = rows.merged(seed)
            local = self._kernel_settings().resolve(RowScale.of(rows, seed))
        with clock.stage("index"):
            index = index_rows(merged.rows, k, local, self.neighbors)
        self._index, self.row_indices_ = index, merged.first
        self.n_neighbors_, self.search_ = index.n_neighbors, index.search
        self.C_, self.gamma_ = local.C, kernel_of(local).gamma
        self.n_iter_ = 1
        solver = self._options(0, clock).for_neighborhoods(
            index.n_neighbors, merged.rows.n_rows
        )
        with clock.stage("calibrate"):
            self._keep_held_out(
                hold_out_queries(
                    merged.rows, index.n_neighbors, local, self.neighbors, solver
                )
            )
        self.fit_report_ = clock.seconds

    def _n_rows_without_regions(self) -> int:
        return int(self.n_neighbors_)

    def _class_counts(self, X: Any, region: int | None) -> NDArray[Any] | None:
        return np.asarray(self.neighborhood_class_counts(X)[0])

    def _decide(self, X: Any) -> NDArray[Any]:
        scores, endings = self._index.decide(
            X, self._options(0, StageClock(self.max_time))
        )
        check_solution(endings, self)
        return scores


@dataclass(frozen=True)
class NeighborIndex:
    """Training rows, and how SVMs are fitted to the neighbours of a query.

    Attributes
    ----------
    rows : Rows
        Distinct rows of positive weight.
    search : object with ``kneighbors``, fitted to the rows
    n_neighbors : int
    local : LocalKernel
    """

    rows: Rows
    search: Any
    n_neighbors: int
    local: LocalKernel

    def find(self, X: Any, n_jobs: int | None) -> NDArray[np.int32]:
        """Neighbours of each query, as positions in the rows."""
        X = stored_as(X, self.rows.X)
        return find_neighbors(
            self.search, X, self.n_neighbors, self.rows.n_rows, n_jobs
        )

    def decide(self, X: Any, options: LocalOptions) -> tuple[NDArray[Any], Endings]:
        """Eq. 1 for each query, and how the solves ended."""
        rows = self.rows
        n_threads = effective_n_jobs(options.n_jobs)
        scores, endings = [], []
        for queries, models in self._fit_models(X, options):
            route = np.arange(queries.shape[0])
            scores.append(
                models.decide(
                    rows.X,
                    self.local.kernel,
                    rows.n_classes,
                    queries,
                    route,
                    n_threads,
                )
            )
            endings.append(models.endings)
        return np.concatenate(scores), Endings.joined(endings)

    def gradients(self, X: Any, options: LocalOptions) -> NDArray[np.float64]:
        """Gradients of the decisions, of shape (n_samples, n_outputs, n_features)."""
        rows = self.rows
        return np.concatenate(
            [
                local_gradients(
                    models,
                    rows.X,
                    kernel_of(self.local),
                    rows.n_classes,
                    queries,
                    np.arange(queries.shape[0]),
                )
                for queries, models in self._fit_models(X, options)
            ]
        )

    def _fit_models(
        self, X: Any, options: LocalOptions
    ) -> Iterator[tuple[Any, LocalModels]]:
        """Fit an SVM to the neighbours of each query, for some queries at a time."""
        X = stored_as(X, self.rows.X)
        solver = options.for_neighborhoods(self.n_neighbors, self.rows.n_rows)
        for first in range(0, X.shape[0], _BLOCK_QUERIES):
            queries = X[first : first + _BLOCK_QUERIES]
            found = self.find(queries, options.n_jobs)
            yield queries, fit_neighborhoods(self.rows, found, self.local, solver)


def index_rows(
    rows: Rows, n_neighbors: int, local: LocalKernel, neighbors: Any
) -> NeighborIndex:
    """Index distinct rows for the search of neighbours in the kernel's space."""
    k = min(n_neighbors, rows.n_rows)
    search = fit_search(make_search(neighbors, rows.X, k, local.kernel), rows.X)
    return NeighborIndex(rows, search, k, local)
