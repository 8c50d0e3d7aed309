"""Functions of one block of rows: look at it, and sort its rows into cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm._checks import check_squares
from localsvm._ranges import column_range
from localsvm.cluster import CellTree
from localsvm.engine import Block, Labels, Record, Store
from localsvm.estimators._local.fit import RowScale
from localsvm.kernels import (
    MEDIAN_ROWS,
    Kernel,
    entry_moments,
    gamma_of_moments,
    gamma_of_sample,
)
from localsvm.passes import merge_moments
from localsvm.rows import hash_labelled, hash_rows, squared_norms

_HASHES = 2.0**64


@dataclass(frozen=True)
class LocalSurvey(Record):
    """What is to be known of all rows before they are sorted.

    Attributes
    ----------
    n_rows, largest : int
        Rows of all blocks, and of the largest.
    classes, mass : ndarray of shape (n_classes,)
        Labels, and the sums of their sample weights.
    low, high : ndarray of shape (n_features,)
        Smallest and largest entries.
    n_sampled : int
        Rows that are sampled, if there are as many.
    hashes, sample : ndarray
        The distinct rows of the smallest hashes.
    moments : ndarray of shape (3,) or None
        Weight, and what ``entry_moments`` gives; None without weight.
    squares : float
        Weighted sum of the squared norms.
    """

    n_rows: int
    largest: int
    classes: NDArray[Any]
    mass: NDArray[np.float64]
    low: NDArray[Any]
    high: NDArray[Any]
    n_sampled: int
    hashes: NDArray[np.uint64]
    sample: NDArray[Any]
    squares: float
    moments: NDArray[np.float64] | None = None

    def merge(self, other: Self) -> Self:
        """Survey of the rows of both."""
        both = self, other
        classes, place = np.unique(
            np.concatenate([each.classes for each in both]), return_inverse=True
        )
        hashes, chosen = np.unique(
            np.concatenate([each.hashes for each in both]), return_index=True
        )
        sample = np.concatenate([each.sample for each in both])
        moments = [each.moments for each in both if each.moments is not None]
        if len(moments) == 2:
            moments = [merge_moments(moments[0], moments[1], sample.shape[1])]
        return type(self)(
            n_rows=self.n_rows + other.n_rows,
            largest=max(self.largest, other.largest),
            classes=classes,
            mass=np.asarray(
                np.bincount(place, np.concatenate([each.mass for each in both])),
                dtype=np.float64,
            ),
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            n_sampled=self.n_sampled,
            hashes=hashes[: self.n_sampled],
            sample=sample[chosen[: self.n_sampled]],
            squares=self.squares + other.squares,
            moments=moments[0] if moments else None,
        )

    @property
    def n_distinct(self) -> float:
        """Number of distinct rows, estimated by their hashes."""
        return count_distinct(self.hashes, self.n_sampled)

    @property
    def scale(self) -> RowScale:
        """What "auto" and "scale" stand for; of kernels that keep Euclidean order."""
        assert self.moments is not None
        weight, mean, total = self.moments.tolist()
        columns = len(self.low)

        def self_kernel(kernel: Kernel) -> float:
            squares = self.squares / weight
            if kernel.name == "linear":
                return float(squares)
            return float(kernel.gamma * squares + kernel.coef0)

        return RowScale(
            columns,
            lambda: gamma_of_moments(mean, total, columns),
            lambda: gamma_of_sample(self.sample[:MEDIAN_ROWS]),
            self_kernel,
        )


def survey_rows(block: Block, seed: int, n_sampled: int) -> LocalSurvey:
    """Find classes, ranges of the columns and the rows of the smallest hashes."""
    if sparse.issparse(block.X):
        raise TypeError(
            "LocalSVC takes dense rows in blocks, found a sparse matrix; give "
            "arrays, or all rows in memory."
        )
    check_squares(block.X)
    weight = block.sample_weight
    classes = np.unique(block.y)
    low, high = column_range(block.X)
    present = np.flatnonzero(weight > 0)
    hashes, first = np.unique(hash_rows(block.X, seed)[present], return_index=True)
    moments = None
    if len(present):
        moments = np.array([weight.sum(), *entry_moments(block.X, weight)])
    return LocalSurvey(
        n_rows=block.n_rows,
        largest=block.n_rows,
        classes=classes,
        mass=np.array([weight[block.y == label].sum() for label in classes]),
        low=low,
        high=high,
        n_sampled=n_sampled,
        hashes=hashes[:n_sampled],
        sample=block.X[present[first[:n_sampled]]],
        squares=float((squared_norms(block.X) * weight).sum()),
        moments=moments,
    )


def count_distinct(hashes: NDArray[np.uint64], n_sampled: int) -> float:
    """Estimate the number of distinct rows by their hashes, which are spread evenly."""
    if len(hashes) < n_sampled:
        return float(len(hashes))
    return (len(hashes) - 1) * _HASHES / (float(hashes[-1]) + 1.0)


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
