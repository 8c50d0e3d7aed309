"""Rows to Gaussian summaries, by any clusterer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import has_fit_parameter

from localsvm._checks import check_sample_weight
from localsvm._seeds import seeded_clone
from localsvm._threads import map_interruptibly, single_threaded_libraries
from localsvm.cluster._gaussian_summary import GaussianSummary
from localsvm.cluster._threshold import ThresholdClustering
from localsvm.rows import distinct_rows, merge_weights, take_rows

Result = TypeVar("Result")

COVARIANCES = ("diag", "full", "none")
_BLOCK_ROWS = 1 << 14

# Weights, means and covariances of some clusters.
_Moments = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64] | None]


def summarize_rows(
    X: Any,
    clusters: Any,
    *,
    sample_weight: Any = None,
    covariance: str = "diag",
    label: Any = None,
) -> GaussianSummary:
    """Summarise rows by the clusters that they belong to.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        Finite numbers.
    clusters : array-like of shape (n_samples,) or (n_samples, n_clusters)
        The number of each row's cluster, from 0; or the share of each row in every
        cluster, none negative.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights of the rows.
    covariance : {"diag", "full", "none"}, default="diag"
    label : object, default=None
        Class of all these rows.

    Returns
    -------
    GaussianSummary
        In the order of the clusters. Clusters without weight are left out.

    Notes
    -----
    O(n d) for hard clusters and O(n K d) for soft ones, times d with full covariances.
    """
    if covariance not in COVARIANCES:
        raise ValueError(
            f"covariance must be one of {', '.join(map(repr, COVARIANCES))}. "
            f"Got {covariance!r} instead."
        )
    weight = check_sample_weight(sample_weight, X)
    clusters = clusters if sparse.issparse(clusters) else np.asarray(clusters)
    if clusters.ndim == 1 and covariance != "full":
        moments = _moments_of_blocks(X, clusters, weight, covariance == "diag")
    else:
        moments = _moments_of_clusters(X, clusters, weight, covariance)
    masses, means, spreads = zip(*moments, strict=True)
    mass = np.concatenate(masses)
    return GaussianSummary(
        mass,
        np.concatenate(means),
        None if covariance == "none" else np.concatenate(spreads),
        None if label is None else np.full(len(mass), label),
    )


def summarize_clusters(
    clusterer: Any,
    X: Any,
    *,
    sample_weight: Any = None,
    covariance: str = "diag",
    label: Any = None,
) -> GaussianSummary:
    """Fit a clusterer to rows and summarise the clusters that it finds.

    Parameters
    ----------
    clusterer : clusterer or mixture model
        Fitted here. With ``predict_proba``, as
        :class:`~sklearn.mixture.GaussianMixture` has it, rows are shared among the
        clusters; otherwise each belongs to the one of its ``labels_``. Without
        ``sample_weight`` in its ``fit`` it sees the rows of positive weight, once each;
        the summary counts them by their weights.
    X : ndarray or CSR of shape (n_samples, n_features)
        Finite numbers, float32 or float64.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights of the rows.
    covariance : {"diag", "full", "none"}, default="diag"
        As in :func:`summarize_rows`.
    label : array-like or None, default=None
        As in :func:`summarize_rows`.

    Returns
    -------
    GaussianSummary

    Notes
    -----
    Costs what the clusterer does and what :func:`summarize_rows` does.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from localsvm.cluster import summarize_clusters
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> summary = summarize_clusters(KMeans(5, random_state=0), X, covariance="full")
    >>> summary.covariance.shape, summary.weight.sum().item()
    ((5, 3, 3), 100.0)
    """
    weight = check_sample_weight(sample_weight, X)
    present = weight > 0
    if not present.all():
        X, weight = X[present], weight[present]
    return summarize_rows(
        X,
        find_clusters(clusterer, X, weight),
        sample_weight=weight,
        covariance=covariance,
        label=label,
    )


def find_clusters(clusterer: Any, X: Any, weight: NDArray[np.float64]) -> Any:
    """Fit a clusterer: the number of each row's cluster, or its share in every one."""
    if has_fit_parameter(clusterer, "sample_weight"):
        clusterer.fit(X, sample_weight=weight)
    else:
        clusterer.fit(X)
    soft = hasattr(clusterer, "predict_proba")
    return clusterer.predict_proba(X) if soft else hard_labels(clusterer, X)


def summarize_classes(
    clusterer: Any,
    X: Any,
    y: NDArray[Any],
    *,
    sample_weight: Any = None,
    covariance: str = "diag",
    seed: int = 0,
    n_jobs: int | None = None,
) -> GaussianSummary:
    """Summarise each class by a copy of a clusterer, whatever the order of the rows.

    Parameters
    ----------
    clusterer : clusterer or mixture model
        As in :func:`summarize_clusters`; a copy is fitted to each class. Its
        ``n_clusters`` or ``n_components`` is lowered where a class has fewer distinct
        rows.
    X : ndarray or CSR of shape (n_samples, n_features)
        Rows.
    y : ndarray of shape (n_samples,)
        Class of each row.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights of the rows.
    covariance : {"diag", "full", "none"}, default="diag"
        As in :func:`summarize_rows`.
    seed : int, default=0
        Chooses the order in which rows come, by a hash of their content, and the
        ``random_state`` of copies that have none. Equal rows of a class are one row
        with the sum of their weights.
    n_jobs : int or None, default=None
        Threads over classes; they do not change the result.

    Returns
    -------
    GaussianSummary
        With labels; the clusters of a class stand together, classes in sorted order.
    """

    def summarize(
        label: Any, rows: Any, clusters: Any, weight: NDArray[np.float64]
    ) -> GaussianSummary:
        return summarize_rows(
            rows, clusters, sample_weight=weight, covariance=covariance, label=label
        )

    weight = check_sample_weight(sample_weight, X)
    return GaussianSummary.concatenated(
        map_classes(summarize, clusterer, X, y, weight, seed=seed, n_jobs=n_jobs)
    )


