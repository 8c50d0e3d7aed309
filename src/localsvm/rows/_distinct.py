"""Distinct rows in an order that depends on their content alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm import _core
from localsvm.rows._core_view import as_rows, index_dtype, with_indices

_LABEL_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def distinct_rows(
    X: Any,
    weight: NDArray[np.float64],
    seed: int,
    labels: NDArray[np.int32] | None = None,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the distinct rows of positive weight.

    Rows are hashed; with ``labels``, equal rows of different labels are distinct. The
    order of the hashes is a random order that neither the order nor the number of
    copies of the rows can change.

    Returns
    -------
    first : ndarray of shape (n_distinct,)
        One row of each kind, in the order of the hashes.
    kind : ndarray of shape (n_samples,)
        Which of the distinct rows each row is; -1 for rows of weight zero.
    """
    hashes = hash_rows(X, seed) if labels is None else hash_labelled(X, labels, seed)
    present = np.flatnonzero(weight > 0)
    kind = np.full(X.shape[0], -1)
    _, first, kind[present] = np.unique(
        hashes[present], return_index=True, return_inverse=True
    )
    return present[first], kind


def merge_weights(
    weight: NDArray[np.float64], kind: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Sum of the weights of each kind of row."""
    present = kind >= 0
    return np.bincount(kind[present], weights=weight[present]).astype(np.float64)


def hash_rows(X: Any, seed: int) -> NDArray[np.uint64]:
    """Hash each row by its content."""
    hashes = np.empty(X.shape[0], dtype=np.uint64)
    _core.hash_rows(as_rows(X), seed, hashes)
    return hashes


def hash_labelled(X: Any, labels: NDArray[np.int32], seed: int) -> NDArray[np.uint64]:
    """Hash each row by its content and its label."""
    hashes = hash_rows(X, seed)
    hashes ^= (labels.astype(np.uint64) + np.uint64(1)) * _LABEL_MULTIPLIER
    return hashes


def take_rows(X: Any, index: NDArray[np.integer[Any]]) -> Any:
    """Part of the rows; CSR with the small indices of scikit-learn if they fit."""
    rows = X[index]
    if sparse.issparse(rows):
        return with_indices(rows, index_dtype(rows.nnz, rows.shape[1]))
    return rows


def stack(matrices: Sequence[Any]) -> Any:
    """Dense or CSR rows one after the other."""
    if len(matrices) == 1:
        return matrices[0]
    if sparse.issparse(matrices[0]):
        return sparse.csr_array(sparse.vstack(matrices, format="csr"))
    return np.concatenate(matrices)
