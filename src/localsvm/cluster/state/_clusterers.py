"""Clusterers: ours, and those of scikit-learn that predict by public attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.cluster import Birch, BisectingKMeans, KMeans, MiniBatchKMeans
from sklearn.mixture import GaussianMixture

from localsvm.cluster import (
    PDDP,
    ParallelKMeans,
    SampledKMeans,
    SplitTree,
    ThresholdClustering,
)
from localsvm.state import (
    COLUMNS,
    Array,
    Dims,
    Fields,
    Number,
    Record,
    Sometimes,
    Spec,
    Whole,
    doubles,
    floats,
    indices,
    short_indices,
)

_CENTERS: Fields = {
    **COLUMNS,
    "cluster_centers_": floats("clusters", "columns", by_rows=True),
}
_LABELS: Fields = {
    "labels_": Sometimes(short_indices("clustered_rows", below="clusters"))
}
_LLOYD: Fields = {
    **_CENTERS,
    **_LABELS,
    "inertia_": Sometimes(Number(0.0)),
    "n_iter_": Sometimes(Whole(0)),
    "n_steps_": Sometimes(Whole(0)),
}


def _make_lloyd(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    """Let scikit-learn set what ``predict`` needs besides the centres."""
    del dims
    small = KMeans(1, n_init=1, max_iter=1).fit(np.zeros((1, 1)))
    params = small.get_params()
    others = {name: each for name, each in vars(small).items() if name not in params}
    for name in [name for name in others if not name.startswith("_")]:
        del others[name]
    vars(unfitted).update(others)
    vars(unfitted).update(values)
    return unfitted


def _check_tree(model: Any, values: Mapping[str, Any], dims: Dims) -> None:
    """Every cut belongs to one node, its sides come later, and leaves are clusters."""
    del model
    content = values["_tree"].content
    dims.bind("nodes", 2 * dims["cuts"] + 1, "_tree.content")
    nodes = np.flatnonzero(content >= 0)
    cuts = content[nodes]
    if not np.array_equal(np.sort(cuts), np.arange(dims["cuts"])):
        raise ValueError("a cut of its tree does not belong to one node.")
    if (2 * cuts + 1 <= nodes).any():
        raise ValueError("a node of its tree is below itself.")
    if not np.array_equal(np.sort(~content[content < 0]), np.arange(dims["clusters"])):
        raise ValueError("the leaves of its tree are not its clusters.")


SPECS = (
    Spec(
        SampledKMeans,
        "clusterer",
        {**_CENTERS, **_LABELS, "n_sampled_": Whole(1), "n_iter_": Whole(0)},
    ),
    Spec(
        ParallelKMeans,
        "clusterer",
        {**_CENTERS, **_LABELS, "inertia_": Number(0.0), "n_iter_": Whole(1)},
    ),
    Spec(
        PDDP,
        "clusterer",
        {
            **_CENTERS,
            **_LABELS,
            "n_clusters_": Whole(1, dim="clusters"),
            "cluster_scatters_": doubles("clusters", low=0),
            "_tree": Record(
                SplitTree,
                directions=doubles("cuts", "columns"),
                offsets=doubles("cuts"),
                content=indices("nodes", low=-(2**62), below="cuts"),
            ),
        },
        check=_check_tree,
    ),
    Spec(
        ThresholdClustering,
        "clusterer",
        {
            **_CENTERS,
            **_LABELS,
            "_sums": Array((np.float64,), "clusters", "columns", by_rows=True),
            "cluster_weights_": doubles("clusters", low=0),
            "threshold_": Number(0.0),
            "moved_to_": short_indices("clusters_before", below="clusters"),
        },
    ),
    Spec(KMeans, "clusterer", _LLOYD, make=_make_lloyd),
    Spec(MiniBatchKMeans, "clusterer", _LLOYD, make=_make_lloyd),
    # As parameters, and as what tells of a fit; they predict by private attributes.
    Spec(BisectingKMeans, "clusterer"),
    Spec(Birch, "clusterer"),
    Spec(GaussianMixture, "clusterer"),
)
