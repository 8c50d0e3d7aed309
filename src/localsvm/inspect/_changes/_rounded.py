"""Numbers with few digits that lie beyond a change of label."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

import numpy as np
from numpy.typing import NDArray

from localsvm.inspect._changes._row_space import RowSpace, States
from localsvm.inspect._local_view import Floats

# Significant digits of a move that are tried.
_DIGITS = (4, 6, 9, 12)


def round_beyond(space: RowSpace, states: States, label: int) -> States:
    """Round moved numbers away from the row, to the fewest digits that are enough.

    The label still changes, and no number leaves its range. A state that cannot be
    rounded stays as it is.
    """
    numbers = states.numbers.copy()
    waiting = np.arange(len(numbers))
    for digits in _DIGITS:
        rounded = _rounded(space, states.numbers[waiting], digits)
        inside = ((rounded >= space.low) & (rounded <= space.high)) | (
            rounded == space.own
        )
        tried = States(
            np.where(inside, rounded, numbers[waiting]), states.codes[waiting]
        )
        enough = inside.all(axis=1) & (space.winners(tried) != label)
        numbers[waiting[enough]] = tried.numbers[enough]
        waiting = waiting[~enough]
        if not len(waiting):
            break
    return States(numbers, states.codes)


def _rounded(space: RowSpace, numbers: Floats, digits: int) -> Floats:
    moved: NDArray[np.bool_] = (numbers != space.own) & ~space.is_whole
    rounded = numbers.copy()
    for row, column in np.argwhere(moved):
        rounded[row, column] = round_away(
            float(space.own[column]), float(numbers[row, column]), digits
        )
    return rounded


def round_away(value: float, to: float, digits: int) -> float:
    """Round ``to`` away from ``value``, to that many digits of their difference.

    Examples
    --------
    >>> round_away(40.0, 52.3456, 3)
    52.4
    >>> round_away(0.0, -12345.6, 3)
    -12400.0
    """
    move = to - value
    if move == 0 or not np.isfinite(move):
        return to
    place = int(np.floor(np.log10(abs(move)))) - digits + 1
    rounding = ROUND_CEILING if move > 0 else ROUND_FLOOR
    unit = Decimal(1).scaleb(place)
    # By its shortest decimals, so that what is round already stays as it is.
    return float((Decimal(repr(to)) / unit).to_integral_value(rounding) * unit)
