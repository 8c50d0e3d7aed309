"""Cells: rows that lie together, from all blocks, with what is fitted to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from localsvm.cluster import CellTree, neighborhood_sizes
from localsvm.engine import Blocks, MemoryNeed, Store
from localsvm.estimators._local.blocks import (
    LocalSurvey,
    Shuffle,
    Shuffled,
    shuffle_rows,
    survey_cells,
)
from localsvm.rows import merge_weights
from localsvm.solvers import LocalModels

_FEWEST_SAMPLED = 8192
_SAMPLED_PER_BLOCK = 32
# Smaller cells would have most of their neighbours elsewhere.
_NEIGHBORHOODS_PER_CELL = 4
# Rows beyond the border that neighbourhoods reach to, at most, in rows of the cell.
_LARGEST_HALO = 8.0
# Blocks of distances, whatever the size of a cell.
_BUFFERS = 50e6


@dataclass(frozen=True)
class MergedCell:
    """Distinct rows of a cell, in the order of their hashes.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    class_index : ndarray of shape (n_rows,), int32
    weight : ndarray of shape (n_rows,)
        Sums of the penalty weights of equal rows of one class.
    first : ndarray of shape (n_rows,), int64
        Where each stands in the data, or the first of its copies.
    kind : ndarray of shape (n_copies,), int64
        Which of them each row of the data is.
    sample_weight : ndarray of shape (n_copies,)
    """

    X: NDArray[Any]
    class_index: NDArray[np.int32]
    weight: NDArray[np.float64]
    first: NDArray[np.int64]
    kind: NDArray[np.int64]
    sample_weight: NDArray[np.float64]


@dataclass(frozen=True)
class SolvedCell:
    """Neighbourhoods whose centres are rows of a cell.

    Attributes
    ----------
    models : LocalModels
        ``support`` counts the distinct rows of all cells, in the order of the cells.
    centers : ndarray of shape (n_models,), int64
        Rows of the centres, counted likewise.
    first : ndarray of shape (n_models,), int64
        Where the centres stand in the data.
    labels : ndarray of shape (n_rows,), int32
        Neighbourhood that answers for each row of the cell.
    class_counts : ndarray of shape (n_models, n_classes)
        Sample weights of the rows that each answers for.
    """

    models: LocalModels
    centers: NDArray[np.int64]
    first: NDArray[np.int64]
    labels: NDArray[np.int32]
    class_counts: NDArray[np.float64]

    @classmethod
    def joined(cls, cells: Sequence[SolvedCell]) -> SolvedCell:
        """Put the models of several cells into one, in their order."""
        sizes = np.array([len(cell.centers) for cell in cells])
        before = (np.cumsum(sizes) - sizes).astype(np.int32)
        labels = [cell.labels + n for cell, n in zip(cells, before, strict=True)]
        return cls(
            LocalModels.joined([cell.models for cell in cells]),
            np.concatenate([cell.centers for cell in cells]),
            np.concatenate([cell.first for cell in cells]),
            np.concatenate(labels),
            np.concatenate([cell.class_counts for cell in cells]),
        )


@dataclass(frozen=True)
class CellStore:
    """Cells in a store: the rows of each, and its models."""

    store: Store

    def has_rows(self, cell: int) -> bool:
        """Whether the rows of a cell are there."""
        return self.store.has(_rows_key(cell))

    def put_rows(self, cell: int, merged: MergedCell) -> None:
        """Keep the rows of a cell."""
        self.store.put(_rows_key(cell), vars(merged))

    def map_rows(self, cell: int) -> NDArray[Any]:
        """Rows of a cell where they lie."""
        return self._rows(cell, mapped=True)["X"]  # type: ignore[no-any-return]

    def get_labels(self, cell: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Class and weight of the rows of a cell."""
        arrays = self._rows(cell)
        return arrays["class_index"], arrays["weight"]

    def get_rows(self, cell: int) -> MergedCell:
        """Give what :meth:`put_rows` kept."""
        arrays = self._rows(cell)
        return MergedCell(
            **{each.name: arrays[each.name] for each in fields(MergedCell)}
        )

    def has_models(self, cell: int) -> bool:
        """Whether the models of a cell are there."""
        return self.store.has(_models_key(cell))

    def put_models(self, cell: int, solved: SolvedCell) -> None:
        """Keep the models of a cell."""
        arrays = {name: each for name, each in vars(solved).items() if name != "models"}
        models = {f"models_{name}": each for name, each in vars(solved.models).items()}
        self.store.put(_models_key(cell), arrays | models)

    def get_models(self, cell: int) -> SolvedCell:
        """Give what :meth:`put_models` kept."""
        arrays = self.store.get(_models_key(cell))
        models = {
            each.name: arrays[f"models_{each.name}"] for each in fields(LocalModels)
        }
        own = {
            each.name: arrays[each.name]
            for each in fields(SolvedCell)
            if each.name != "models"
        }
        return SolvedCell(LocalModels(**models), **own)

    def _rows(self, cell: int, *, mapped: bool = False) -> Mapping[str, Any]:
        return self.store.get(_rows_key(cell), mapped=mapped)


