r"""Rows as integers, so that what one row can change is known exactly.

A row x is moved into a box, its distance z from the middle of the box is scaled by the
radius r of a ball, put on the lattice of step 1/S, and moved into the ball:

.. math::

    w_j = \mathrm{round}(S z_j / r), \quad
    v_j = \mathrm{trunc}(w_j S / \lceil \|w\| \rceil) \text{ if } \|w\| > S,
    \text{ else } w_j, \quad q_j = \lfloor v_j^2 / S \rfloor .

It adds (S, v, q) to the totals of its class and cell. Whatever the row,

.. math::

    \sum_j v_j^2 \le \sum_j w_j^2 S^2 / \lceil \|w\| \rceil^2 \le S^2, \quad
    \sum_j q_j^2 \le \sum_j v_j^4 / S^2 \le \Big(\sum_j v_j^2\Big)^2 / S^2 \le S^2,

as rounding towards zero makes no number larger. So one row changes the totals by at
most :math:`S \sqrt 3` in the L2 norm, or :math:`S \sqrt 2` without squares. From w on
all is integer arithmetic without rounding error, and w is made entry by entry: neither
the place of a row nor the other rows can change what it adds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.exceptions import DataError

UNIT = 2**20
MOST_ROWS = 2**40  # totals stay below 2**60
_LARGEST_RATIO = 2**10  # of half the diagonal to the radius: |w| stays below 2**31
_BLOCK_ROWS = 4096
_BLOCK_NUMBERS = 2**21


@dataclass(frozen=True)
class Lattice:
    """Box and ball that rows are moved into, and the lattice in it.

    Attributes
    ----------
    low, high : ndarray of shape (n_features,)
    radius : float
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    radius: float

    def __post_init__(self) -> None:
        if not math.isfinite(UNIT / self.radius):
            raise DataError(f"radius is {self.radius:.3g}; expected more.")
        if half_diagonal(self.low, self.high) > self.radius * _LARGEST_RATIO:
            raise DataError(
                f"radius is {self.radius:.3g}; expected at least 1/{_LARGEST_RATIO} of "
                "half the diagonal of the bounds, "
                f"{half_diagonal(self.low, self.high):.3g}."
            )

    @property
    def middle(self) -> NDArray[np.float64]:
        """Middle of the box."""
        return self.low + (self.high - self.low) / 2

    def encode(self, X: NDArray[Any]) -> NDArray[np.int64]:
        """Lattice points v of the rows, in the ball of radius S."""
        inside = np.clip(X.astype(np.float64), self.low, self.high) - self.middle
        points = np.rint(inside * (UNIT / self.radius)).astype(np.int64)
        squared = np.square(points).sum(axis=1)
        far = np.flatnonzero(squared > UNIT**2)
        # At least the length of w: the root of such integers is off by less than one.
        length = np.sqrt(squared[far].astype(np.float64)).astype(np.int64) + 2
        product = points[far] * UNIT
        points[far] = np.sign(product) * (np.abs(product) // length[:, np.newaxis])
        return points

    def decode(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows that belong to points of the unit ball."""
        return self.middle + points * self.radius


def half_diagonal(low: NDArray[np.float64], high: NDArray[np.float64]) -> float:
    """Distance from the middle of a box to its corners."""
    return float(np.linalg.norm((high - low) / 2))


def sensitivity(with_squares: bool) -> float:
    """Largest change of the totals by one row, in the L2 norm, rounded up."""
    return math.nextafter(UNIT * math.sqrt(3 if with_squares else 2), math.inf)


def totals_by_cell(
    X: Any,
    class_index: NDArray[np.integer[Any]],
    n_classes: int,
    centers: NDArray[np.float64],
    lattice: Lattice,
    with_squares: bool,
) -> NDArray[np.int64]:
    """Exact totals of (S, v, q) over the rows of each class and cell.

    O(n K d) for K centres, and O(K d) memory for each class. Rows and centres are moved
    into the ball before distances are measured.
    """
    if X.shape[0] > MOST_ROWS:
        raise DataError(f"X has {X.shape[0]} rows; expected at most {MOST_ROWS}.")
    places = lattice.encode(centers)
    n_entries = n_classes * len(centers)
    total = np.zeros((n_entries, (1 + with_squares) * X.shape[1] + 1), dtype=np.int64)
    for rows in _blocks(X.shape[0], max(total.shape[1], len(centers))):
        points = lattice.encode(_dense(X[rows]))
        entry = class_index[rows] * len(centers) + nearest(points, places)
        member = sparse.csr_array(
            (np.ones(len(entry), dtype=np.int64), (entry, np.arange(len(entry)))),
            shape=(n_entries, len(entry)),
        )
        total += member @ _contributions(points, with_squares)
    return total


def nearest(points: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.intp]:
    """Nearest place of each point, the first of several.

    Points and places are integers of norm up to 2**20, so all sums are integers below
    2**53 and exact in floating point, whatever the order of summation.
    """
    along = points.astype(np.float64) @ places.T.astype(np.float64)
    return np.asarray((np.square(places).sum(axis=1) - 2 * along).argmin(axis=1))


def _contributions(points: NDArray[np.int64], with_squares: bool) -> NDArray[np.int64]:
    parts = [np.full((len(points), 1), UNIT, dtype=np.int64), points]
    if with_squares:
        parts.append(np.square(points) // UNIT)
    return np.concatenate(parts, axis=1)


def _blocks(n_rows: int, numbers_per_row: int) -> Iterator[slice]:
    step = max(1, min(_BLOCK_ROWS, _BLOCK_NUMBERS // numbers_per_row))
    for first in range(0, n_rows, step):
        yield slice(first, min(first + step, n_rows))


def _dense(X: Any) -> NDArray[Any]:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)
