"""Clusters of a given radius, or of a given number, in one pass over the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from localsvm import _core
from localsvm._checks import (
    check_parameters,
    check_rows,
    check_sample_weight,
    check_squares,
    integer,
    one_of,
    real,
    unchanged_on_failure,
)
from localsvm.cluster._base import BaseClusterer
from localsvm.rows import as_rows

_UNLIMITED = np.iinfo(np.int64).max


@dataclass(frozen=True)
class _Clusters:
    """Where a scan begins; the arrays are not changed by it."""

    centers: NDArray[Any]
    sums: NDArray[np.float64]
    weights: NDArray[np.float64]
    threshold: float


class ThresholdClustering(BaseClusterer):
    r"""Threshold order-dependent clustering (TOD), one row after the other.

    A row farther than a threshold from every centre founds a cluster, any other joins
    that of its nearest centre (the first of several). Fast and in little memory, rows
    can come in batches, and no number of clusters needs to be known.

    Parameters
    ----------
    max_clusters : int or None, default=8
        Before there are more clusters than that, the threshold is raised and clusters
        are merged.
        None leaves the threshold as it is, and there are as many clusters as there
        are.
    threshold : float or None, default=None
        Distance up to which a row joins a cluster. With ``max_clusters`` it is where
        the threshold begins; None then means 0.
    center : {"leader", "mean"}, default="leader"
        What the centre of a cluster is: the row that founded it, or the weighted mean
        of its rows so far. Means lie in the middle of their rows, but move: rows of a
        cluster may be farther than the threshold from where its centre is in the end,
        and merging may leave far fewer than ``max_clusters``.
    n_jobs : int or None, default=None
        Threads of ``predict``.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        In the order in which the clusters were founded, in the data type of ``X``.
    cluster_weights_ : ndarray of shape (n_clusters,)
        Sum of the weights of the rows of each.
    threshold_ : float
        As it has become.
    labels_ : ndarray of shape (n_samples,), int32
        The cluster that counts each row of the last ``fit`` or ``partial_fit``; for
        rows of weight zero that of the nearest centre.
    moved_to_ : ndarray of shape (n_clusters_before,), int32
        Which cluster each one before the last ``partial_fit`` is, or is part of, now:
        ``moved_to_[labels]`` updates earlier labels. Empty after ``fit``.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    SampledKMeans : Better clusters that do not depend on the order of the rows.
    sklearn.cluster.Birch : A tree of clusters of a given radius.

    Notes
    -----
    With K clusters and d columns a row costs O(K d) and memory is O(K d) besides the
    labels. The result depends on the order of the rows: shuffle data that are sorted.
    A row of weight two equals the row twice in a row (means to rounding), a row of
    weight zero its absence. Rows in batches give the clusters of one ``fit`` bit for
    bit.

    With a fixed threshold and the leader as centre, centres are farther than it from
    one another, and every row is within it of its centre.

    Correction to section 2.2.1 of Li et al.: a row is compared with the threshold by
    its distance to the nearest centre. As printed ("longest distance") it would found a
    cluster as soon as one centre is far, and nearly every row would.

    How the threshold grows is ours. Where a row would found one cluster too many, the
    clusters are compared by Ward's distance, :math:`|c_a - c_b| \sqrt{2 w_a w_b / (w_a
    + w_b)}` for weights w: that of two single rows, and more between heavy clusters.
    The threshold is raised to the 15 % quantile of the smallest distance of each
    cluster, and clusters within it of an earlier one merge, the heavier leader staying;
    at least one does. A row that is nearer to a centre than any two clusters are to
    each other joins instead, and the threshold becomes its distance. This costs
    O(K\ :sup:`2` d). A smaller quantile merges few at a time and has to be called again
    soon, a larger one more than needed. By plain distances dense regions would merge
    first, and few clusters end up with most rows. Weights count rows: where all are far
    from one, divide by their mean.

    References
    ----------
    M. Friedman, A. Kandel. Introduction to pattern recognition: statistical,
    structural, neural and fuzzy logic approaches. Imperial College Press, 1999.

    B. Li, M. Chi, J. Fan, X. Xue. Support cluster machine. ICML 2007.

    J. H. Ward. Hierarchical grouping to optimize an objective function. JASA 58, 1963.

    Examples
    --------
    >>> import numpy as np
    >>> from localsvm.cluster import ThresholdClustering
    >>> X = np.array([[0.0], [5.0], [0.2], [5.2], [9.0]])
    >>> ThresholdClustering(None, threshold=1.0).fit_predict(X)
    array([0, 1, 0, 1, 2], dtype=int32)
    >>> model = ThresholdClustering(2).fit(X)
    >>> model.cluster_centers_.ravel(), model.cluster_weights_
    (array([0., 5.]), array([2., 3.]))
    """

    def __init__(
        self,
        max_clusters: int | None = 8,
        *,
        threshold: float | None = None,
        center: str = "leader",
        n_jobs: int | None = None,
    ) -> None:
        self.max_clusters = max_clusters
        self.threshold = threshold
        self.center = center
        self.n_jobs = n_jobs

    def _fit(self, X: Any, weight: NDArray[np.float64]) -> None:
        check_squares(X)
        none = np.empty((0, X.shape[1]))
        before = _Clusters(none.astype(X.dtype), none, np.empty(0), 0.0)
        self._scan(X, weight, before)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go on with more rows; the first call is ``fit``.

        The threshold goes on from ``threshold_``, rows are converted to the data type
        of the centres. A call that fails or is interrupted changes nothing.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : Ignored
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : ThresholdClustering
        """
        if not hasattr(self, "cluster_centers_"):
            return self.fit(X, sample_weight=sample_weight)
        with unchanged_on_failure(self):
            self._check_parameters()
            before = _Clusters(
                self.cluster_centers_,
                self._sums,
                self.cluster_weights_,
                self.threshold_,
            )
            X = self._as_centers(check_rows(self, X, reset=False))
            self._scan(X, check_sample_weight(sample_weight, X), before)
        return self

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            max_clusters=one_of(None) | integer(1),
            threshold=one_of(None) | real(0, closed="left"),
            center=one_of("leader", "mean"),
        )
        if self.max_clusters is None and self.threshold is None:
            raise ValueError(
                "max_clusters and threshold are both None; expected one of them at "
                "least: clusters are limited by their number or by their radius."
            )

    def _assign(self, X: Any) -> NDArray[np.int32]:
        return super()._assign(self._as_centers(X))

    def _as_centers(self, X: Any) -> Any:
        """Rows in the data type of the centres."""
        with np.errstate(over="ignore"):
            rows = X.astype(self.cluster_centers_.dtype, copy=False)
        check_squares(rows)
        return rows

    def _scan(self, X: Any, weight: NDArray[np.float64], before: _Clusters) -> None:
        options = _core.ThresholdOptions(
            threshold=max(before.threshold, self.threshold or 0.0),
            max_clusters=self.max_clusters or _UNLIMITED,
            follows_mean=self.center == "mean",
        )
        found = _core.scan_threshold(
            as_rows(X), weight, before.centers, before.sums, before.weights, options
        )
        _check_sums(found.sums, found.masses, weight)
        self.cluster_centers_ = found.centers
        self._sums = found.sums
        self.cluster_weights_ = found.masses
        self.threshold_ = found.threshold
        self.labels_ = found.labels
        self.moved_to_ = found.moved_to


def _check_sums(
    sums: NDArray[np.float64], masses: NDArray[np.float64], weight: NDArray[np.float64]
) -> None:
    if not (np.isfinite(sums).all() and np.isfinite(masses).all()):
        raise ValueError(
            f"sample_weight has values up to {weight.max():.3g}, too large for the "
            "weighted sums of the rows. Divide the weights by their mean."
        )
