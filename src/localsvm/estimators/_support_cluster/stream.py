"""A stream: how a batch of rows extends the classes and their clusters."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from localsvm.cluster import GaussianSummary, ThresholdClustering, summarize_rows
from localsvm.engine import Block


def can_stream(model: Any) -> bool:
    """Whether ``partial_fit`` can continue from the clusters; raises if not."""
    if model.clusterer is None or isinstance(model.clusterer, ThresholdClustering):
        return True
    raise AttributeError(
        "partial_fit continues the clusters of earlier rows, which needs "
        "clusterer=None or a ThresholdClustering. Got clusterer="
        f"{type(model.clusterer).__name__} instead."
    )


def extend_classes(
    known: NDArray[Any] | None, all_named: bool, y: NDArray[Any], named: Any
) -> NDArray[Any]:
    """Add the classes of a batch, unless all were named before.

    Parameters
    ----------
    known : ndarray or None
        Classes of earlier batches.
    all_named : bool
        Whether an earlier call named all classes.
    y : ndarray of shape (n_rows,)
        Labels of the batch.
    named : array-like or None
        All classes, as this call names them.

    Returns
    -------
    ndarray of shape (n_classes,)
        Sorted.
    """
    if named is not None:
        classes = np.unique(named)
        if known is not None and not np.array_equal(known, classes):
            raise ValueError(
                f"classes={classes.tolist()} is not the same as in an earlier call: "
                f"expected {known.tolist()}."
            )
    elif known is None:
        classes = np.unique(y)
    else:
        classes = known if all_named else np.union1d(known, y)
    strange = np.setdiff1d(y, classes)
    if len(strange):
        raise ValueError(
            f"y contains the class {strange.tolist()[0]!r}; expected one of "
            f"{classes.tolist()}, which were named as all classes."
        )
    return classes


def extend_clusters(
    summary: GaussianSummary | None,
    streams: Mapping[Any, ThresholdClustering],
    batch: Block,
    clusterer: ThresholdClustering,
    covariance: str,
) -> tuple[GaussianSummary, dict[Any, ThresholdClustering]]:
    """Add the rows of each class to its clusters.

    Parameters
    ----------
    summary : GaussianSummary or None
        Clusters of earlier rows.
    streams : mapping of label to ThresholdClustering
        Clusterers of the classes that earlier batches had.
    batch : Block
    clusterer : ThresholdClustering
        Copied for classes that have none yet.
    covariance : {"diag", "full", "none"}

    Returns
    -------
    summary : GaussianSummary
    streams : dict
        New clusterers; those that were given are not changed.
    """
    summaries, extended = _by_class(summary), dict(streams)
    weight = batch.sample_weight
    for label in np.unique(batch.y[weight > 0]).tolist():
        own = (batch.y == label) & (weight > 0)
        stream, known = extended.get(label), summaries.get(label)
        X = batch.X[own]
        if stream is None:
            stream, known = _begin(clusterer, known, X.dtype)
        extended[label] = stream = copy(stream).partial_fit(
            X, sample_weight=weight[own]
        )
        rows = summarize_rows(
            X,
            stream.labels_,
            sample_weight=weight[own],
            covariance=covariance,
            label=label,
        )
        summaries[label] = rows if known is None else _joined(known, rows, stream)
    parts = [summaries[label] for label in sorted(summaries)]
    return GaussianSummary.concatenated(parts), extended


def _by_class(summary: GaussianSummary | None) -> dict[Any, GaussianSummary]:
    if summary is None:
        return {}
    whole = replace(summary, feature_names=None)
    labels = np.asarray(whole.label)
    return {label: whole.take(labels == label) for label in np.unique(labels).tolist()}


def _begin(
    clusterer: ThresholdClustering, known: GaussianSummary | None, dtype: Any
) -> tuple[ThresholdClustering, GaussianSummary | None]:
    """Begin the stream of a class; clusters of another origin begin as rows."""
    stream = clone(clusterer)
    if known is None:
        return stream, None
    stream.partial_fit(known.mean.astype(dtype), sample_weight=known.weight)
    return stream, known.merged(stream.labels_)


def _joined(
    known: GaussianSummary, batch: GaussianSummary, stream: ThresholdClustering
) -> GaussianSummary:
    """Merge the clusters of a batch into those that the stream has moved."""
    both = GaussianSummary.concatenated([known, batch])
    return both.merged(np.concatenate([stream.moved_to_, np.unique(stream.labels_)]))
