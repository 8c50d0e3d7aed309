"""How much of the data a k-d tree has to look at."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

# Entries of the sample, of few and of many columns: building its tree costs a few
# milliseconds. Many rows are needed where columns are few: only there are shares small.
_SAMPLE_ENTRIES = 2**19
_SAMPLE_ROWS = 2048, 16_384
_QUERIES = 16
_LEAF_SIZE = 32


def share_visited(X: NDArray[Any], n_neighbors: int) -> float:
    """Estimate the share of the rows that a nearest neighbour query visits.

    A tree on evenly spaced rows is asked for as many neighbours as lie, on average,
    within the distance of ``n_neighbors`` in all rows. The rows visited are those of
    the leaves that the ball around the query meets. The leaves of the sample's tree are
    larger than those of the whole, so the estimate errs on the high side.
    """
    most = min(max(_SAMPLE_ENTRIES // X.shape[1], _SAMPLE_ROWS[0]), _SAMPLE_ROWS[1])
    step = math.ceil(X.shape[0] / most)
    sample = np.ascontiguousarray(X[::step], dtype=np.float64)
    n_neighbors = min(max(1, round(n_neighbors / step)) + 1, len(sample))
    tree = KDTree(sample, leafsize=_LEAF_SIZE)
    queries = sample[:: math.ceil(len(sample) / _QUERIES)]
    radius = tree.query(queries, [n_neighbors])[0][:, 0]
    low, high, size = _leaf_cells(tree)
    visited = np.zeros(len(queries))
    for i, query in enumerate(queries):
        beyond = np.maximum(low - query, 0.0) + np.maximum(query - high, 0.0)
        visited[i] = size[(beyond**2).sum(axis=1) <= radius[i] ** 2].sum()
    return float(visited.mean() / len(sample))


def _leaf_cells(
    tree: KDTree,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Cells that the splits cut out, and how many rows each holds.

    A query knows a leaf by the splits above it, not by the rows inside: where columns
    hold few values, cells are much larger than their rows need.
    """
    low, high, size = [], [], []
    stack = [(tree.tree, tree.mins, tree.maxes)]
    while stack:
        node, least, most = stack.pop()
        if not isinstance(node, KDTree.innernode):
            low.append(least)
            high.append(most)
            size.append(len(node.idx))
            continue
        below, above = most.copy(), least.copy()
        below[node.split_dim] = above[node.split_dim] = node.split
        stack += [(node.less, least, below), (node.greater, above, most)]
    return np.array(low), np.array(high), np.array(size)
