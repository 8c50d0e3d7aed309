"""Capped ranks: a column by the order of its values, common values held down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Largest share of the rows that a value is counted with.
_LARGEST_SHARE = 1 / 48
_MOST_KNOTS = 400
# Ranks that are spread evenly have deviation one.
_SPREAD = 3.46
# Two levels of a category, each with a column of zeros and ones, are 1 apart.
_TWO_VALUES = 0.5
# Sums of shares that are equal but for rounding.
_ROUNDING = 1e-9

BINARY_KNOTS = np.array([0.0, 1.0]), np.array([0.0, _TWO_VALUES])


def capped_ranks(
    column: NDArray[np.floating], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Knots of the map of a column to its capped ranks.

    A value with the share :math:`p_i` of the weight counts :math:`c_i = \min(p_i,
    1/48)`; its rank is the middle of its part of the sum, and ranks run from 0 to 3.46.
    So a column that is zero in most rows spreads its other values over the whole range.
    Columns of two values get 0 and 0.5.

    Parameters
    ----------
    column : ndarray of shape (n_rows,)
    weight : ndarray of shape (n_rows,)

    Returns
    -------
    values : ndarray of shape (n_knots,)
        Ascending: all values, or 400 of them at ranks that are spread evenly.
    ranks : ndarray of shape (n_knots,)
    """
    values, group = np.unique(column, return_inverse=True)
    values = values.astype(np.float64)
    if len(values) <= 2:
        return values, BINARY_KNOTS[1][: len(values)]
    shares = np.bincount(group, weights=weight) / weight.sum()
    counted = np.minimum(shares, _LARGEST_SHARE)
    ranks = np.cumsum(counted) - counted / 2
    ranks = (ranks - ranks[0]) / (ranks[-1] - ranks[0])
    if len(values) > _MOST_KNOTS:
        levels = np.linspace(0, 1, _MOST_KNOTS)
        kept = np.unique(np.searchsorted(ranks + _ROUNDING, levels))
        values, ranks = values[kept], ranks[kept]
    return values, _SPREAD * ranks
