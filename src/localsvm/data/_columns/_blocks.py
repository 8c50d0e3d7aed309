"""The features of one column for all rows, before they meet those of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


class Block(Protocol):
    """Features of some rows that can be put into a dense or a sparse matrix."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def write(self, out: NDArray[Any]) -> None:
        """Put the features into ``out``, which is zero, one row per row."""

    def entries(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Feature numbers and values, each of shape (n_rows, entries per row)."""


@dataclass(frozen=True)
class DenseBlock:
    """All features of all rows."""

    values: NDArray[np.float64]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    def write(self, out: NDArray[Any]) -> None:
        """Put the features into ``out``."""
        out[:] = self.values

    def entries(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Feature numbers and values."""
        features = np.arange(self.values.shape[1])
        return np.broadcast_to(features, self.values.shape), self.values


@dataclass(frozen=True)
class OneHotBlock:
    """The one feature of a row that is 1, or -1 if none is."""

    codes: NDArray[np.intp]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def write(self, out: NDArray[Any]) -> None:
        """Put the ones into ``out``."""
        rows = np.flatnonzero(self.codes >= 0)
        out[rows, self.codes[rows]] = 1.0

    def entries(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Feature numbers and values; the value of a row without a feature is 0."""
        there = (self.codes >= 0).astype(np.float64)
        return np.maximum(self.codes, 0)[:, np.newaxis], there[:, np.newaxis]


@dataclass(frozen=True)
class EmptyBlock:
    """No feature."""

    n_rows: int

    def write(self, out: NDArray[Any]) -> None:
        """Put nothing into ``out``."""

    def entries(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Arrays without a column."""
        return np.empty((self.n_rows, 0), dtype=np.intp), np.empty((self.n_rows, 0))


def join_dense(
    blocks: Sequence[Block], sizes: Sequence[int], dtype: str
) -> NDArray[Any]:
    """Matrix of the features of all columns, of which ``sizes`` are the numbers."""
    out = np.zeros((blocks[0].n_rows, sum(sizes)), dtype=dtype)
    for start, size, block in zip(_starts(sizes), sizes, blocks, strict=True):
        block.write(out[:, start : start + size])
    return out


def join_sparse(blocks: Sequence[Block], sizes: Sequence[int], dtype: str) -> Any:
    """CSR array of the features of all columns, without zeros, sorted."""
    entries = [block.entries() for block in blocks]
    features = np.hstack(
        [
            start + each.astype(np.int32)
            for start, (each, _) in zip(_starts(sizes), entries, strict=True)
        ]
    )
    values = np.hstack([each.astype(dtype) for _, each in entries])
    there = values != 0
    ends = np.append(0, np.cumsum(there.sum(axis=1)))
    if ends[-1] <= np.iinfo(np.int32).max:
        ends = ends.astype(np.int32)
    shape = (len(values), sum(sizes))
    return sparse.csr_array((values[there], features[there], ends), shape=shape)


def _starts(sizes: Sequence[int]) -> list[int]:
    return [0, *np.cumsum(sizes[:-1]).tolist()]
