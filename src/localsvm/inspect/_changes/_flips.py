"""Where labels change along paths from a row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localsvm.inspect._changes._row_space import Codes, RowSpace, States
from localsvm.inspect._local_view import Floats

_PRECISION = 1e-5
# Points inside of a bracket that are looked up at once, and how often.
_CUTS = 7
_MOST_ROUNDS = 20
_INNER = np.arange(1, _CUTS + 1) / (_CUTS + 1)


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
    Costs a prediction per point of a grid, and about 40 for each path that is followed.
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
    found = kept.at(space, _narrow(space, kept, label, (low, high)))
    return found.take(np.argsort(space.distances(found), kind="stable"))


def _narrow(
    space: RowSpace, paths: Paths, label: int, bracket: tuple[Floats, Floats]
) -> Floats:
    """Narrow brackets of the change, and give their far ends.

    Several points of each are looked up at once: a call of the model costs as much as
    many of its predictions.
    """
    low, high = bracket
    n_paths = len(low)
    rows = np.arange(n_paths)
    every = paths.take(np.repeat(rows, _CUTS))
    for _ in range(_MOST_ROUNDS):
        if (high - low <= _PRECISION * high).all():
            break
        inner = low[:, np.newaxis] + (high - low)[:, np.newaxis] * _INNER
        states = every.at(space, inner.ravel())
        beyond = (space.winners(states) != label).reshape(n_paths, _CUTS)
        first = np.where(beyond.any(axis=1), beyond.argmax(axis=1), _CUTS)
        ends = np.column_stack([low, inner, high])
        low, high = ends[rows, first], ends[rows, first + 1]
    return high
