"""A sample of distinct rows that can be drawn part by part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.rows._distinct import (
    distinct_rows,
    hash_rows,
    merge_weights,
    stack,
    take_rows,
)

_HASHES = 2.0**64


@dataclass(frozen=True)
class RowSample:
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

    def merged(self, other: RowSample) -> RowSample:
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

    def as_arrays(self) -> dict[str, NDArray[Any]]:
        """Give the sample as plain arrays."""
        arrays = {"sample_weight": self.weight, "sample_hashes": self.hashes}
        if sparse.issparse(self.rows):
            return arrays | {
                "sample_data": self.rows.data,
                "sample_indices": self.rows.indices,
                "sample_indptr": self.rows.indptr,
                "sample_columns": np.array(self.rows.shape[1]),
            }
        return arrays | {"sample_rows": self.rows}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], limit: int) -> RowSample:
        """Sample from what :meth:`as_arrays` gave."""
        rows: Any = arrays.get("sample_rows")
        if rows is None:
            shape = len(arrays["sample_weight"]), int(arrays["sample_columns"])
            names = ("sample_data", "sample_indices", "sample_indptr")
            rows = sparse.csr_array(tuple(arrays[name] for name in names), shape=shape)
        return cls(rows, arrays["sample_weight"], arrays["sample_hashes"], limit)
