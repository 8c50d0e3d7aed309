"""The nearest row of another class that a change can give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localsvm.inspect._changes._flips import Paths, first_flips
from localsvm.inspect._changes._local_function import LocalFunction
from localsvm.inspect._changes._one_column import changed_columns, choice_states
from localsvm.inspect._changes._rounded import round_beyond
from localsvm.inspect._changes._row_space import RowSpace, States
from localsvm.inspect._local_view import Floats, leads

# Borders with other classes that are looked up.
_TRIED_CLASSES = 3
# Choices that are changed together.
_MOST_CHOICES = 3
# Of a way to the linear border, at which the label is looked up: closely up to its end,
# a little beyond it, then ever further, as the ends of ranges cut it off.
_FRACTIONS = np.array(
    [*(np.arange(1, 17) / 16), 1.001, 1.25, 1.5, 2, 3, 4, 6, 8, 16, 64]
)
# Steps of Newton, as shares of the way to the linear border, and how many of them. The
# first go a little too far, so that they end beyond the border; if they get lost where
# the function is flat, short ones follow the gradient.
_NEWTON_STEPS = ((1.02, 8), (0.2, 25))
_REFINEMENTS = 2
# Rows that are followed to the border, and that are brought nearer after that.
_FOLLOWED = 6
_POLISHED = 3
_MOST_ROUNDS = 40
_MOST_UNDONE = 64
# Of the distance to the border of a linear function, by which rounding misses it.
_ROUNDING = 0.002


class Shift(NamedTuple):
    """How one column changes.

    Parameters
    ----------
    name : str
        Name of the column.
    value : number, str or bool
        Value in the row.
    to : number, str or bool
        Value beyond the border.
    """

    name: str
    value: Any
    to: Any


@dataclass(frozen=True, eq=False)
class Border:
    """Nearest row found that has another label and that a change can give.

    Attributes
    ----------
    label : label
        Class that is predicted for it.
    distance : float
        Euclidean distance between the rows, in the features of the estimator; if these
        are codes of a table, in standard deviations of numbers, another category or
        boolean counting as one.
    point : ndarray of shape (n_features,)
        Its features.
    is_exact : bool
        Whether it is, but for rounding, at the nearest border of the linear function
        that decides the row, and that function holds there: its region has no nearer
        one.
    in_same_region : bool or None
        Whether it is in the main region of the row; None without regions.
    region : int or None
        Its region.
    shifts : tuple of Shift
        Columns that change, those that move the features farthest first.

    See Also
    --------
    explain : Finds it.
    """

    label: Any
    distance: float
    point: NDArray[np.float64]
    is_exact: bool
    in_same_region: bool | None
    region: int | None
    shifts: tuple[Shift, ...] = ()


def nearest_states(space: RowSpace, function: LocalFunction, known: States) -> States:
    """Find rows of another label, the nearest first.

    Numbers move along the slopes of the function, from the row itself and from rows in
    which the most promising choices are others. Each row that is found is then brought
    nearer: whatever change it can do without is undone.

    Parameters
    ----------
    space : RowSpace
    function : LocalFunction
        That of the row.
    known : States
        Rows of another label that are known.
    """
    starts = _starts(space, function)
    flipped = starts.take(space.winners(starts) != function.label)
    paths = Paths.joined(
        [
            _linear_paths(space, function, starts.take([i]))
            for i in range(len(starts.codes))
        ]
    )
    if function.is_curved and not function.has_votes:
        paths = Paths.joined([paths, _newton_path(space, function)])
    found = first_flips(space, paths, function.label, _FOLLOWED)
    if function.is_curved:
        found = States.stacked(found, _refined(space, function, found))
    found = _nearest(space, States.stacked(found, flipped, known), _POLISHED)
    return _nearest(space, _polished(space, found, function.label), _POLISHED)


def describe_border(space: RowSpace, function: LocalFunction, state: States) -> Border:
    """Say where a row of another label is, and what differs."""
    point = space.features(state)[0]
    winner = int(space.winners(state)[0])
    distance = float(space.distances(state)[0])
    has_region = function.region is not None
    region = int(space.view.regions(point[np.newaxis])[0]) if has_region else None
    is_exact = (
        not function.is_curved
        and not space.columns.have_units
        and distance <= (1 + _ROUNDING) * function.distance()
        and np.allclose(space.view.slopes(point), function.slopes)
    )
    return Border(
        label=space.view.classes[winner],
        distance=distance,
        point=point,
        is_exact=bool(is_exact),
        in_same_region=None if region is None else region == function.region,
        region=region,
        shifts=_shifts(space, state),
    )


def _shifts(space: RowSpace, state: States) -> tuple[Shift, ...]:
    changed = changed_columns(space, state)
    alone = _undone_all_but(space, state)
    order = np.argsort(-space.distances(alone), kind="stable")
    return tuple(Shift(*changed[i]) for i in order)


def _undone_all_but(space: RowSpace, state: States) -> States:
    """Change one column of those that differ, each in turn."""
    moved = np.flatnonzero(state.numbers[0] != space.own)
    replaced = np.flatnonzero(state.codes[0])
    n_rows = len(moved) + len(replaced)
    start = space.start.take(np.zeros(n_rows, dtype=np.intp))
    numbers, codes = start
    rows = np.arange(n_rows)
    numbers[rows[: len(moved)], moved] = state.numbers[0, moved]
    codes[rows[len(moved) :], replaced] = state.codes[0, replaced]
    return States(numbers, codes)


def _starts(space: RowSpace, function: LocalFunction) -> States:
    """Start from the row, and from it with one to three promising choices changed."""
    singles = choice_states(space)
    if not len(singles.codes):
        return space.start
    ahead = leads(function.scores[np.newaxis])[0]
    scores = space.scores(singles)
    others = np.delete(scores, function.label, axis=1).max(axis=1)
    gain = ahead - (scores[:, function.label] - others)
    promise = gain / np.maximum(space.distances(singles), np.finfo(float).tiny)
    chosen: dict[int, int] = {}
    for row in np.argsort(-promise, kind="stable"):
        if promise[row] > 0 and len(chosen) < _MOST_CHOICES:
            chosen.setdefault(int(singles.codes[row].argmax()), int(row))
    alone = singles.codes[list(chosen.values())]
    together = np.cumsum(alone, axis=0)[1:]
    codes = np.concatenate([space.start.codes, alone, together])
    return States(np.repeat(space.start.numbers, len(codes), axis=0), codes)


def _linear_paths(space: RowSpace, function: LocalFunction, start: States) -> Paths:
    """Shortest ways to the linear borders with other classes."""
    here = function
    if start.codes.any():
        here = function.moved(space.view, space.features(start)[0])
    _, gaps, slopes = here.gaps()
    by_number, direction = space.by_numbers(slopes)
    steepness = (by_number * direction).sum(axis=1)
    sloped = np.flatnonzero(steepness > 0)
    near = sloped[np.argsort(gaps[sloped] / np.sqrt(steepness[sloped]), kind="stable")]
    near = near[:_TRIED_CLASSES]
    ways = -(gaps[near] / steepness[near])[:, np.newaxis] * direction[near]
    n_paths = len(near)
    return Paths(
        np.repeat(start.numbers, n_paths, axis=0),
        ways,
        np.repeat(start.codes, n_paths, axis=0),
        np.repeat(_FRACTIONS[np.newaxis], n_paths, axis=0),
    )


def _newton_path(space: RowSpace, function: LocalFunction) -> Paths:
    """Way to a row beyond the border by Newton's steps: one, or none."""
    for share, n_steps in _NEWTON_STEPS:
        numbers, here = space.own, function
        for _ in range(n_steps):
            paths = _linear_paths(space, here, space.start)
            if not len(paths.start):
                break
            numbers = space.clipped(numbers + share * paths.direction[0])
            state = States(numbers[np.newaxis], space.start.codes)
            here = here.moved(space.view, space.features(state)[0])
            if here.scores.argmax() != function.label:
                return _straight(space, numbers)
    return _straight(space, space.own).take(np.empty(0, dtype=np.intp))


