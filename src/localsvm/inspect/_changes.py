"""Changes of a single column that would change the label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localsvm.data import BooleanColumn, CategoryColumn, NumberColumn
from localsvm.inspect._border import LocalFunction
from localsvm.inspect._flips import first_flips
from localsvm.inspect._local_view import Floats, LocalView
from localsvm.inspect._opened import OpenedModel

# Numbers whose change is looked up: those that a linear function has change least.
_TRIED_FEATURES = 16


class Change(NamedTuple):
    """A change of one column, the others staying as they are, that changes the label.

    Parameters
    ----------
    name : str
        Of the column; of the feature where columns are not known.
    value : number, str or bool
        In the row.
    to : number, str or bool
        What it would have to be; of a number, the nearest such value.
    label : label
        Class that would be predicted.
    distance : float
        Size of the change in the features of the estimator.
    """

    name: str
    value: Any
    to: Any
    label: Any
    distance: float


@dataclass(frozen=True)
class NumberMoves:
    """Moves of single features to where the label changes.

    Attributes
    ----------
    features : ndarray of shape (n_moves,)
    moves : ndarray of shape (n_moves,)
    winners : ndarray of shape (n_moves,)
        Positions of the labels there.
    """

    features: NDArray[np.intp]
    moves: Floats
    winners: NDArray[np.intp]

    def shortest_ways(self, n_features: int) -> Floats:
        """Give the shortest move as a way: one, or none."""
        ways = np.zeros((min(1, len(self.moves)), n_features))
        if len(ways):
            best = np.abs(self.moves).argmin()
            ways[0, self.features[best]] = self.moves[best]
        return ways


def number_moves(
    opened: OpenedModel, view: LocalView, function: LocalFunction, encoded: Floats
) -> NumberMoves:
    """Move single numbers along their axis to the first change of label.

    ``encoded`` is the row as the table encoder has left it, or the row itself.
    """
    features, moves = _linear_moves(function, _number_features(opened, encoded))
    ways = np.zeros((len(features), len(function.x)))
    ways[np.arange(len(features)), features] = moves
    flips = first_flips(
        view, function.x, ways, function.label, linear=not function.is_curved
    )
    seen = np.isfinite(flips.fraction)
    return NumberMoves(
        features[seen], (moves[seen] * flips.fraction[seen]), flips.winner[seen]
    )


def single_changes(
    opened: OpenedModel,
    view: LocalView,
    function: LocalFunction,
    encoded: Floats,
    moves: NumberMoves,
) -> tuple[Change, ...]:
    """Find changes of one column each that change the label, the smallest first.

    Of numbers, those moves; categories and truth values are replaced by every other
    one, and the label looked up.
    """
    numbers = _number_changes(opened, view, function.x, moves)
    others = _category_changes(opened, view, function, encoded)
    return tuple(sorted([*numbers, *others], key=lambda change: change.distance))


def _number_changes(
    opened: OpenedModel, view: LocalView, x: Floats, found: NumberMoves
) -> Iterator[Change]:
    for feature, move, winner in zip(
        found.features, found.moves, found.winners, strict=True
    ):
        moved = x.copy()
        moved[feature] += move
        value, to = (opened.in_units(point)[feature] for point in (x, moved))
        if np.isnan(to):
            value, to = x[feature], moved[feature]
        yield Change(
            opened.feature_names[feature],
            float(value),
            float(to),
            view.classes[winner],
            float(abs(move)),
        )


def _linear_moves(
    function: LocalFunction, features: NDArray[np.intp]
) -> tuple[NDArray[np.intp], Floats]:
    """Features that move least to a border, and how far, by the linear function."""
    _, gaps, slopes = function.gaps()
    with np.errstate(divide="ignore", over="ignore"):
        moves = -gaps[:, np.newaxis] / slopes[:, features]
    nearest = np.abs(moves).argmin(axis=0)
    moves = moves[nearest, np.arange(len(features))]
    order = np.argsort(np.abs(moves), kind="stable")[:_TRIED_FEATURES]
    order = order[np.isfinite(moves[order])]
    return features[order], moves[order]


def _number_features(opened: OpenedModel, encoded: Floats) -> NDArray[np.intp]:
    """Features that can take any value; of a table, numbers that are not missing."""
    if opened.encoder is None:
        return np.arange(len(encoded))
    features = [
        first
        for column, first in _first_features(opened)
        if isinstance(column, NumberColumn)
        and not (column.indicator and encoded[first + 1] > 0)
    ]
    return np.array(features, dtype=np.intp)


def _category_changes(
    opened: OpenedModel, view: LocalView, function: LocalFunction, encoded: Floats
) -> Iterator[Change]:
    if opened.encoder is None:
        return
    found = list(_alternatives(opened, encoded))
    if not found:
        return
    points = np.array([point for *_, point in found])
    if opened.after_encoder is not None:
        points = np.asarray(opened.after_encoder.transform(points))
    winners = view.winners(points)
    for (name, value, to, _), point, winner in zip(found, points, winners, strict=True):
        if winner != function.label:
            distance = float(np.linalg.norm(point - function.x))
            yield Change(name, value, to, view.classes[winner], distance)


def _alternatives(
    opened: OpenedModel, encoded: Floats
) -> Iterator[tuple[str, Any, Any, Floats]]:
    """Name, value, other value and encoded row, for every other value of a column."""
    for column, first in _first_features(opened):
        if isinstance(column, BooleanColumn):
            other = encoded.copy()
            other[first] = 1 - encoded[first]
            if column.indicator:
                other[first + 1] = 0
            if encoded[first] in (0, 1):
                yield column.name, bool(encoded[first]), bool(other[first]), other
        elif isinstance(column, CategoryColumn):
            own = encoded[first : first + column.n_features]
            names = [suffix[1:] for suffix in column.suffixes]
            now = names[int(own.argmax())] if own.any() else "(new)"
            for code, category in enumerate(column.categories):
                if not own[code]:
                    other = encoded.copy()
                    other[first : first + column.n_features] = 0
                    other[first + code] = 1
                    yield column.name, now, category, other


def _first_features(opened: OpenedModel) -> Iterator[tuple[Any, int]]:
    """Columns of the encoder that have features, and the first feature of each."""
    assert opened.encoder is not None
    first = 0
    for column in opened.encoder.columns_:
        if column.n_features:
            yield column, first
            first += column.n_features
