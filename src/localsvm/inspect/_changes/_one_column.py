"""Changes of a single column that would change the label."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localsvm.inspect._changes._flips import Paths, first_flips
from localsvm.inspect._changes._free_columns import FreeNumber
from localsvm.inspect._changes._local_function import LocalFunction
from localsvm.inspect._changes._rounded import round_beyond
from localsvm.inspect._changes._row_space import RowSpace, States
from localsvm.inspect._local_view import Floats

# Numbers that are tried: those that a linear function has change least.
_TRIED_NUMBERS = 64
# Changes of numbers that are looked up exactly.
_MOST_CHANGES = 16
# Of the way to an end of a range, at which labels are looked up; of a range that is not
# known, of so many times the change that a linear function would take.
_FRACTIONS = (np.arange(1, 9) / 8) ** 2
_UNKNOWN_REACH = 8.0
# By which the end of a linear way is overshot, to be beyond the change.
_BEYOND = 1.001


class Change(NamedTuple):
    """A change of one column, the others staying as they are, that changes the label.

    Parameters
    ----------
    name : str
        Name of the column.
    value : number, str or bool
        Value in the row.
    to : number, str or bool
        A value that gives the other label. Numbers are inside the range of the training
        rows, integers where all of these were, and the nearest that was found, rounded
        away from ``value``. Categories are known ones.
    label : label
        Class that is predicted then.
    distance : float
        Size of the change in the features of the estimator; if these are codes of a
        table, in standard deviations of a number, and one for a category or boolean.
    """

    name: str
    value: Any
    to: Any
    label: Any
    distance: float


def single_states(space: RowSpace, function: LocalFunction) -> States:
    """Find rows that differ in one column and have another label, nearest first."""
    numbers = first_flips(
        space, _number_paths(space, function), function.label, _MOST_CHANGES
    )
    numbers = round_beyond(space, numbers, function.label)
    choices = choice_states(space)
    choices = choices.take(space.winners(choices) != function.label)
    found = States.stacked(numbers, choices)
    order = np.argsort(space.distances(found), kind="stable")
    return _one_a_number(space, found.take(order))


def choice_states(space: RowSpace) -> States:
    """Rows in which one choice is another one: all of them."""
    choices = space.columns.choices
    codes = [
        np.eye(len(choices), dtype=np.intp)[j] * code
        for j, choice in enumerate(choices)
        for code in range(1, len(choice.values))
    ]
    shape = len(codes), len(choices)
    return States(
        np.repeat(space.start.numbers, len(codes), axis=0),
        np.array(codes, dtype=np.intp).reshape(shape),
    )


def describe_changes(space: RowSpace, states: States) -> tuple[Change, ...]:
    """Say which column is another in each of the states."""
    labels = space.view.classes[space.winners(states)]
    distances = space.distances(states)
    return tuple(
        Change(*changed_columns(space, states.take([i]))[0], label, float(distance))
        for i, (label, distance) in enumerate(zip(labels, distances, strict=True))
    )


def changed_columns(space: RowSpace, state: States) -> list[tuple[str, Any, Any]]:
    """Name, value and new value of the columns that differ in a state."""
    numbers, codes = state.numbers[0], state.codes[0]
    moved = [
        (each.name, _plain(each, each.value), _plain(each, float(to)))
        for each, to in zip(space.columns.numbers, numbers, strict=True)
        if to != each.value
    ]
    replaced = [
        (each.name, each.values[0], each.values[code])
        for each, code in zip(space.columns.choices, codes, strict=True)
        if code
    ]
    return moved + replaced


def _plain(number: FreeNumber, value: float) -> float | int:
    """Whole numbers as integers."""
    return int(value) if number.is_whole and value.is_integer() else value


def _number_paths(space: RowSpace, function: LocalFunction) -> Paths:
    """Paths of single numbers to both ends of their ranges."""
    moves = _linear_moves(space, function)
    tried = _most_promising(space, moves)
    reach = np.abs(moves) * _UNKNOWN_REACH
    starts, ways, grids = [], [], []
    for end in (space.low, space.high):
        side = -1 if end is space.low else 1
        way = np.where(np.isfinite(end), end - space.own, side * reach)
        for j in tried[np.isfinite(way[tried]) & (way[tried] * side > 0)]:
            share = moves[j] * _BEYOND / way[j]
            share = share if 0 < share < 1 else 1.0
            starts.append(space.own)
            ways.append(way[j] * np.eye(1, len(way), j)[0])
            grids.append(np.sort(np.append(_FRACTIONS, share)))
    shape = len(starts), len(space.own)
    return Paths(
        np.array(starts, dtype=float).reshape(shape),
        np.array(ways, dtype=float).reshape(shape),
        np.repeat(space.start.codes, len(starts), axis=0),
        np.array(grids, dtype=float).reshape(len(starts), -1 if grids else 1),
    )


def _linear_moves(space: RowSpace, function: LocalFunction) -> Floats:
    """How far each number would have to move by the linear function."""
    _, gaps, slopes = function.gaps()
    by_number, _ = space.by_numbers(slopes)
    with np.errstate(divide="ignore", over="ignore"):
        moves = -gaps[:, np.newaxis] / by_number
    nearest = np.abs(moves).argmin(axis=0)
    return np.asarray(moves[nearest, np.arange(len(space.own))])


def _most_promising(space: RowSpace, moves: Floats) -> NDArray[np.intp]:
    """Numbers that can move as far as a linear function asks, then the others."""
    room = np.where(moves > 0, space.high - space.own, space.own - space.low)
    share = np.abs(moves) / np.where(room > 0, room, np.nan)
    return np.argsort(np.nan_to_num(share, nan=np.inf), kind="stable")[:_TRIED_NUMBERS]


def _one_a_number(space: RowSpace, states: States) -> States:
    """Keep the nearest change of each number, and all of choices."""
    first = (states.numbers != space.own).argmax(axis=1)
    is_number = (states.numbers != space.own).any(axis=1)
    seen: set[int] = set()
    kept = []
    for row, (column, number) in enumerate(zip(first, is_number, strict=True)):
        if not number or int(column) not in seen:
            kept.append(row)
        if number:
            seen.add(int(column))
    return states.take(kept)
