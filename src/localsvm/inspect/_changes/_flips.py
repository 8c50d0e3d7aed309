"""Where labels change along paths from a row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localsvm.inspect._changes._row_space import Codes, RowSpace, States
from localsvm.inspect._local_view import Floats

_MOST_HALVINGS = 60
_PRECISION = 1e-5


@dataclass(frozen=True)
class Paths:
    """Straight paths of numbers, cut off at the ends of their ranges.

    Attributes
    ----------
    start, direction : ndarray of shape (n_paths, n_numbers)
    codes : ndarray of shape (n_paths, n_choices)
    grid : ndarray of shape (n_paths, n_grid)
        Multiples of the direction at which labels are looked up, in ascending order.
    """

    start: Floats
    direction: Floats
    codes: Codes
    grid: Floats

    def at(self, space: RowSpace, times: Floats) -> States:
        """State of each path at a multiple of its direction."""
        numbers = self.start + times[:, np.newaxis] * self.direction
        return States(space.box(numbers), self.codes)

    def take(self, index: NDArray[np.intp]) -> Paths:
        """Take some of the paths."""
        return Paths(
            self.start[index],
            self.direction[index],
            self.codes[index],
            self.grid[index],
        )

    @classmethod
    def joined(cls, several: list[Paths]) -> Paths:
        """Join paths whose grids are equally long."""
        return cls(
            np.concatenate([each.start for each in several]),
            np.concatenate([each.direction for each in several]),
            np.concatenate([each.codes for each in several]),
            np.concatenate([each.grid for each in several]),
        )


def first_flips(space: RowSpace, paths: Paths, label: int, most: int) -> States:
    """Find the first change of label on paths.

    Parameters
    ----------
    space : RowSpace
    paths : Paths
    label : int
        Position of the label of the row.
    most : int
        Paths that are followed to where exactly the label changes: those on which it
        does so nearest to the row.

    Returns
    -------
    States
        Beyond the change, one a path, nearest first; none for a path without one.

    Notes
    -----
    Costs a prediction per point of a grid, and about 20 for each path that is followed.
    A change back and forth between two points is not seen.
    """
    n_paths, n_grid = paths.grid.shape
    every = paths.take(np.repeat(np.arange(n_paths), n_grid))
    states = every.at(space, paths.grid.ravel())
    changed = (space.winners(states) != label).reshape(n_paths, n_grid)
    flips = np.flatnonzero(changed.any(axis=1))
    first = changed[flips].argmax(axis=1)
    far = space.distances(states.take(flips * n_grid + first))
    near = np.argsort(far, kind="stable")[:most]
    flips, first = flips[near], first[near]
    grid = np.column_stack([np.zeros(n_paths), paths.grid])[flips]
    rows = np.arange(len(flips))
    low, high = grid[rows, first], grid[rows, first + 1]
    kept = paths.take(flips)
    found = kept.at(space, _halve(space, kept, label, (low, high)))
    return found.take(np.argsort(space.distances(found), kind="stable"))


def _halve(
    space: RowSpace, paths: Paths, label: int, bracket: tuple[Floats, Floats]
) -> Floats:
    """Halve brackets of the change until they are narrow; give their far ends."""
    low, high = bracket
    for _ in range(_MOST_HALVINGS):
        if (high - low <= _PRECISION * high).all():
            break
        middle = (low + high) / 2
        beyond = space.winners(paths.at(space, middle)) != label
        high = np.where(beyond, middle, high)
        low = np.where(beyond, low, middle)
    return high
