"""Algorithm 1 in a cell: neighbourhoods of its rows, whole across its border."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from localsvm._seeds import draw_seed
from localsvm.cluster import (
    Cover,
    cover_rows,
    find_neighbors,
    fit_search,
    make_search,
    squared_gaps,
)
from localsvm.estimators._local.records import CellFiles, MergedCell, SolvedCell
from localsvm.rows import Rows, hash_rows
from localsvm.solvers import (
    KernelOptions,
    LocalKernel,
    LocalModels,
    fit_neighborhoods,
)

_BLOCK_QUERIES = 256
# Distances are rounded; a row that is as near as the farthest neighbour is looked at.
_SLACK = 1.0 + 1e-9


@dataclass(frozen=True)
class Cells:
    """Where the distinct rows of all cells are.

    They are counted in the order of the cells.

    Attributes
    ----------
    files : CellFiles
    n_rows : ndarray of shape (n_cells,), int64
    low, high : ndarray of shape (n_cells, n_features)
        Smallest and largest entries of the cells.
    """

    files: CellFiles
    n_rows: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @property
    def first(self) -> NDArray[np.int64]:
        """Number of the first row of each cell."""
        return np.cumsum(self.n_rows) - self.n_rows

    def take(self, rows: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """Rows of the given numbers."""
        dtype = self.files.map_rows(int(self.n_rows.argmax())).dtype
        found = np.empty((len(rows), self.low.shape[1]), dtype=dtype)
        for cell, own, index in self._by_cell(rows):
            found[own] = self.files.map_rows(cell)[index]
        return found

    def take_labels(
        self, rows: NDArray[np.integer[Any]]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Class and weight of the rows of the given numbers."""
        class_index = np.empty(len(rows), dtype=np.int32)
        weight = np.empty(len(rows))
        for cell, own, index in self._by_cell(rows):
            labels = self.files.read_labels(cell)
            class_index[own] = labels["class_index"][index]
            weight[own] = labels["weight"][index]
        return class_index, weight

    def read_models(self) -> SolvedCell:
        """Models of all cells as one."""
        cells = np.flatnonzero(self.n_rows).tolist()
        return SolvedCell.joined([self.files.read_models(cell) for cell in cells])

    def _by_cell(
        self, rows: NDArray[np.integer[Any]]
    ) -> list[tuple[int, NDArray[np.intp], NDArray[np.int64]]]:
        """Cells that hold the rows: which they are there, and in the cell."""
        cell_of = np.searchsorted(np.cumsum(self.n_rows), rows, side="right")
        groups = [
            (cell, np.flatnonzero(cell_of == cell)) for cell in np.unique(cell_of)
        ]
        first = self.first
        return [(int(cell), own, rows[own] - first[cell]) for cell, own in groups]


@dataclass(frozen=True)
class CellTask:
    """What is done in each cell.

    Attributes
    ----------
    cells : Cells
    sizes : (int, int)
        k and k'.
    neighbors : str
        The search.
    seed : int
    local : LocalKernel
    options : KernelOptions
    n_classes : int
    """

    cells: Cells
    sizes: tuple[int, int]
    neighbors: str
    seed: int
    local: LocalKernel
    options: KernelOptions
    n_classes: int


@dataclass(frozen=True)
class CellCover:
    """Centres in a cell, and the nearest rows of all cells around them.

    Attributes
    ----------
    centers : ndarray of shape (n_centers,)
        Rows of the cell.
    neighborhoods : ndarray of shape (n_centers, k), int64
        Numbers of rows among those of all cells, the centre first.
    labels : ndarray of shape (n_rows,), int32
        Centre that each row of the cell is assigned to.
    """

    centers: NDArray[np.intp]
    neighborhoods: NDArray[np.int64]
    labels: NDArray[np.int32]


def solve_cell(cell: int, task: CellTask) -> None:
    """Cover the rows of a cell and fit an SVM in each neighbourhood."""
    files = task.cells.files
    if task.cells.n_rows[cell] == 0 or files.has_models(cell):
        return
    merged = files.read_merged(cell)
    cover = cover_cell(cell, merged.X, task)
    models = _fit_models(cell, merged, cover, task)
    shape = len(cover.centers), task.n_classes
    place = cover.labels[merged.kind].astype(np.intp) * task.n_classes
    place += merged.class_index[merged.kind]
    counts = np.bincount(place, merged.sample_weight, shape[0] * shape[1])
    solved = SolvedCell(
        models,
        task.cells.first[cell] + cover.centers,
        merged.first[cover.centers],
        cover.labels,
        counts.astype(np.float64).reshape(shape),
    )
    files.write_models(cell, solved)


def cover_cell(cell: int, X: NDArray[Any], task: CellTask) -> CellCover:
    """Find centres whose k' nearest rows, of all cells, cover the rows of this cell.

    Centres are first chosen as if there were no other cells. Near the border some of
    their k' nearest rows lie beyond it, so that rows on this side stay uncovered; among
    those, centres are chosen again, until there are none.
    """
    k, n_assigned = (min(size, len(X)) for size in task.sizes)
    search = fit_search(make_search(task.neighbors, X, k), X)
    order = np.argsort(hash_rows(X, draw_seed(task.seed)), kind="stable")
    first = task.cells.first[cell]
    labels = np.full(len(X), -1, dtype=np.int32)
    centers: list[NDArray[np.intp]] = []
    neighborhoods: list[NDArray[np.int64]] = []
    n_centers = 0
    while len(order):
        found = cover_rows(X, order, search, (k, n_assigned), 1)
        widened = _widen(cell, X, found, search, task.cells, task.sizes[0])
        for rows in widened[:, : task.sizes[1]] - first:
            own = rows[(rows >= 0) & (rows < len(X))]
            labels[own[labels[own] < 0]] = n_centers
            n_centers += 1
        centers.append(found.centers)
        neighborhoods.append(widened)
        order = order[labels[order] < 0]
    return CellCover(np.concatenate(centers), np.concatenate(neighborhoods), labels)


