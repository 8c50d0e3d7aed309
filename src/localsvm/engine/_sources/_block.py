"""Rows of one block, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

from localsvm._checks import check_mapped_rows
from localsvm.rows import Rows


@dataclass(frozen=True)
class Labels:
    """How labels become classes and penalties, once all classes are known.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Sorted.
    class_weight : ndarray of shape (n_classes,)
    """

    classes: NDArray[Any]
    class_weight: NDArray[np.float64]


@dataclass(frozen=True)
class Block:
    """Rows that are worked on together, as they were read.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_rows, n_features), float32 or float64
    y : ndarray of shape (n_rows,)
        Labels as they were given.
    sample_weight : ndarray of shape (n_rows,), float64
    number : int
        Position among the blocks.
    known : Rows or None
        The rows with their classes, where a fit in memory has them already.
    """

    X: Any
    y: NDArray[Any]
    sample_weight: NDArray[np.float64]
    number: int = -1
    known: Rows | None = None

    def rows(self, labels: Labels) -> Rows:
        """Rows with their classes and penalty weights."""
        if self.known is not None:
            return self.known
        class_index = np.searchsorted(labels.classes, self.y).astype(np.int32)
        return Rows(
            self.X,
            class_index,
            self.sample_weight,
            self.sample_weight * labels.class_weight[class_index],
            len(labels.classes),
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])


def make_block(
    X: Any, y: Any, sample_weight: Any, dtype: np.dtype[Any], place: str
) -> Block:
    """Check the rows of a block; an error says which block it was.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
    sample_weight : array-like of shape (n_rows,) or None
    dtype : dtype
        float32 or float64; the rows are converted to it.
    place : str
        What the block is called in errors.

    Returns
    -------
    Block
    """
    try:
        rows = _checked_rows(X, dtype)
        labels = _column("y", y, rows.shape[0])
        if labels.dtype == object:
            labels = _without_objects(labels)
        if labels.size:
            check_classification_targets(labels)
        return Block(rows, labels, _checked_weight(sample_weight, rows.shape[0]))
    except ValueError as error:
        raise ValueError(f"In {place}: {error}") from error


def _checked_rows(X: Any, dtype: np.dtype[Any]) -> Any:
    if X.shape[0] == 0:
        return np.empty(X.shape, dtype=dtype)
    rows = check_mapped_rows(X)
    if sparse.issparse(rows):
        return sparse.csr_array(rows.astype(dtype, copy=False))
    return np.ascontiguousarray(rows, dtype=dtype)


def _checked_weight(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    if sample_weight is None:
        return np.ones(n_rows)
    weight = _column("sample_weight", sample_weight, n_rows).astype(np.float64)
    if not np.isfinite(weight).all() or (weight < 0).any():
        wrong = weight[~(np.isfinite(weight) & (weight >= 0))][0]
        raise ValueError(
            f"sample_weight contains {wrong}; expected finite values >= 0."
        )
    return weight


def _column(name: str, values: Any, n_rows: int) -> NDArray[Any]:
    column = np.asarray(values)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column.ravel()
    if column.shape != (n_rows,):
        raise ValueError(
            f"{name} has shape {column.shape}; expected ({n_rows},), one entry per "
            "row of X."
        )
    return column


def _without_objects(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels as strings or numbers, which a file can hold and workers exchange."""
    plain = np.array(labels.tolist())
    if plain.dtype == object or plain.ndim != 1:
        raise ValueError(
            "y holds objects of different kinds; expected all strings or all numbers, "
            "none missing."
        )
    if plain.dtype.kind == "U" and not all(isinstance(v, str) for v in labels.tolist()):
        raise ValueError(
            "y holds strings and other objects; expected all strings or all numbers, "
            "none missing."
        )
    return plain
