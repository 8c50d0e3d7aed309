r"""Values that few rows of a cluster carry are hidden before moments are taken.

Mean and variance of a column give a single person away if the other rows are known to
share a value c, say zero: one row at v among n rows has

.. math::

    m = c + (v - c) / n, \quad s^2 + (m - c)^2 = (v - c)^2 / n,

so :math:`v = c + (s^2 + (m - c)^2) / (m - c)` and :math:`n = (v - c) / (m - c)`. The
mean alone is enough where the count of such rows can be guessed, as in the indicator
column of a category. Therefore rows are changed first, cluster by cluster:

1. A set of indicator columns of one category column (see :func:`indicator_groups`) is
   one value. Rows of a category that fewer than k rows have get the most frequent
   category, if at least k rows have that.
2. In each column, call a value *common* if at least k rows carry it, else *rare*. If
   fewer than 2k rows carry rare values, these get the nearest common value.

Why a common value exists in step 2: a cluster has at least 2k rows. In step 1 the
columns of a group change together, so that no complement tells of a hidden category:
the categories of a cluster are all common afterwards, or all zero if none is, which
tells no more than that.

What that gives. Let X' be the rows after both steps. They take X' to itself, so X and
X' have the same release, given the clusters. In X' the rare values of a column are
those of at least 2k rows, or there are none. If there are none, nobody can tell from
the release that anyone carries a value that fewer than k rows do: in X' nobody does.
If there are some, all that leaves of them is a mean and a variance of n >= 2k rows, and
a column with two values, :math:`m - s \sqrt{q / p}` for p rows and :math:`m + s \sqrt{p
/ q}` for the q = n - p others, has the same two numbers for every p from k to n - k:
again a column in which every value is common.

These columns need not be plausible: somebody who knows that all values are whole
numbers can exclude most of them. Against that the moments are rounded, see
:mod:`._small_clusters`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_BLOCK_NUMBERS = 2**20


def indicator_groups(X: Any) -> list[NDArray[np.intp]]:
    """Find adjacent columns of zeros and ones, at most one of them 1 in each row.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)

    Returns
    -------
    list of ndarray
        Numbers of the columns of each set of two or more; O(n d).
    """
    columns = sparse.csc_array(X) if sparse.issparse(X) else X
    taken = np.zeros(X.shape[0], dtype=bool)
    groups: list[list[int]] = [[]]
    for column in range(X.shape[1]):
        ones = _rows_of_ones(columns, column)
        if ones is None or taken[ones].any():
            groups.append([])
            taken[:] = False
        if ones is not None:
            groups[-1].append(column)
            taken[ones] = True
    return [np.array(group) for group in groups if len(group) > 1]


def hide_rare_values(
    rows: NDArray[np.float64],
    share: NDArray[np.float64],
    groups: list[NDArray[np.intp]],
    k: int,
) -> NDArray[np.float64]:
    """Rows of a cluster without values that too few of them carry.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Changed in place.
    share : ndarray of shape (n_rows,)
        How often each row counts; at least 2k in all.
    groups : list of ndarray
        As :func:`indicator_groups` returns them.
    k : int
        Rows that make a value common.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        The same array; O(n d log n).
    """
    for group in groups:
        _hide_rare_categories(rows, share, group, k)
    step = max(1, _BLOCK_NUMBERS // len(rows))
    for first in range(0, rows.shape[1], step):
        _hide_rare_numbers(rows[:, first : first + step], share, k)
    return rows


def _rows_of_ones(columns: Any, column: int) -> NDArray[np.intp] | None:
    """Rows with a 1 in a column of zeros and ones; None for other columns."""
    if sparse.issparse(columns):
        stored = slice(columns.indptr[column], columns.indptr[column + 1])
        values, rows = columns.data[stored], columns.indices[stored]
    else:
        values, rows = columns[:, column], np.arange(len(columns))
    ones = values == 1
    if (ones | (values == 0)).all():
        return np.asarray(rows[ones])
    return None


def _hide_rare_categories(
    rows: NDArray[np.float64],
    share: NDArray[np.float64],
    group: NDArray[np.intp],
    k: int,
) -> None:
    """Give rows of a rare category the most frequent one; none is a category, too."""
    own = rows[:, group]
    category = np.where(own.any(axis=1), own.argmax(axis=1), len(group))
    carried = np.bincount(category, share, minlength=len(group) + 1)
    top = int(carried.argmax())
    if carried[top] >= k:
        own[carried[category] < k] = np.arange(len(group)) == top
        rows[:, group] = own


def _hide_rare_numbers(
    rows: NDArray[np.float64], share: NDArray[np.float64], k: int
) -> None:
    """Give rare values of each column the nearest common one, if they are few."""
    order = np.argsort(rows, axis=0, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=0)
    is_new = np.ones_like(ordered, dtype=bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    # Numbers of the distinct values, counted through all columns.
    number = np.cumsum(is_new.ravel(order="F")).reshape(rows.shape, order="F") - 1
    carried = np.bincount(number.ravel(), share[order].ravel())[number]
    common = carried >= k
    n_rare = np.where(common, 0.0, share[order]).sum(axis=0)
    few = (n_rare > 0) & (n_rare < 2 * k) & common.any(axis=0)
    for column in np.flatnonzero(few):
        kept = ordered[common[:, column] & is_new[:, column], column]
        rows[:, column] = kept[_nearest(kept, rows[:, column])]


def _nearest(
    places: NDArray[np.float64], values: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Position of the nearest of sorted places, the lower of two."""
    borders = places[:-1] + (places[1:] - places[:-1]) / 2
    return np.searchsorted(borders, values)
