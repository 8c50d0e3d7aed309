"""The nearest of fixed rows, found exactly by bounds from short sketches of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh
from sklearn.neighbors import NearestNeighbors

from localsvm import _core
from localsvm._threads import map_row_blocks
from localsvm.cluster._neighborhoods._neighbors import TreeNeighbors
from localsvm.rows import as_rows

# Rows of so few columns are their own sketches.
_FEW_COLUMNS = 48
# Of the others: so many principal directions of a sample, and the length of the rest.
_N_DIRECTIONS = (15, 23, 31, 47, 63)
_SAMPLED_ROWS, _COMPARED_ROWS, _SAMPLED_QUERIES = 2000, 20_000, 32
# Measured: what an entry of a row costs that is compared in full, and the row besides,
# in entries of sketches.
_ENTRY_COST, _ROW_COST = 6.0, 300.0
# Of a new row's squared distance to its nearest row, over that of a fitted one.
_FARTHER = 1.3
# Entries of sketches that are compared sooner than a tree is walked: measured for rows
# of few columns, which a tree finds quickly, and of more.
_FEW_FOR_A_TREE = 16
_MOST_ENTRIES, _MOST_WIDE_ENTRIES = 1 << 18, 1 << 22
_EUCLIDEAN = ("euclidean", "l2", "sqeuclidean")


class NearestRows:
    """Finds the nearest of fixed dense rows.

    Euclidean distances as sums of squared differences in float64; the first row at a
    tie. A query is compared with a sketch of each row, and with the few rows that may
    then be the nearest one, so the result does not depend on the sketches.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features), float32 or float64, C-ordered
    """

    def __init__(self, rows: NDArray[Any]) -> None:
        middle, directions = sketch_of(rows)
        wide = rows.dtype == np.float64
        index: Any = _core.NearestRowsFloat64 if wide else _core.NearestRowsFloat32
        self._index = index(as_rows(rows), middle, directions)

    def find(self, X: NDArray[Any], n_jobs: int | None) -> NDArray[np.int32]:
        """Nearest row of each query, which has the dtype of the rows."""
        nearest = np.empty(X.shape[0], dtype=np.int32)

        def find_block(block: slice) -> None:
            self._index.find(as_rows(X[block]), nearest[block])

        map_row_blocks(find_block, X.shape[0], n_jobs)
        return nearest


def sketch_of(rows: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Middle of the rows, and orthonormal directions along which they spread most.

    There are no directions where all columns are the sketch.
    """
    sample = _spaced(rows, _SAMPLED_ROWS).astype(np.float64)
    middle = sample.mean(axis=0)
    n_columns = rows.shape[1]
    counts = [count for count in _N_DIRECTIONS if count < min(rows.shape)]
    if n_columns <= _FEW_COLUMNS or not counts:
        return middle, np.empty((0, n_columns))
    centred = sample - middle
    # Of the smaller of both products the axes are found faster.
    is_wide = len(sample) < n_columns
    product = centred @ centred.T if is_wide else centred.T @ centred
    ends = len(product) - counts[-1], len(product) - 1
    axes = eigh(product, subset_by_index=ends)[1][:, ::-1]
    if is_wide:
        axes, _ = np.linalg.qr(centred.T @ axes)
    compared = _spaced(rows, _COMPARED_ROWS).astype(np.float64) - middle
    count = _cheapest_count(compared, axes, counts)
    return middle, np.ascontiguousarray(axes[:, :count].T)


def _spaced(rows: NDArray[Any], most: int) -> NDArray[Any]:
    """Rows at even distances, at most so many."""
    return rows[:: -(-len(rows) // most)]


def _cheapest_count(
    rows: NDArray[np.float64], axes: NDArray[np.float64], counts: Sequence[int]
) -> int:
    """Directions of a sketch that leave few rows to compare, and are few themselves."""
    squares = np.einsum("ij,ij->i", rows, rows)
    chosen = _spaced(np.arange(len(rows)), _SAMPLED_QUERIES)
    along = rows @ axes
    apart = squares[chosen, np.newaxis] + squares - 2 * rows[chosen] @ rows.T
    apart[np.arange(len(chosen)), chosen] = np.inf
    nearest = _FARTHER * apart.min(axis=1, keepdims=True)

    def cost(count: int) -> float:
        known = along[:, :count]
        own = np.einsum("ij,ij->i", known, known)
        rest = np.sqrt(np.maximum(squares - own, 0.0))
        bound = own[chosen, np.newaxis] + own - 2 * known[chosen] @ known.T
        bound += (rest[chosen, np.newaxis] - rest) ** 2
        share = float((bound <= nearest).mean())
        return float(count + 1 + share * (_ROW_COST + _ENTRY_COST * rows.shape[1]))

    return min(counts, key=cost)


def finds_euclidean(search: Any) -> bool:
    """Whether a search finds the nearest row by the Euclidean distance, exactly."""
    return isinstance(search, TreeNeighbors) or _compares_all_rows(search)


def index_of(search: Any, rows: Any) -> NearestRows | None:
    """Give what finds the nearest of dense rows sooner than a search, if it does."""
    if sparse.issparse(rows):
        return None
    if not _compares_all_rows(search):
        n_rows, n_columns = rows.shape
        most = _MOST_ENTRIES if n_columns < _FEW_FOR_A_TREE else _MOST_WIDE_ENTRIES
        is_small = n_rows * min(n_columns, _FEW_COLUMNS) <= most
        if not isinstance(search, TreeNeighbors) or not is_small:
            return None
    return NearestRows(np.ascontiguousarray(rows))


def _compares_all_rows(search: Any) -> bool:
    if type(search) is not NearestNeighbors or search.algorithm != "brute":
        return False
    plain = search.metric == "minkowski" and search.p == 2
    return plain or search.metric in _EUCLIDEAN
