"""Steps of LocalSVC on rows in partitions: sample, cells, models."""

from __future__ import annotations

import shutil
from collections import deque
from functools import partial

import numpy as np

from localsvm.cluster import CellTree, neighborhood_sizes
from localsvm.engine import MemoryNeed, Partitions, Statistics
from localsvm.estimators._local.blocks import (
    Shuffle,
    count_distinct,
    join_shuffled,
    merge_cell,
    merge_samples,
    sample_part,
    shuffle_part,
)
from localsvm.estimators._local.cover import Cells, CellTask, solve_cell
from localsvm.estimators._local.kernel import RowScale
from localsvm.estimators._local.records import CellFiles
from localsvm.kernels import Kernel
from localsvm.passes import scale_gamma_of

_FEWEST_SAMPLED = 8192
_SAMPLED_PER_PARTITION = 32
# Smaller cells would have most of their neighbours elsewhere.
_NEIGHBORHOODS_PER_CELL = 4
# Rows beyond the border that neighbourhoods reach to, at most, in rows of the cell.
_LARGEST_HALO = 8.0
# Blocks of distances, whatever the size of a cell.
_BUFFERS = 50e6


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


def sample_partitions(rows: Partitions, seed: int) -> Statistics:
    """Learn what is to be known of all rows, and sample the distinct ones."""
    n_sampled = _n_sampled(rows)
    merge = partial(merge_samples, n_sampled=n_sampled)
    found = rows.reduce(sample_part, merge, seed, n_sampled, stage="sample")
    n_distinct = count_distinct(found["hashes"], n_sampled)
    return found | {"n_distinct": np.array(n_distinct)}


def grow_tree(found: Statistics, n_neighbors: int) -> CellTree:
    """Cells about as large as the largest partition, of which a worker can hold one."""
    largest = max(int(found["largest"]), _NEIGHBORHOODS_PER_CELL * n_neighbors)
    share = largest / float(found["n_distinct"])
    return CellTree.grow(found["sample"], share * len(found["sample"]))


def scale_of_moments(found: Statistics) -> RowScale:
    """Scale of the rows of all partitions; of kernels that order rows by distance."""
    columns = len(found["low"])

    def self_kernel(kernel: Kernel) -> float:
        squares = float(found["squares"]) / float(found["moments"][0])
        is_linear = kernel.name == "linear"
        value = squares if is_linear else kernel.gamma * squares + kernel.coef0
        return float(value)

    return RowScale(columns, lambda: scale_gamma_of(found), self_kernel)


def require_room_for_rows(rows: Partitions, found: Statistics) -> None:
    """Refuse to keep all distinct rows, and a tree of them, if they do not fit here."""
    rows.require_memory_here(
        MemoryNeed(copies=1.0 + 8.0 / rows.source.dtype.itemsize, bytes_per_row=50.0),
        round(float(found["n_distinct"])),
        "A model that keeps all rows (route='row')",
        "Use route='center', which keeps centres and support vectors alone, or allow "
        "more memory.",
    )


def gather_cells(rows: Partitions, shuffle: Shuffle) -> Cells:
    """Bring the rows of each cell together."""
    shuffle.folder.mkdir(exist_ok=True)
    shuffled = rows.reduce(shuffle_part, join_shuffled, shuffle, stage="shuffle")
    files = CellFiles(rows.folder)
    cells = range(shuffle.tree.n_cells)
    boxes = list(rows.run(merge_cell, cells, files, shuffle, shuffled, stage="merge"))
    shutil.rmtree(shuffle.folder, ignore_errors=True)
    nothing = np.full(rows.source.n_features, np.inf)
    return Cells(
        files,
        np.concatenate([box["n_rows"] for box in boxes]),
        np.stack([box.get("low", nothing) for box in boxes]),
        np.stack([box.get("high", -nothing) for box in boxes]),
    )


def solve_cells(rows: Partitions, task: CellTask) -> None:
    """Fit the neighbourhoods of every cell whose models are not there yet."""
    largest = int(task.cells.n_rows.argmax())
    rows.require_memory_of(
        cell_need(*task.sizes),
        int(task.cells.n_rows[largest]),
        f"The largest cell (cell {largest})",
        "Use smaller partitions, smaller n_neighbors, or allow more memory.",
    )
    cells = range(len(task.cells.n_rows))
    deque(rows.run(solve_cell, cells, task, stage="solve"), maxlen=0)


def _n_sampled(rows: Partitions) -> int:
    return max(_FEWEST_SAMPLED, _SAMPLED_PER_PARTITION * rows.source.n_partitions)
