"""Which region a row falls in: nearest centres, and hyperplanes of a tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.cluster import PDDP
from localsvm.export._onnx._graph import Graph
from localsvm.export._onnx._tensor import Tensor

_N_PROBES = 4096
_MIDDLE_BITS = 3


def center_scores(graph: Graph, rows: Tensor, centers: NDArray[Any]) -> Tensor:
    """Squared distances to all centres, less the squared norm of the moved row.

    They are sums of products of rows that are moved to the middle of the centres, where
    they lose least to cancellation.
    """
    middle = middle_of(centers)
    moved = rows - graph.weight(middle)
    shifted = np.asarray(centers, dtype=np.float64) - middle
    norms: NDArray[np.float64] = np.square(shifted).sum(axis=1)
    graph.uses(len(shifted))
    return moved @ graph.weight(-2 * shifted.T) + graph.weight(norms)


def middle_of(points: NDArray[Any]) -> NDArray[np.float64]:
    """Mean of the points, rounded to a few binary digits.

    So whole numbers and the like stay exact when they are moved, and so do ties.
    """
    wide = np.asarray(points, dtype=np.float64)
    spread = np.ptp(wide, axis=0)
    step = np.exp2(np.floor(np.log2(np.where(spread > 0, spread, 1.0))) - _MIDDLE_BITS)
    rounded: NDArray[np.float64] = np.round(wide.mean(axis=0) / step) * step
    return rounded


def squared_distances(
    graph: Graph, rows: Tensor, points: NDArray[Any], index: Tensor
) -> Tensor:
    """Squared distances of each row to some points of its own, by differences."""
    chosen = graph.weight(points).take(index)
    difference = chosen - rows.expand(1)
    return (difference * difference).sum(2)


def find_cluster(graph: Graph, rows: Tensor, clusterer: Any) -> Tensor:
    """Label that a fitted clusterer predicts, of shape (n_rows,)."""
    if isinstance(clusterer, PDDP):
        return _walk_tree(graph, rows, clusterer)
    centers = getattr(clusterer, "cluster_centers_", None)
    if centers is None or not predicts_nearest(clusterer, np.asarray(centers)):
        raise TypeError(
            f"clusterer={type(clusterer).__name__} cannot be exported to ONNX: its "
            "predict is not the nearest of cluster_centers_. Use a clusterer whose is, "
            "such as KMeans or SampledKMeans, or n_nearest above 1."
        )
    return center_scores(graph, rows, np.asarray(centers)).arg_min(1)


def predicts_nearest(clusterer: Any, centers: NDArray[Any]) -> bool:
    """Whether rows between the centres are given to the nearest of them."""
    rng = np.random.default_rng(0)
    ends = centers[rng.integers(len(centers), size=(2, _N_PROBES))].astype(np.float64)
    share = rng.uniform(-0.5, 1.5, size=(_N_PROBES, 1))
    probes = share * ends[0] + (1 - share) * ends[1]
    probes += 0.3 * centers.std(axis=0) * rng.standard_normal(probes.shape)
    probes = probes.astype(centers.dtype)
    distance = (
        np.square(centers, dtype=np.float64).sum(axis=1)
        - 2.0 * probes.astype(np.float64) @ centers.T
    )
    labels = np.asarray(clusterer.predict(probes))
    if labels.max() >= len(centers):
        return False
    own = np.take_along_axis(distance, labels[:, np.newaxis].astype(np.intp), axis=1)
    gap = own[:, 0] - distance.min(axis=1)
    rounding = 100 * np.finfo(centers.dtype).eps * np.abs(distance).max()
    return bool((gap <= rounding).all())


def _walk_tree(graph: Graph, rows: Tensor, clusterer: PDDP) -> Tensor:
    """Leaf whose way from the root agrees with all hyperplanes."""
    tree = clusterer._tree
    sides, depth = _paths(tree.content)
    if not len(tree.offsets):
        # A tree without a hyperplane is one leaf.
        return (rows.columns(0, 1) * 0.0).arg_max(1)
    right = (rows @ graph.weight(tree.directions.T)).above(tree.offsets)
    agreeing = (right.real() * 2.0 - 1.0) @ sides
    return (agreeing - depth).arg_max(1)


def _paths(content: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Side of each hyperplane (rows) that each leaf is on, and the leaves' depths."""
    n_splits = int(np.count_nonzero(content >= 0))
    sides = np.zeros((n_splits, n_splits + 1))
    pending: list[tuple[int, dict[int, int]]] = [(0, {})]
    while pending:
        node, way = pending.pop()
        split = int(content[node])
        if split < 0:
            for passed, side in way.items():
                sides[passed, ~split] = side
            continue
        pending.append((2 * split + 1, {**way, split: -1}))
        pending.append((2 * split + 2, {**way, split: 1}))
    return sides, np.abs(sides).sum(axis=0)
