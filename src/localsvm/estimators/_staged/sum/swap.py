"""What each column changes in decisions in which columns act together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Of swapped rows that are decided at once.
_BLOCK_VALUES = 1 << 18


def swapped_parts(
    decide: Callable[[Any], Floats],
    X: NDArray[Any],
    decisions: Floats,
    typical: NDArray[Any],
) -> Floats:
    """Change of the decisions from rows that have one column's typical value.

    A row that has the typical value already needs no decision: the change is zero.

    Parameters
    ----------
    decide : callable
        Decisions, of shape (n_rows, n_outputs), of any number of rows.
    X : ndarray of shape (n_samples, n_features)
    decisions : ndarray of shape (n_samples, n_outputs)
        Those of X.
    typical : ndarray of shape (n_features,)

    Returns
    -------
    ndarray of shape (n_samples, n_features, n_outputs)
    """
    parts = np.zeros((*X.shape, decisions.shape[1]))
    for rows, columns in _blocks(X, typical):
        swapped = X[rows]
        swapped[np.arange(len(rows)), columns] = typical[columns]
        parts[rows, columns] = decisions[rows] - decide(swapped)
    return parts


def _blocks(
    X: NDArray[Any], typical: NDArray[Any]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Places of values that are not typical, some at a time."""
    rows, columns = np.nonzero(typical != X)
    step = max(1, _BLOCK_VALUES // max(1, X.shape[1]))
    for start in range(0, len(rows), step):
        yield rows[start : start + step], columns[start : start + step]