def class_clusterer(clusterer: Any, n_clusters: int) -> Any:
    """Clusterer of each class: the given one, or by a threshold as in the paper."""
    return ThresholdClustering(n_clusters) if clusterer is None else clusterer


def map_classes(
    work: Callable[[Any, Any, Any, NDArray[np.float64]], Result],
    clusterer: Any,
    X: Any,
    y: NDArray[Any],
    weight: NDArray[np.float64],
    *,
    seed: int,
    n_jobs: int | None = None,
) -> list[Result]:
    """Cluster each class and give label, rows, clusters and weights to ``work``.

    Arguments are those of :func:`summarize_classes`; equal rows come once.
    """
    classes, class_index = np.unique(y, return_inverse=True)
    first, kind = distinct_rows(X, weight, seed, class_index.astype(np.int32))
    merged_weight = merge_weights(weight, kind)

    def work_on_class(index: int) -> Result:
        own = class_index[first] == index
        rows, own_weight = take_rows(X, first[own]), merged_weight[own]
        copy = copy_for(clusterer, rows.shape[0], seed)
        clusters = find_clusters(copy, rows, own_weight)
        return work(classes[index], rows, clusters, own_weight)

    present = np.unique(class_index[first]).tolist()
    return map_interruptibly(work_on_class, present, n_jobs)


def copy_for(clusterer: Any, n_rows: int, seed: int) -> Any:
    """Copy a clusterer for so many rows, with no more clusters and with a seed."""
    copy = seeded_clone(clusterer, lambda: seed)
    for name in ("n_clusters", "n_components"):
        wanted = copy.get_params().get(name)
        if isinstance(wanted, int) and wanted > n_rows:
            copy.set_params(**{name: n_rows})
    return copy


def hard_labels(clusterer: Any, X: Any) -> NDArray[np.intp]:
    """Cluster of each row that the clusterer was fitted to, checked to be from 0."""
    labels = np.asarray(clusterer.labels_)
    if labels.shape != (X.shape[0],) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"{type(clusterer).__name__}.labels_ must hold one integer label per row, "
            f"got shape {labels.shape} and dtype {labels.dtype}."
        )
    if labels.min() < 0:
        raise ValueError(
            f"{type(clusterer).__name__} gave the label {labels.min()} to a row; "
            "expected labels >= 0 (use a clusterer without noise rows)."
        )
    return labels.astype(np.intp, copy=False)


def _moments_of_blocks(
    X: Any, clusters: NDArray[Any], weight: NDArray[np.float64], with_spread: bool
) -> Iterator[_Moments]:
    """Moments of hard clusters, many of them at once."""
    order = np.flatnonzero(weight > 0)
    order = order[np.argsort(clusters[order], kind="stable")]
    own = clusters[order]
    start = np.flatnonzero(np.r_[True, own[1:] != own[:-1]])
    for first, last in _blocks(np.r_[start, len(order)]):
        block = order[first:last]
        inside = start[(start >= first) & (start < last)] - first
        rows, share = _dense(X[block]), weight[block, np.newaxis]
        mass = np.add.reduceat(share, inside)
        mean = np.add.reduceat(share * rows, inside) / mass
        spread = None
        if with_spread:
            sizes = np.diff(np.r_[inside, len(block)])
            away = rows - np.repeat(mean, sizes, axis=0)
            spread = np.add.reduceat(share * away**2, inside) / mass
        yield mass.ravel(), mean, spread


def _blocks(edges: NDArray[np.intp]) -> Iterator[tuple[int, int]]:
    """Ranges of rows that end with a cluster, of few rows unless a cluster is large."""
    first = 0
    for last, following in pairwise([*edges[1:].tolist(), np.inf]):
        if following - first > _BLOCK_ROWS:
            yield first, last
            first = last


def _moments_of_clusters(
    X: Any, clusters: Any, weight: NDArray[np.float64], covariance: str
) -> Iterator[_Moments]:
    """Moments of one cluster after the other."""
    for members, share in _members(clusters, weight):
        rows, mass = _dense(X[members]), float(share.sum())
        with single_threaded_libraries():
            mean = share @ rows / mass
            away, spread = rows - mean, None
            if covariance == "diag":
                spread = share @ away**2 / mass
            elif covariance == "full":
                spread = (share[:, np.newaxis] * away).T @ away / mass
        yield (
            np.array([mass]),
            mean[np.newaxis],
            None if spread is None else spread[np.newaxis],
        )


def _members(
    clusters: Any, weight: NDArray[np.float64]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
    """Rows of each cluster that has any, and their weights in it."""
    if clusters.ndim == 1:
        rows = np.arange(len(weight))
        clusters = sparse.csr_array((np.ones(len(rows)), (rows, clusters)))
    share = sparse.csr_array(sparse.diags_array(weight) @ clusters).T.tocsr()
    share.eliminate_zeros()
    for first, last in zip(share.indptr[:-1], share.indptr[1:], strict=True):
        if last > first:
            yield share.indices[first:last], share.data[first:last]


def _dense(X: Any) -> NDArray[np.float64]:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
