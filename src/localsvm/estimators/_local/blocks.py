"""Rows of partitions put together by cells: sampled, cut, sorted, merged."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm._checks import check_squares, column_range
from localsvm.cluster import CellTree
from localsvm.engine import Block, Statistics
from localsvm.estimators._local.records import CellFiles, MergedCell
from localsvm.kernels import entry_moments
from localsvm.passes import merge_moments
from localsvm.rows import hash_labelled, hash_rows, merge_weights, squared_norms

_HASHES = 2.0**64


def sample_part(block: Block, seed: int, n_sampled: int) -> Statistics:
    """Classes, ranges of the columns and the distinct rows of the smallest hashes."""
    if sparse.issparse(block.X):
        raise TypeError(
            "LocalSVC takes dense rows in partitions, found a sparse matrix; give "
            "arrays, or all rows in memory."
        )
    check_squares(block.X)
    weight = block.sample_weight
    classes = np.unique(block.y)
    low, high = column_range(block.X)
    present = np.flatnonzero(weight > 0)
    hashes, first = np.unique(hash_rows(block.X, seed)[present], return_index=True)
    found = {
        "classes": classes,
        "mass": np.array([weight[block.y == label].sum() for label in classes]),
        "low": low,
        "high": high,
        "n_rows": np.array(block.n_rows),
        "largest": np.array(block.n_rows),
        "hashes": hashes[:n_sampled],
        "sample": block.X[present[first[:n_sampled]]],
    }
    if len(present):
        mean, total = entry_moments(block.X, weight)
        found["moments"] = np.array([weight.sum(), mean, total])
        found["squares"] = np.array((squared_norms(block.X) * weight).sum())
    return found


def merge_samples(first: Statistics, second: Statistics, n_sampled: int) -> Statistics:
    """Join what :func:`sample_part` found."""
    both = first, second
    classes, place = np.unique(
        np.concatenate([part["classes"] for part in both]), return_inverse=True
    )
    hashes, chosen = np.unique(
        np.concatenate([part["hashes"] for part in both]), return_index=True
    )
    sample = np.concatenate([part["sample"] for part in both])
    found = {
        "classes": classes,
        "mass": np.bincount(place, np.concatenate([part["mass"] for part in both])),
        "low": np.minimum(first["low"], second["low"]),
        "high": np.maximum(first["high"], second["high"]),
        "n_rows": first["n_rows"] + second["n_rows"],
        "largest": np.maximum(first["largest"], second["largest"]),
        "hashes": hashes[:n_sampled],
        "sample": sample[chosen[:n_sampled]],
    }
    squares = [part["squares"] for part in both if "squares" in part]
    if squares:
        found["squares"] = np.sum(squares, axis=0)
    moments = [part["moments"] for part in both if "moments" in part]
    if moments:
        found["moments"] = moments[0]
    if len(moments) == 2:
        found["moments"] = merge_moments(moments[0], moments[1], sample.shape[1])
    return found


def count_distinct(hashes: NDArray[np.uint64], n_sampled: int) -> float:
    """Estimate the number of distinct rows by their hashes, which are spread evenly."""
    if len(hashes) < n_sampled:
        return float(len(hashes))
    return (len(hashes) - 1) * _HASHES / (float(hashes[-1]) + 1.0)


@dataclass(frozen=True)
class Shuffle:
    """How the rows of partitions are sorted into cells.

    Attributes
    ----------
    tree : CellTree
    classes : ndarray of shape (n_classes,)
    class_weight : ndarray of shape (n_classes,)
    seed : int
        Of the hashes by which equal rows are found.
    folder : Path
    """

    tree: CellTree
    classes: NDArray[Any]
    class_weight: NDArray[np.float64]
    seed: int
    folder: Path


def shuffle_part(block: Block, shuffle: Shuffle) -> Statistics:
    """Write the rows of a partition that count, sorted by cell."""
    class_index = np.searchsorted(shuffle.classes, block.y).astype(np.int32)
    weight = block.sample_weight * shuffle.class_weight[class_index]
    present = np.flatnonzero(weight > 0)
    cells = shuffle.tree.assign(block.X)[present]
    order = present[np.argsort(cells, kind="stable")]
    # A name of its own, since the task may run twice.
    name = uuid.uuid4().hex
    own = shuffle.folder / name
    own.mkdir()
    hashes = hash_labelled(block.X, class_index, shuffle.seed)
    np.save(own / "X.npy", block.X[order])
    np.save(own / "hash.npy", hashes[order])
    np.save(own / "class.npy", class_index[order])
    np.save(own / "weight.npy", block.sample_weight[order])
    np.save(own / "place.npy", order)
    counts = np.bincount(cells, minlength=shuffle.tree.n_cells)
    return {
        "names": np.array([name]),
        "counts": counts[np.newaxis],
        "n_rows": np.array([block.n_rows]),
    }


def join_shuffled(first: Statistics, second: Statistics) -> Statistics:
    """Put what :func:`shuffle_part` returned of several partitions into one."""
    return {name: np.concatenate([first[name], second[name]]) for name in first}


def merge_cell(
    cell: int, files: CellFiles, shuffle: Shuffle, shuffled: Statistics
) -> Statistics:
    """Collect the rows of a cell from all partitions and merge equal ones.

    In memory are the distinct rows, and a few numbers of every row.
    """
    if not files.has_rows(cell):
        files.write_rows(cell, _merge(_pieces(cell, shuffled), shuffle))
    return files.read_box(cell)


@dataclass(frozen=True)
class _Piece:
    """Rows of a cell in the files of one partition."""

    name: str
    rows: slice
    first: int  # position of the partition's first row in the data

    def read(self, folder: Path, name: str) -> NDArray[Any]:
        array = np.load(folder / self.name / f"{name}.npy", mmap_mode="r")
        return np.asarray(array[self.rows])


def _pieces(cell: int, shuffled: Statistics) -> list[_Piece]:
    counts = shuffled["counts"]
    end = np.cumsum(counts, axis=1)[:, cell]
    start = end - counts[:, cell]
    first = np.cumsum(shuffled["n_rows"]) - shuffled["n_rows"]
    return [
        _Piece(str(name), slice(int(start[part]), int(end[part])), int(first[part]))
        for part, name in enumerate(shuffled["names"])
        if end[part] > start[part]
    ]


def _merge(pieces: list[_Piece], shuffle: Shuffle) -> MergedCell | None:
    """Do as ``distinct_rows`` does, with the hashes at hand."""
    if not pieces:
        return None
    folder = shuffle.folder

    def gather(name: str) -> NDArray[Any]:
        return np.concatenate([piece.read(folder, name) for piece in pieces])

    _, first, kind = np.unique(gather("hash"), return_index=True, return_inverse=True)
    class_index, sample_weight = gather("class"), gather("weight")
    place = np.concatenate(
        [piece.first + piece.read(folder, "place") for piece in pieces]
    )
    penalty_weight = sample_weight * shuffle.class_weight[class_index]
    return MergedCell(
        _gather_rows(pieces, folder, first),
        class_index[first],
        merge_weights(penalty_weight, kind),
        place[first],
        kind,
        sample_weight,
    )


def _gather_rows(
    pieces: list[_Piece], folder: Path, index: NDArray[np.intp]
) -> NDArray[Any]:
    sizes = [piece.rows.stop - piece.rows.start for piece in pieces]
    ends = np.cumsum(sizes)
    owner = np.searchsorted(ends, index, side="right")
    found: NDArray[Any] | None = None
    for part, piece in enumerate(pieces):
        own = np.flatnonzero(owner == part)
        rows = piece.read(folder, "X")
        if found is None:
            found = np.empty((len(index), rows.shape[1]), dtype=rows.dtype)
        found[own] = rows[index[own] - (ends[part] - sizes[part])]
    assert found is not None
    return found
