"""Nearest neighbours behind one interface: ``fit(X)``, then ``kneighbors``."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import KDTree
from sklearn.base import BaseEstimator, clone
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from localsvm import _core
from localsvm._checks import check_parameters, integer, one_of, with_methods
from localsvm._threads import (
    FEW_ROWS,
    call_interruptibly,
    map_interruptibly,
    single_threaded_libraries,
)
from localsvm.cluster._neighborhoods._tree_work import share_visited
from localsvm.rows import check_row_numbers

_LEAF_SIZE = 8
_BLOCK_ROWS = 64
# What a row that the tree visits costs, in rows of a matrix product: measured for one
# neighbour, and more for each of the first hundred, whose heap has to be kept.
_VISIT_COST = 2.0
_VISIT_COST_PER_NEIGHBOR = 0.13


class TreeNeighbors(BaseEstimator):
    """Exact Euclidean neighbours by SciPy's k-d tree.

    Good while the data spread in few directions; with many, a query visits most rows.

    Parameters
    ----------
    leaf_size : int, default=8
        Rows per leaf. Small leaves suit many columns, since visited rows are costly.

    Attributes
    ----------
    tree_ : scipy.spatial.KDTree

    Examples
    --------
    >>> from localsvm.cluster import TreeNeighbors
    >>> search = TreeNeighbors().fit([[0.0], [1.0], [5.0]])
    >>> search.kneighbors([[0.9]], n_neighbors=2)[1].tolist()
    [[1, 0]]
    """

    def __init__(self, leaf_size: int = _LEAF_SIZE) -> None:
        self.leaf_size = leaf_size

    def fit(self, X: Any, y: Any = None) -> Self:
        """Build the tree; O(n log n)."""
        self._check_parameters()
        wide = check_array(X, dtype=np.float64, order="C")
        self.tree_ = KDTree(wide, leafsize=self.leaf_size)
        return self

    def kneighbors(
        self, X: Any, n_neighbors: int = 5, return_distance: bool = True
    ) -> Any:
        """Nearest rows of each query, nearest first."""
        check_is_fitted(self)
        _check_n_neighbors(n_neighbors, self.tree_.n)
        ranks = np.arange(1, n_neighbors + 1)
        distances, rows = self.tree_.query(np.asarray(X, dtype=np.float64), ranks)
        return (distances, rows) if return_distance else rows

    def _check_parameters(self) -> None:
        check_parameters(self, leaf_size=integer(1))

    def __getstate__(self) -> Any:
        """Give the rows in place of the tree, which not every format can hold."""
        state = dict(super().__getstate__())
        tree = state.pop("tree_", None)
        return state if tree is None else state | {"rows": np.asarray(tree.data)}

    def __setstate__(self, state: Any) -> None:
        rows = state.get("rows")
        super().__setstate__({name: state[name] for name in state if name != "rows"})
        if rows is not None:
            self.tree_ = KDTree(rows, leafsize=self.leaf_size)


class KernelNeighbors(BaseEstimator):
    r"""Exact neighbours in the feature space of a kernel.

    .. math:: \|\phi(x) - \phi(z)\|^2 = K(x, x) + K(z, z) - 2 K(x, z)

    A polynomial of few columns has few features: there the rows are mapped, and
    searched as "auto" finds best. Otherwise each query is compared with all rows.

    Parameters
    ----------
    kernel : localsvm.kernels.Kernel
        In whose space distances are measured.
    max_features : int, default=64
        Most features for which rows are mapped.

    Attributes
    ----------
    n_samples_fit_ : int
    search_ : object with ``kneighbors``, or None
        The search among mapped rows.

    Examples
    --------
    >>> import numpy as np
    >>> from localsvm.cluster import KernelNeighbors
    >>> from localsvm.kernels import Kernel
    >>> X = np.array([[1.0], [2.0], [-1.5]])
    >>> search = KernelNeighbors(Kernel("poly", degree=2)).fit(X)
    >>> search.kneighbors(X[2:], n_neighbors=2, return_distance=False).tolist()
    [[2, 0]]
    """

    def __init__(self, kernel: Any, *, max_features: int = 64) -> None:
        self.kernel = kernel
        self.max_features = max_features

    def fit(self, X: Any, y: Any = None) -> Self:
        """Map the rows, or keep them with their kernel values with themselves."""
        self._check_parameters()
        rows = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
        self.n_samples_fit_ = rows.shape[0]
        n_features = self.kernel.n_explicit_features(rows.shape[1])
        self.search_ = None
        if 0 < n_features <= self.max_features:
            features = self.kernel.features(rows)
            self.search_ = choose_search(features, 1).fit(features)
        else:
            self._rows, self._diagonal = rows, self.kernel.diagonal(rows)
        return self

    def kneighbors(
        self, X: Any, n_neighbors: int = 5, return_distance: bool = True
    ) -> Any:
        """Nearest rows of each query, nearest first."""
        check_is_fitted(self)
        if self.search_ is not None:
            features = self.kernel.features(X)
            return self.search_.kneighbors(features, n_neighbors, return_distance)
        _check_n_neighbors(n_neighbors, self.n_samples_fit_)
        X = check_array(X, accept_sparse="csr", dtype=self._rows.dtype)
        scores = np.ascontiguousarray(self._diagonal - 2 * self.kernel(X, self._rows))
        rows = np.empty((X.shape[0], n_neighbors), dtype=np.int32)
        smallest = np.empty(rows.shape, dtype=scores.dtype)
        _core.smallest_scores(scores, rows, smallest)
        if not return_distance:
            return rows
        squared = smallest + self.kernel.diagonal(X)[:, np.newaxis]
        return np.sqrt(np.maximum(squared, 0.0)), rows

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            kernel=with_methods("diagonal", "features"),
            max_features=integer(0),
        )


class ShortListNeighbors(BaseEstimator):
    """Neighbours by a cheap distance first, then exactly among those.

    The search of SVM-KNN (Zhang, Berg, Maire and Malik, 2006): a crude distance gives a
    short list, on which the true distance is computed. Approximate unless the list is
    long enough.

    Parameters
    ----------
    transformer : transformer
        Maps rows to where distances are cheap, e.g. ``PCA(8)``.
    n_candidates : int, default=500
        Length of the list; at least the number of neighbours asked for.
    exact : callable or None, default=None
        ``exact(X, Z)`` gives the matrix of true distances; None is Euclidean.

    Attributes
    ----------
    transformer_ : transformer
        The fitted transformer.
    search_ : object with ``kneighbors``
        The search among transformed rows.

    References
    ----------
    H. Zhang, A. Berg, M. Maire, J. Malik. SVM-KNN: Discriminative nearest neighbor
    classification for visual category recognition. CVPR 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import PCA
    >>> from localsvm.cluster import ShortListNeighbors
    >>> X = np.random.default_rng(0).standard_normal((200, 10))
    >>> search = ShortListNeighbors(PCA(3), n_candidates=50).fit(X)
    >>> search.kneighbors(X[:1], n_neighbors=3)[1][0, 0].item()
    0
    """

    def __init__(
        self, transformer: Any, *, n_candidates: int = 500, exact: Any = None
    ) -> None:
        self.transformer = transformer
        self.n_candidates = n_candidates
        self.exact = exact

    def fit(self, X: Any, y: Any = None) -> Self:
        """Transform the rows and index them."""
        self._check_parameters()
        rows = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
        transformer = clone(self.transformer).fit(rows)
        cheap = transformer.transform(rows)
        search = choose_search(cheap, self.n_candidates).fit(cheap)
        return self.fitted_with(rows, transformer, search)

    def fitted_with(self, X: Any, transformer: Any, search: Any) -> Self:
        """Take the rows, a fitted transformer, and a search among what it makes."""
        self._rows, self.transformer_, self.search_ = X, transformer, search
        return self

    def kneighbors(
        self, X: Any, n_neighbors: int = 5, return_distance: bool = True
    ) -> Any:
        """Nearest rows of each query among its candidates, nearest first."""
        check_is_fitted(self)
        _check_n_neighbors(n_neighbors, self._rows.shape[0])
        n_candidates = min(max(self.n_candidates, n_neighbors), self._rows.shape[0])
        cheap = self.transformer_.transform(X)
        listed = self.search_.kneighbors(cheap, n_candidates, return_distance=False)
        distances = np.empty((X.shape[0], n_candidates))
        for query, rows in enumerate(listed):
            distances[query] = self._distances(X[query : query + 1], self._rows[rows])
        nearest = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
        found = np.take_along_axis(listed, nearest, axis=1)
        if not return_distance:
            return found
        return np.take_along_axis(distances, nearest, axis=1), found

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            transformer=with_methods("fit", "transform"),
            n_candidates=integer(1),
            exact=one_of(None) | with_methods("__call__"),
        )

    def _distances(self, query: Any, rows: Any) -> NDArray[Any]:
        if self.exact is not None:
            return np.asarray(self.exact(query, rows)).ravel()
        if sparse.issparse(rows):
            query, rows = query.toarray(), rows.toarray()
        return np.asarray(np.linalg.norm(rows - query, axis=1))


def make_search(neighbors: Any, X: Any, n_neighbors: int, kernel: Any = None) -> Any:
    """Find the search that the ``neighbors`` parameter of an estimator stands for.

    Parameters
    ----------
    neighbors : {"auto", "kd_tree", "brute"} or object with ``fit`` and ``kneighbors``
    X : ndarray or CSR
        The rows that will be searched.
    n_neighbors : int
    kernel : callable with ``diagonal`` and ``searches_euclidean``, or None
        Where its feature space orders rows in its own way, all rows are compared there.

    Returns
    -------
    search : object with ``fit`` and ``kneighbors``, not fitted
    """
    if not isinstance(neighbors, str):
        return clone(neighbors)
    if neighbors == "kd_tree" and sparse.issparse(X):
        raise ValueError(
            "neighbors='kd_tree' needs a dense X, got a sparse matrix; use "
            "neighbors='brute' or X.toarray()."
        )
    if kernel is not None and not kernel.searches_euclidean:
        if neighbors == "kd_tree":
            raise ValueError(
                "neighbors='kd_tree' searches by Euclidean distance, but the "
                f"kernel {kernel.name!r} of degree {kernel.degree} orders rows in "
                "another way; expected 'auto', 'brute' or a search of your own."
            )
        return KernelNeighbors(kernel)
    if neighbors == "auto":
        return choose_search(X, n_neighbors)
    return TreeNeighbors() if neighbors == "kd_tree" else _brute()


def choose_search(X: Any, n_neighbors: int) -> Any:
    """Tree or comparison of all rows, whichever looks at less.

    A small tree on a sample of the rows shows which share of them a query visits; the
    choice depends on the data alone, not on the clock.
    """
    if sparse.issparse(X):
        return _brute()
    cost = _VISIT_COST + _VISIT_COST_PER_NEIGHBOR * min(n_neighbors, 100)
    # A query visits its neighbours at least; often that is the whole answer.
    if n_neighbors * cost >= X.shape[0]:
        return _brute()
    return TreeNeighbors() if share_visited(X, n_neighbors) * cost < 1 else _brute()


def fit_search(search: Any, X: Any) -> Any:
    """Fit a search, and let Ctrl-C through meanwhile."""
    check_row_numbers(X.shape[0])

    def fit() -> Any:
        with single_threaded_libraries():
            return search.fit(X)

    with single_threaded_libraries():
        return call_interruptibly(fit)


def find_neighbors(
    search: Any, X: Any, n_neighbors: int, n_rows: int, n_jobs: int | None
) -> NDArray[np.int32]:
    """Nearest of ``n_rows`` rows for blocks of queries, on threads that let Ctrl-C in.

    The blocks do not depend on the number of threads, so neither do the results.
    """

    def find(block: Any) -> Any:
        return search.kneighbors(block, n_neighbors, return_distance=False)

    def find_block(first: int) -> Any:
        with single_threaded_libraries():
            return find(X[first : first + _BLOCK_ROWS])

    starts = range(0, X.shape[0], _BLOCK_ROWS)
    found = np.empty((X.shape[0], n_neighbors), dtype=np.int32)
    if 0 < X.shape[0] <= FEW_ROWS:
        blocks = [find(X)]
    else:
        with single_threaded_libraries():
            blocks = map_interruptibly(find_block, starts, n_jobs)
    for first, rows in zip(starts, blocks, strict=True):
        if rows.min() < 0 or rows.max() >= n_rows:
            stray = rows.min() if rows.min() < 0 else rows.max()
            raise ValueError(
                f"{type(search).__name__}.kneighbors gave the row {stray}; expected "
                f"rows from 0 to {n_rows - 1}."
            )
        found[first : first + _BLOCK_ROWS] = rows
    return found


def _check_n_neighbors(n_neighbors: int, n_rows: int) -> None:
    if n_neighbors > n_rows:
        raise ValueError(
            f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {n_neighbors}, "
            f"n_samples_fit = {n_rows}."
        )


def _brute() -> NearestNeighbors:
    return NearestNeighbors(algorithm="brute")
