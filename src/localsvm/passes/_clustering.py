"""Regions from any clusterer: a fitted copy, and its centres."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from localsvm.cluster import HardRegions, SampledKMeans
from localsvm.rows import Rows


def fit_clusterer(
    clusterer: Any,
    rows: Rows,
    n_clusters: int | str,
    seed: int,
    n_jobs: int | None,
    name: str = "n_regions",
) -> Any:
    """Cluster the rows of positive weight by a copy; None is ``SampledKMeans``.

    ``name`` is that of the number of clusters in the estimator.
    """
    if n_clusters != "auto":
        check_n_clusters(name, int(n_clusters), rows.X.shape[0])
    if clusterer is None:
        fitted: Any = SampledKMeans(
            n_clusters, compute_labels=False, random_state=seed, n_jobs=n_jobs
        )
    else:
        fitted = clone(clusterer)
        if n_clusters != "auto" and "n_clusters" in fitted.get_params():
            fitted.set_params(n_clusters=n_clusters)
    if has_fit_parameter(fitted, "sample_weight"):
        return fitted.fit(rows.X, sample_weight=rows.sample_weight)
    present = rows.sample_weight > 0
    return fitted.fit(rows.X if present.all() else rows.X[present])


def check_n_clusters(name: str, n_clusters: int, n_rows: int) -> None:
    """Raise if there are fewer rows than clusters."""
    if n_rows < n_clusters:
        raise ValueError(f"n_samples={n_rows} should be >= {name}={n_clusters}.")


def centers_of(clusterer: Any, rows: Rows) -> NDArray[Any]:
    """``cluster_centers_`` of a fitted clusterer, or the means of its clusters."""
    centers = getattr(clusterer, "cluster_centers_", None)
    if centers is not None:
        return np.asarray(centers)
    labels = HardRegions(clusterer).assign(rows.X)
    members = sparse.csr_array(
        (rows.sample_weight, (labels, np.arange(len(labels)))),
        shape=(labels.max() + 1, len(labels)),
    )
    mass = np.asarray(members.sum(axis=1)).ravel()
    members, mass = members[mass > 0], mass[mass > 0]
    sums = members @ rows.X
    dense = sums.toarray() if sparse.issparse(sums) else np.asarray(sums)
    return np.asarray(dense / mass[:, np.newaxis])
