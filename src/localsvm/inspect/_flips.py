"""Where labels change along straight ways from a row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localsvm.inspect._local_view import Floats, LocalView

# Of a way, at which the label is looked up: closely up to its end, then ever further.
_FRACTIONS = np.array([*(np.arange(1, 17) / 16), 1.25, 1.5, 2, 3, 4, 6, 8])
_MOST_HALVINGS = 60
_PRECISION = 1e-9
# Of a way, by which a change may miss its end and still be taken to be there.
_AT_END = 1e-6


@dataclass(frozen=True)
class Flips:
    """First change of label on each of several ways.

    Attributes
    ----------
    fraction : ndarray of shape (n_ways,)
        Of the way at which the label changes; infinite where it was not seen to.
    winner : ndarray of shape (n_ways,)
        Position of the label beyond.
    """

    fraction: Floats
    winner: NDArray[np.intp]

    @property
    def at_end(self) -> NDArray[np.bool_]:
        """Whether the change is at the end of the way, as a linear function says."""
        return np.abs(self.fraction - 1) < _AT_END


def first_flips(
    view: LocalView, x: Floats, ways: Floats, label: int, *, linear: bool = False
) -> Flips:
    """Find the first change of label on each way.

    Parameters
    ----------
    view : LocalView
    x : ndarray of shape (n_features,)
    ways : ndarray of shape (n_ways, n_features)
        A way goes from x to x + way and up to eight times as far.
    label : int
        Position of the label at x.
    linear : bool, default=False
        Whether a change near the end of a way is exactly there.

    Notes
    -----
    Costs 23 predictions a way, and about 30 more where the label changes. A change back
    and forth between two of the 23 points is not seen.
    """
    if not len(ways):
        return Flips(np.empty(0), np.empty(0, dtype=np.intp))
    points = x + _FRACTIONS[:, np.newaxis, np.newaxis] * ways
    winners = view.winners(points.reshape(-1, len(x))).reshape(points.shape[:2])
    changed = winners != label
    seen = changed.any(axis=0)
    first = changed.argmax(axis=0)
    high = np.where(seen, _FRACTIONS[first], np.inf)
    winner = np.where(seen, winners[first, np.arange(len(ways))], label)
    low = np.where(first > 0, _FRACTIONS[first - 1], 0.0)
    _halve(view, (x, ways[seen]), label, (low, high, winner), seen)
    flips = Flips(high, winner)
    if linear:
        high[flips.at_end] = 1.0
    return flips


def _halve(
    view: LocalView,
    lines: tuple[Floats, Floats],
    label: int,
    bracket: tuple[Floats, Floats, NDArray[np.intp]],
    seen: NDArray[np.bool_],
) -> None:
    """Halve the brackets of the ways that a change was seen on, in place."""
    if not seen.any():
        return
    x, ways = lines
    low, high, winner = (ends[seen] for ends in bracket)
    for _ in range(_MOST_HALVINGS):
        if (high - low <= _PRECISION * high).all():
            break
        middle = (low + high) / 2
        found = view.winners(x + middle[:, np.newaxis] * ways)
        beyond = found != label
        high, winner = np.where(beyond, (middle, found), (high, winner))
        low = np.where(beyond, low, middle)
    bracket[1][seen], bracket[2][seen] = high, winner.astype(np.intp)
