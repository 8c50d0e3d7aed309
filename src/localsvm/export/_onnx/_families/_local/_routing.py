"""Which neighbourhood answers a row: that of the nearest of some rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from localsvm.cluster import KernelNeighbors, TreeNeighbors
from localsvm.estimators import Router
from localsvm.export._onnx._families._centers import center_scores, squared_distances
from localsvm.export._onnx._families._kernels import dense, kernel_values
from localsvm.export._onnx._families._local._equal_vectors import first_of_equals
from localsvm.export._onnx._graph import Graph
from localsvm.export._onnx._tensor import Tensor

# Nearest rows by products of matrices whose distances are then taken by differences.
_N_CANDIDATES = 4
_EUCLIDEAN = ("euclidean", "l2", "sqeuclidean")


def find_neighborhood(graph: Graph, rows: Tensor, router: Router) -> Tensor:
    """Neighbourhood of each row, of shape (n_rows,)."""
    points = dense(router.rows)
    if isinstance(router.search, KernelNeighbors):
        nearest = _nearest_in_feature_space(graph, rows, points, router.search)
    elif _is_euclidean(router.search):
        nearest = _nearest(graph, rows, points)
    else:
        raise TypeError(
            f"neighbors={router.search!r} cannot be exported to ONNX: it searches in "
            "its own way. Use neighbors='auto', 'kd_tree', 'brute' or Euclidean "
            "NearestNeighbors."
        )
    return graph.constant(_regions_of(points, router), np.int64).take(nearest)


def _is_euclidean(search: Any) -> bool:
    if isinstance(search, TreeNeighbors):
        return True
    if not isinstance(search, NearestNeighbors):
        return False
    plain = search.metric == "minkowski" and search.p == 2
    return plain or search.metric in _EUCLIDEAN


def _regions_of(points: NDArray[Any], router: Router) -> NDArray[np.int64]:
    """Neighbourhood of each point, the same for equal ones.

    Equal rows of different classes may stand for different neighbourhoods; which of
    them counts is up to the search.
    """
    regions = router.regions.astype(np.int64)
    first = first_of_equals(points)
    several = np.flatnonzero(np.bincount(first)[first] > 1)
    if several.size:
        regions[several] = router.route(router.rows[several], None)
    return regions


def _nearest(graph: Graph, rows: Tensor, points: NDArray[Any]) -> Tensor:
    """Nearest of the points, of shape (n_rows,).

    Products of matrices find a few candidates. Among them it is decided by differences,
    which lose nothing where rows are close together and far from the others.
    """
    n_candidates = min(_N_CANDIDATES, len(points))
    scores = center_scores(graph, rows, points)
    candidates = scores.extremes(n_candidates, largest=False)[1]
    graph.uses(2 * n_candidates * points.shape[1])
    squared = squared_distances(graph, rows, points, candidates)
    beaten = squared.above(squared.min(1, keep=True))
    # The first of the nearest at a tie, as in a comparison of all rows one by one.
    return beaten.where(len(points), candidates).min(1)


def _nearest_in_feature_space(
    graph: Graph, rows: Tensor, points: NDArray[Any], search: KernelNeighbors
) -> Tensor:
    """By K(z, z) - 2 K(x, z)."""
    values = kernel_values(graph, rows, points, search.kernel)
    own = search.kernel.diagonal(points.astype(np.float64))
    return (graph.weight(own) - values - values).arg_min(1)
