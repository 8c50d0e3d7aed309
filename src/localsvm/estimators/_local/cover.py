"""Algorithm 1 in a cell: neighbourhoods of its rows, whole across its border."""

from __future__ import annotations

import time
from collections import deque
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
from localsvm.engine import Blocks
from localsvm.estimators._local.cells import (
    Cells,
    MergedCell,
    SolvedCell,
    cell_need,
)
from localsvm.estimators._local.fit import LocalFit, count_support, kernel_of
from localsvm.estimators._local.model import LocalModel, Router
from localsvm.rows import Rows, hash_rows, row_numbers
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
    ends : float or None, default=None
        When the time is over, as of ``time.time``, which all workers know.
    """

    cells: Cells
    sizes: tuple[int, int]
    neighbors: str
    seed: int
    local: LocalKernel
    options: KernelOptions
    n_classes: int
    ends: float | None = None

    @property
    def limited(self) -> KernelOptions:
        """Options of a solve that begins now."""
        if self.ends is None:
            return self.options
        return replace(self.options, max_time=max(0.0, self.ends - time.time()))


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


def solve_cells(blocks: Blocks, task: CellTask) -> None:
    """Fit the neighbourhoods of every cell whose models are not there yet."""
    largest = int(task.cells.n_rows.argmax())
    blocks.require_memory_of(
        cell_need(*task.sizes),
        int(task.cells.n_rows[largest]),
        f"The largest cell (cell {largest})",
        "Use smaller blocks, smaller n_neighbors, or allow more memory.",
    )
    cells = range(len(task.cells.n_rows))
    deque(blocks.run(solve_cell, cells, task, stage="solve"), maxlen=0)


def solve_cell(cell: int, task: CellTask) -> None:
    """Cover the rows of a cell and fit an SVM in each neighbourhood."""
    store = task.cells.store
    if task.cells.n_rows[cell] == 0 or store.has_models(cell):
        return
    merged = store.get_rows(cell)
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
    store.put_models(cell, solved)


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
        X = cells.store.map_rows(cell)
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
    models = fit_neighborhoods(rows, index, task.local, task.limited)
    every = np.concatenate([first + np.arange(n_own), halo])
    return replace(models, support=every[models.support])


def join_cells(task: CellTask, route: str) -> tuple[LocalFit, SolvedCell]:
    """Put the models of all cells into one, in the order of the cells."""
    cells = task.cells
    solved = cells.get_models()
    models, support = solved.models, np.unique(solved.models.support)
    n_support = count_support(cells.take_labels(support)[0], task.n_classes)
    if route == "row":
        support_rows = cells.take(np.arange(len(solved.labels)))
        numbers = row_numbers(models.support, len(support_rows))
        models = replace(models, support=numbers)
        search = make_search(task.neighbors, support_rows, 1)
        search = fit_search(search, support_rows)
        router = Router(support_rows, search, solved.labels)
    else:
        models, support = models.compact()
        support_rows = cells.take(support)
        router = Router.to_centers(cells.take(solved.centers), task.neighbors)
    model = LocalModel(
        models, support_rows, kernel_of(task.local), router, task.n_classes
    )
    fit = LocalFit(
        model,
        task.local.C,
        solved.centers,
        solved.labels,
        *task.sizes,
        n_support,
        support,
    )
    return fit, solved
