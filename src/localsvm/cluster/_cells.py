"""Cells of rows that lie together, and how far other rows are from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Of a node's rows, on the smaller side of a split.
_FAIR_SHARE = 0.25
_BLOCK_ROWS = 4096


@dataclass(frozen=True)
class CellTree:
    """A k-d tree whose leaves are cells; a row's cell depends on the row alone.

    Rows are compared with thresholds, nothing is rounded: equal rows share a cell.

    Attributes
    ----------
    column : ndarray of shape (n_nodes,), int64
        Column that is compared in a node, -1 in a leaf.
    threshold : ndarray of shape (n_nodes,)
        Rows below it go to the first child, others to the second.
    child : ndarray of shape (n_nodes, 2), int64
        Nodes; in a leaf the first is the number of the cell.
    """

    column: NDArray[np.int64]
    threshold: NDArray[Any]
    child: NDArray[np.int64]

    @classmethod
    def grow(cls, sample: NDArray[Any], largest: float) -> CellTree:
        """Halve a sample of the rows until no part has more than ``largest`` rows.

        A part is cut at the median of its widest column, unless so many rows have the
        same value there that the halves would be too unequal. Equal rows are not cut.
        """
        column: list[int] = []
        threshold: list[Any] = []
        child: list[list[int]] = []
        n_cells = 0
        # Rows of a node, and which child of which node it is.
        stack = [(np.arange(len(sample)), -1, 0)]
        while stack:
            rows, parent, side = stack.pop()
            node = len(column)
            if parent >= 0:
                child[parent][side] = node
            split = _best_split(sample[rows]) if len(rows) > largest else None
            if split is None:
                column.append(-1)
                threshold.append(0)
                child.append([n_cells, -1])
                n_cells += 1
                continue
            column.append(split[0])
            threshold.append(split[1])
            child.append([-1, -1])
            below = sample[rows, split[0]] < split[1]
            stack += [(rows[~below], node, 1), (rows[below], node, 0)]
        return cls(
            np.array(column), np.array(threshold, dtype=sample.dtype), np.array(child)
        )

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(np.count_nonzero(self.column < 0))

    def assign(self, X: NDArray[Any]) -> NDArray[np.int64]:
        """Cell of each row."""
        cells = np.empty(X.shape[0], dtype=np.int64)
        stack = [(np.arange(X.shape[0]), 0)]
        while stack:
            rows, node = stack.pop()
            if self.column[node] < 0:
                cells[rows] = self.child[node, 0]
                continue
            below = X[rows, self.column[node]] < self.threshold[node]
            first, second = self.child[node].tolist()
            stack += [(rows[below], first), (rows[~below], second)]
        return cells


def squared_gaps(
    X: NDArray[Any], low: NDArray[Any], high: NDArray[Any]
) -> NDArray[np.float64]:
    """Squared distance of each row to the box from ``low`` to ``high``."""
    gaps = np.empty(X.shape[0])
    for first in range(0, X.shape[0], _BLOCK_ROWS):
        rows = X[first : first + _BLOCK_ROWS].astype(np.float64)
        beyond = np.maximum(low - rows, 0.0) + np.maximum(rows - high, 0.0)
        gaps[first : first + _BLOCK_ROWS] = np.einsum("ij,ij->i", beyond, beyond)
    return gaps


def _best_split(rows: NDArray[Any]) -> tuple[int, Any] | None:
    """Column and threshold; None if all rows are equal."""
    spread = rows.var(axis=0, dtype=np.float64)
    most, best = 0, None
    for column in np.argsort(-spread, kind="stable").tolist():
        threshold, smaller = _halve(rows[:, column])
        if smaller > most:
            most, best = smaller, (column, threshold)
        if most >= _FAIR_SHARE * len(rows):
            break
    return best


def _halve(values: NDArray[Any]) -> tuple[Any, int]:
    """Threshold next to the median, and the size of the smaller side."""
    ordered = np.sort(values)
    size = len(ordered)
    middle = ordered[size // 2]
    first = int(np.searchsorted(ordered, middle, "left"))
    last = int(np.searchsorted(ordered, middle, "right"))
    edge = max(first, last, key=lambda place: min(place, size - place))
    return ordered[min(edge, size - 1)], min(edge, size - edge)
