"""Functions of one block of rows: look at it, and sort its rows into cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.cluster import CellTree
from localsvm.engine import Block, Labels, Record, Store
from localsvm.estimators._local.fit import RowScale
from localsvm.kernels import MEDIAN_ROWS, Kernel, gamma_of_sample
from localsvm.passes import Content, Survey, survey_block
from localsvm.rows import RowSample, hash_labelled


@dataclass(frozen=True)
class LocalSurvey(Record):
    """What is to be known of all rows before they are sorted.

    Attributes
    ----------
    rows : Survey
        With a sample.
    largest : int
        Rows of the largest block.
    """

    rows: Survey
    largest: int

    def merge(self, other: LocalSurvey) -> LocalSurvey:
        """Survey of the rows of both."""
        largest = max(self.largest, other.largest)
        return LocalSurvey(self.rows.merge(other.rows), largest)

    @property
    def content(self) -> Content:
        """Classes and columns."""
        assert self.rows.content is not None
        return self.rows.content

    @property
    def sample(self) -> RowSample:
        """Distinct rows."""
        assert self.rows.sample is not None
        return self.rows.sample

    @property
    def scale(self) -> RowScale:
        """What "auto" and "scale" stand for; of kernels that keep Euclidean order."""

        def self_kernel(kernel: Kernel) -> float:
            squares = self.rows.squares / self.rows.weight
            if kernel.name == "linear":
                return float(squares)
            return float(kernel.gamma * squares + kernel.coef0)

        return RowScale(
            len(self.content.low),
            lambda: self.content.scale_gamma,
            lambda: gamma_of_sample(self.sample.rows[:MEDIAN_ROWS]),
            self_kernel,
        )


def survey_cells(block: Block, seed: int, n_sampled: int) -> LocalSurvey:
    """Find classes, ranges of the columns and the rows of the smallest hashes."""
    if sparse.issparse(block.X):
        raise TypeError(
            "LocalSVC takes dense rows in blocks, found a sparse matrix; give "
            "arrays, or all rows in memory."
        )
    return LocalSurvey(survey_block(block, seed, n_sampled), block.n_rows)


@dataclass(frozen=True)
class Shuffle:
    """How the rows of blocks are sorted into cells.

    Attributes
    ----------
    tree : CellTree
    labels : Labels
    seed : int
        Of the hashes by which equal rows are found.
    store : Store
        Keeps the sorted rows.
    """

    tree: CellTree
    labels: Labels
    seed: int
    store: Store


@dataclass(frozen=True)
class Shuffled(Record):
    """Where the sorted rows of blocks are.

    Attributes
    ----------
    numbers, n_rows : ndarray of shape (n_blocks,)
        Of the blocks.
    counts : ndarray of shape (n_blocks, n_cells)
        Rows of each cell.
    """

    numbers: NDArray[np.int64]
    n_rows: NDArray[np.int64]
    counts: NDArray[np.int64]

    def merge(self, other: Self) -> Self:
        """Put the blocks of both one after the other."""
        return type(self)(
            np.concatenate([self.numbers, other.numbers]),
            np.concatenate([self.n_rows, other.n_rows]),
            np.concatenate([self.counts, other.counts]),
        )

    @property
    def keys(self) -> list[str]:
        """Keys of the blocks in the store."""
        return [shuffled_key(number) for number in self.numbers.tolist()]

    @property
    def first(self) -> NDArray[np.int64]:
        """Position of each block's first row among all rows."""
        return np.cumsum(self.n_rows) - self.n_rows


def shuffled_key(number: int) -> str:
    """Key of the sorted rows of a block."""
    return f"sorted-{number}"


def shuffle_rows(block: Block, shuffle: Shuffle) -> Shuffled:
    """Keep the rows of a block that count, sorted by cell."""
    rows = block.rows(shuffle.labels)
    present = np.flatnonzero(rows.penalty_weight > 0)
    cells = shuffle.tree.assign(rows.X)[present]
    order = present[np.argsort(cells, kind="stable")]
    hashes = hash_labelled(rows.X, rows.class_index, shuffle.seed)
    shuffle.store.put(
        shuffled_key(block.number),
        {
            "X": rows.X[order],
            "hash": hashes[order],
            "class_index": rows.class_index[order],
            "sample_weight": rows.sample_weight[order],
            "place": order,
        },
    )
    counts = np.bincount(cells, minlength=shuffle.tree.n_cells)
    return Shuffled(
        np.array([block.number]), np.array([block.n_rows]), counts[np.newaxis]
    )
