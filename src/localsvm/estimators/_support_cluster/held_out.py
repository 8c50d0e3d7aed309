"""Decisions on rows by clusters that have lost them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import pairwise_distances_argmin

from localsvm.cluster import GaussianSummary
from localsvm.estimators._held_out import MOST_HELD_OUT, sample_rows
from localsvm.rows import Rows, held_out_first, stratified_folds

_SHARE = 0.1
_MOST_IN_FOLDS, _N_FOLDS = 1000, 5
# Part of its weight below which a cluster is empty: what rounding leaves.
_EMPTY = 1e-9


def draw_rows(rows: Rows) -> list[Rows]:
    """Draw distinct rows that leave together, and never all of a class.

    Parameters
    ----------
    rows : Rows

    Returns
    -------
    list of Rows
        Five folds of up to 1000 rows; of more one part, a tenth, at most 2000 rows.
    """
    known = sample_rows(rows)[0].rows
    if known.n_rows <= _MOST_IN_FOLDS:
        folds = stratified_folds(known.class_index, _N_FOLDS)
    else:
        n_test = min(MOST_HELD_OUT, int(_SHARE * known.n_rows))
        folds = held_out_first(known.class_index, known.n_rows, n_test)
    return [_dense(known.take(fold.test)) for fold in folds]


def _dense(rows: Rows) -> Rows:
    return replace(rows, X=rows.X.toarray()) if sparse.issparse(rows.X) else rows


def without_rows(
    summary: GaussianSummary, rows: Rows, classes: NDArray[Any]
) -> GaussianSummary:
    """Take rows out of the clusters that they belong to.

    Parameters
    ----------
    summary : GaussianSummary
    rows : Rows
        Of these clusters; each leaves the nearest one of its class.
    classes : ndarray of shape (n_classes,)

    Returns
    -------
    GaussianSummary
        Weights and means are those of the rows that stay, covariances as before;
        clusters without any rows are gone.
    """
    X = np.asarray(rows.X, dtype=np.float64)
    labels, cluster = np.asarray(summary.label), np.empty(len(X), dtype=np.intp)
    for number, label in enumerate(classes):
        own, known = rows.class_index == number, np.flatnonzero(labels == label)
        if own.any():
            nearest = pairwise_distances_argmin(X[own], summary.mean[known])
            cluster[own] = known[nearest]
    share = sparse.csr_array(
        (rows.sample_weight, (cluster, np.arange(len(X)))),
        shape=(summary.n_clusters, len(X)),
    )
    weight = summary.weight - np.asarray(share.sum(axis=1)).ravel()
    kept = weight > _EMPTY * summary.weight
    # From the old means, where little is lost to rounding.
    shift = (share @ (X - summary.mean[cluster]))[kept] / weight[kept, np.newaxis]
    left = replace(summary.take(kept), feature_names=None)
    return replace(left, weight=weight[kept], mean=left.mean - shift)