def _rows_key(cell: int) -> str:
    return f"cell-{cell}"


def _models_key(cell: int) -> str:
    return f"models-{cell}"


@dataclass(frozen=True)
class Box:
    """Number of rows of a cell, and their smallest and largest entries."""

    n_rows: int
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def of(cls, X: NDArray[Any]) -> Self:
        """Box of rows; that of no rows is far from everything."""
        dtype = np.float64
        low = X.min(axis=0, initial=np.inf).astype(dtype)
        return cls(len(X), low, X.max(axis=0, initial=-np.inf).astype(dtype))


@dataclass(frozen=True)
class Cells:
    """Where the distinct rows of all cells are.

    They are counted in the order of the cells.

    Attributes
    ----------
    store : CellStore
    n_rows : ndarray of shape (n_cells,), int64
    low, high : ndarray of shape (n_cells, n_features)
        Smallest and largest entries of the cells.
    """

    store: CellStore
    n_rows: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @property
    def first(self) -> NDArray[np.int64]:
        """Number of the first row of each cell."""
        return np.cumsum(self.n_rows) - self.n_rows

    def take(self, rows: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """Rows of the given numbers."""
        dtype = self.store.map_rows(int(self.n_rows.argmax())).dtype
        found = np.empty((len(rows), self.low.shape[1]), dtype=dtype)
        for cell, own, index in self._by_cell(rows):
            found[own] = self.store.map_rows(cell)[index]
        return found

    def take_labels(
        self, rows: NDArray[np.integer[Any]]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Class and weight of the rows of the given numbers."""
        class_index = np.empty(len(rows), dtype=np.int32)
        weight = np.empty(len(rows))
        for cell, own, index in self._by_cell(rows):
            classes, weights = self.store.get_labels(cell)
            class_index[own], weight[own] = classes[index], weights[index]
        return class_index, weight

    def get_models(self) -> SolvedCell:
        """Models of all cells as one."""
        cells = np.flatnonzero(self.n_rows).tolist()
        return SolvedCell.joined([self.store.get_models(cell) for cell in cells])

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


def cell_need(n_neighbors: int | str, n_assigned: int | None) -> MemoryNeed:
    """Memory for a cell: its rows and those of another, each with a tree; its halo.

    There are about 2 / k' neighbourhoods per row, with k rows each.
    """
    k, assigned = neighborhood_sizes(n_neighbors, n_assigned, 2**31)
    entries = 2.0 * k / assigned
    return MemoryNeed(
        copies=8.0 + min(entries, _LARGEST_HALO),
        bytes_per_row=100.0 + 40.0 * entries,
        fixed=_BUFFERS + 16.0 * min(k, 2000) ** 2,
    )


def survey_blocks(blocks: Blocks, seed: int) -> LocalSurvey:
    """Learn what is to be known of all rows, and sample the distinct ones."""
    n_sampled = max(_FEWEST_SAMPLED, _SAMPLED_PER_BLOCK * blocks.n_blocks)
    return blocks.reduce(survey_cells, seed, n_sampled, stage="sample")


def grow_tree(survey: LocalSurvey, n_neighbors: int) -> CellTree:
    """Cells about as large as the largest block, of which a worker can hold one."""
    largest = max(survey.largest, _NEIGHBORHOODS_PER_CELL * n_neighbors)
    share = largest / survey.sample.n_distinct
    return CellTree.grow(survey.sample.rows, share * len(survey.sample.rows))


def require_room_for_rows(blocks: Blocks, n_distinct: int) -> None:
    """Refuse to keep all distinct rows, and a tree of them, if they do not fit here."""
    blocks.require_memory_here(
        MemoryNeed(copies=1.0 + 8.0 / blocks.dtype.itemsize, bytes_per_row=50.0),
        n_distinct,
        "A model that keeps all rows (route='row')",
        "Use route='center', which keeps centres and support vectors alone, or allow "
        "more memory.",
    )


def gather_cells(blocks: Blocks, shuffle: Shuffle) -> Cells:
    """Bring the rows of each cell together."""
    shuffled = blocks.reduce(shuffle_rows, shuffle, stage="shuffle")
    cells = range(shuffle.tree.n_cells)
    boxes: list[Box] = list(
        blocks.run(merge_cell, cells, shuffle, shuffled, stage="merge")
    )
    for key in shuffled.keys:
        shuffle.store.drop(key)
    return Cells(
        CellStore(shuffle.store),
        np.array([box.n_rows for box in boxes]),
        np.stack([box.low for box in boxes]),
        np.stack([box.high for box in boxes]),
    )


def merge_cell(cell: int, shuffle: Shuffle, shuffled: Shuffled) -> Box:
    """Collect the rows of a cell from all blocks and merge equal ones.

    In memory are the distinct rows, and a few numbers of every row.
    """
    store = CellStore(shuffle.store)
    if not store.has_rows(cell):
        store.put_rows(cell, _merge(cell, shuffle, shuffled))
    return Box.of(store.map_rows(cell))


@dataclass(frozen=True)
class _Piece:
    """Rows of a cell in the sorted rows of one block."""

    arrays: Mapping[str, Any]
    rows: slice
    first: int  # position of the block's first row in the data

    def read(self, name: str) -> NDArray[Any]:
        return np.asarray(self.arrays[name][self.rows])


def _pieces(cell: int, store: Store, shuffled: Shuffled) -> list[_Piece]:
    end = np.cumsum(shuffled.counts, axis=1)[:, cell]
    start = end - shuffled.counts[:, cell]
    pieces = [
        _Piece(store.get(key, mapped=True), slice(low, high), first)
        for key, low, high, first in zip(
            shuffled.keys,
            start.tolist(),
            end.tolist(),
            shuffled.first.tolist(),
            strict=True,
        )
    ]
    # One that is empty tells the shape and type of no rows.
    return [each for each in pieces if each.rows.stop > each.rows.start] or pieces[:1]


def _merge(cell: int, shuffle: Shuffle, shuffled: Shuffled) -> MergedCell:
    """Do as ``distinct_rows`` does, with the hashes at hand."""
    pieces = _pieces(cell, shuffle.store, shuffled)

    def gather(name: str) -> NDArray[Any]:
        return np.concatenate([piece.read(name) for piece in pieces])

    _, first, kind = np.unique(gather("hash"), return_index=True, return_inverse=True)
    class_index, sample_weight = gather("class_index"), gather("sample_weight")
    place = np.concatenate([piece.first + piece.read("place") for piece in pieces])
    penalty_weight = sample_weight * shuffle.labels.class_weight[class_index]
    return MergedCell(
        _gather_rows(pieces, first),
        class_index[first],
        merge_weights(penalty_weight, kind),
        place[first],
        kind,
        sample_weight,
    )


def _gather_rows(pieces: list[_Piece], index: NDArray[np.intp]) -> NDArray[Any]:
    sizes = [piece.rows.stop - piece.rows.start for piece in pieces]
    ends = np.cumsum(sizes)
    owner = np.searchsorted(ends, index, side="right")
    kind = pieces[0].arrays["X"]
    found = np.empty((len(index), kind.shape[1]), dtype=kind.dtype)
    for number, piece in enumerate(pieces):
        own = np.flatnonzero(owner == number)
        found[own] = piece.read("X")[index[own] - (ends[number] - sizes[number])]
    return found