def _widen(
    cell: int, X: NDArray[Any], found: Cover, search: Any, cells: Cells, k: int
) -> NDArray[np.int64]:
    """Nearest rows of all cells, from those of the centres' own cell.

    Another cell is searched for the centres that are nearer to its box than to the
    farthest of the k rows that they have. That misses nothing: the distance to the box
    is not above that to any row inside.
    """
    rows = np.asarray(cells.first[cell] + found.neighborhoods, dtype=np.int64)
    if len(cells.n_rows) == 1:
        return rows
    queries = X[found.centers].astype(np.float64)
    distances = _squared_distances(queries, X, found.neighborhoods)
    near = _Nearest(distances, rows, len(queries), k)
    middle = queries.mean(axis=0)
    gap = np.maximum(cells.low - middle, 0.0) + np.maximum(middle - cells.high, 0.0)
    for other in np.argsort((gap**2).sum(axis=1), kind="stable").tolist():
        if other == cell or cells.n_rows[other] == 0:
            continue
        gaps = squared_gaps(queries, cells.low[other], cells.high[other])
        asking = np.flatnonzero(gaps <= near.reach * _SLACK)
        if len(asking):
            halo = _Halo.of(cells, other, queries[asking], near.reach[asking])
            near.add(asking, *halo.nearest(queries[asking], search, k))
    return near.rows


class _Nearest:
    """The k nearest rows of each query that were found so far, nearest first."""

    def __init__(
        self,
        distances: NDArray[np.float64],
        rows: NDArray[np.int64],
        n_queries: int,
        k: int,
    ) -> None:
        self.rows = np.full((n_queries, k), -1, dtype=np.int64)
        self._distances = np.full((n_queries, k), np.inf)
        self.add(np.arange(n_queries), distances, rows)

    @property
    def reach(self) -> NDArray[np.float64]:
        """Squared distance of the k-th, infinite if there are fewer."""
        return self._distances[:, -1]

    def add(
        self,
        queries: NDArray[np.intp],
        distances: NDArray[np.float64],
        rows: NDArray[np.int64],
    ) -> None:
        """Add rows to those of some queries; earlier ones win a tie."""
        distances = np.concatenate([self._distances[queries], distances], axis=1)
        rows = np.concatenate([self.rows[queries], rows], axis=1)
        order = np.argsort(distances, axis=1, kind="stable")[:, : self.rows.shape[1]]
        self._distances[queries] = np.take_along_axis(distances, order, axis=1)
        self.rows[queries] = np.take_along_axis(rows, order, axis=1)


@dataclass(frozen=True)
class _Halo:
    """Rows of another cell that may be near, and their numbers."""

    X: NDArray[Any]
    numbers: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        cells: Cells,
        cell: int,
        queries: NDArray[np.float64],
        reach: NDArray[np.float64],
    ) -> _Halo:
        """Rows of a cell within reach of the box of the queries."""
        X = cells.files.map_rows(cell)
        gaps = squared_gaps(X, queries.min(axis=0), queries.max(axis=0))
        index = np.flatnonzero(gaps <= reach.max() * _SLACK)
        return cls(np.asarray(X[index]), cells.first[cell] + index)

    def nearest(
        self, queries: NDArray[np.float64], search: Any, k: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Squared distances and numbers of the rows nearest to each query.

        They are searched as those of the queries' own cell are.
        """
        k = min(k, len(self.X))
        if k == 0:
            nothing = np.empty((len(queries), 0))
            return nothing, nothing.astype(np.int64)
        fitted = fit_search(clone(search), self.X)
        found = find_neighbors(fitted, queries.astype(self.X.dtype), k, len(self.X), 1)
        return _squared_distances(queries, self.X, found), self.numbers[found]


def _squared_distances(
    queries: NDArray[np.float64], X: NDArray[Any], found: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Distances of queries to the rows found for each, without cancellation."""
    distances = np.empty(found.shape)
    for first in range(0, len(queries), _BLOCK_QUERIES):
        own = slice(first, first + _BLOCK_QUERIES)
        apart = X[found[own]] - queries[own, np.newaxis]
        distances[own] = np.einsum("ikj,ikj->ik", apart, apart)
    return distances


def _fit_models(
    cell: int, merged: MergedCell, cover: CellCover, task: CellTask
) -> LocalModels:
    """SVMs on the neighbourhoods; support vectors are numbers among all rows."""
    cells, first, n_own = task.cells, int(task.cells.first[cell]), len(merged.X)
    numbers = cover.neighborhoods
    foreign = (numbers < first) | (numbers >= first + n_own)
    halo = np.unique(numbers[foreign])
    index = np.empty(numbers.shape, dtype=np.int32)
    index[~foreign] = numbers[~foreign] - first
    index[foreign] = n_own + np.searchsorted(halo, numbers[foreign])
    rows = Rows.weighted(merged.X, merged.class_index, merged.weight, task.n_classes)
    if len(halo):
        class_index, weight = cells.take_labels(halo)
        foreign_rows = Rows.weighted(
            cells.take(halo), class_index, weight, task.n_classes
        )
        rows = Rows.joined([rows, foreign_rows])
    models = fit_neighborhoods(rows, index, task.local, task.options)
    every = np.concatenate([first + np.arange(n_own), halo])
    return replace(models, support=every[models.support])
