"""A sample of distinct rows that can be drawn part by part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._record import Record
from localsvm.rows._distinct import (
    distinct_rows,
    hash_rows,
    merge_weights,
    stack,
    take_rows,
)

_HASHES = 2.0**64


@dataclass(frozen=True)
class RowSample(Record):
    """The distinct rows with the smallest hashes, in the order of the hashes.

    The sample of the whole can be merged from those of its parts, whatever the parts.

    Attributes
    ----------
    rows : ndarray or CSR of shape (n_sampled, n_features)
    weight : ndarray of shape (n_sampled,)
        Sum of the weights of all copies of the row.
    hashes : ndarray of shape (n_sampled,), uint64
    limit : int
        Rows that a sample has at most.
    """

    rows: Any
    weight: NDArray[np.float64]
    hashes: NDArray[np.uint64]
    limit: int

    @classmethod
    def draw(
        cls, X: Any, weight: NDArray[np.float64], seed: int, limit: int
    ) -> RowSample:
        """Sample the rows of positive weight."""
        first, kind = distinct_rows(X, weight, seed)
        rows = take_rows(X, first[:limit])
        hashes = hash_rows(rows, seed) if len(first) else np.empty(0, np.uint64)
        return cls(rows, merge_weights(weight, kind)[:limit], hashes, limit)

    @property
    def n_distinct(self) -> int:
        """Number of distinct rows; if the sample is full, estimated from the hashes.

        The error of the estimate is about one over the root of ``limit``.
        """
        if len(self.hashes) < self.limit:
            return len(self.hashes)
        largest = (float(self.hashes[-1]) + 1.0) / _HASHES
        return max(len(self.hashes), round((len(self.hashes) - 1) / largest))

    def merge(self, other: RowSample) -> RowSample:
        """Sample of both parts; copies of a row are one."""
        hashes, first, kind = np.unique(
            np.concatenate([self.hashes, other.hashes]),
            return_index=True,
            return_inverse=True,
        )
        weight = np.bincount(kind, np.concatenate([self.weight, other.weight]))
        rows = stack([self.rows, other.rows])[first[: self.limit]]
        kept = slice(self.limit)
        return RowSample(
            rows, weight[kept].astype(np.float64), hashes[kept], self.limit
        )