def _straight(space: RowSpace, end: Floats) -> Paths:
    return Paths(
        space.start.numbers,
        (end - space.own)[np.newaxis],
        space.start.codes,
        _FRACTIONS[np.newaxis],
    )


def _refined(space: RowSpace, function: LocalFunction, found: States) -> States:
    """Cross the border at right angles, which may be nearer."""
    for _ in range(_REFINEMENTS):
        if not len(found.codes):
            return found
        best = found.take([0])
        winner = int(space.winners(best)[0])
        slopes = space.view.slopes(space.features(best)[0])
        across = slopes[winner] - slopes[function.label]
        _, direction = space.by_numbers(across[np.newaxis])
        length = np.linalg.norm(direction)
        if length == 0:
            return found
        size = np.linalg.norm(best.numbers - space.own) / length
        paths = Paths(
            space.start.numbers,
            direction * size,
            best.codes,
            _FRACTIONS[np.newaxis],
        )
        more = first_flips(space, paths, function.label, 1)
        found = _nearest(space, States.stacked(found, more), _FOLLOWED)
    return found


def _polished(space: RowSpace, states: States, label: int) -> States:
    """Undo changes while labels stay others; round what is left."""
    going = np.arange(len(states.codes))
    for _ in range(_MOST_ROUNDS):
        if not len(going):
            break
        fewer = [_undone(space, states.take([i])) for i in going]
        owner = np.repeat(going, [len(each.codes) for each in fewer])
        tried = States.stacked(*fewer)
        flipped = np.flatnonzero(space.winners(tried) != label)
        near = flipped[np.argsort(space.distances(tried.take(flipped)), kind="stable")]
        going, first = np.unique(owner[near], return_index=True)
        best = tried.take(near[first])
        nearer = space.distances(best) < space.distances(states.take(going))
        going, best = going[nearer], best.take(nearer)
        states.numbers[going], states.codes[going] = best
    return round_beyond(space, states, label)


def _undone(space: RowSpace, state: States) -> States:
    """Undo each change, and those of whole numbers also by half and by one."""
    move = state.numbers[0] - space.own
    smallest = np.argsort(np.abs(move), kind="stable")
    moved = smallest[move[smallest] != 0][:_MOST_UNDONE]
    whole = moved[space.is_whole[moved] & (np.abs(move[moved]) > 1)]
    columns = np.concatenate([moved, whole, whole])
    one, half = np.sign(move[whole]), np.trunc(move[whole] / 2)
    back = state.numbers[0, whole] - one, state.numbers[0, whole] - half
    numbers = np.repeat(state.numbers, len(columns), axis=0)
    numbers[np.arange(len(columns)), columns] = np.concatenate(
        [space.own[moved], *back]
    )
    replaced = np.flatnonzero(state.codes[0])
    codes = np.repeat(state.codes, len(replaced), axis=0)
    codes[np.arange(len(replaced)), replaced] = 0
    return States(
        np.concatenate(
            [space.box(numbers), np.repeat(state.numbers, len(replaced), axis=0)]
        ),
        np.concatenate([np.repeat(state.codes, len(columns), axis=0), codes]),
    )


def _nearest(space: RowSpace, states: States, most: int) -> States:
    order = np.argsort(space.distances(states), kind="stable")
    return states.take(order[:most])
