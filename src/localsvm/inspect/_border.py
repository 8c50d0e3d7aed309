"""The nearest point at which a model changes its mind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localsvm.inspect._flips import first_flips
from localsvm.inspect._local_view import Floats, LocalView

# Borders with other classes that are looked up.
_TRIED_CLASSES = 3
# Steps of Newton, as shares of the way to the linear border, and how many of them. The
# first go a little too far, so that they end beyond the border; if they get lost where
# the function is flat, short ones follow the gradient.
_NEWTON_STEPS = ((1.02, 8), (0.2, 25))
_REFINEMENTS = 2
_LEAST_GAP = 1e-12


class Shift(NamedTuple):
    """How far one feature moves to the border.

    Parameters
    ----------
    name : str
    value : float
        In the row.
    to : float
        On the border. Both are in the units of the table where the feature is a number
        of it, else as the estimator sees the feature.
    """

    name: str
    value: float
    to: float


@dataclass(frozen=True, eq=False)
class Border:
    """Nearest point found at which the predicted class changes.

    Attributes
    ----------
    label : label
        Class beyond it.
    distance : float
        Euclidean distance from the row, in the features of the estimator.
    point : ndarray of shape (n_features,)
        The features there.
    is_exact : bool
        Whether it is the nearest border of the linear function that decides the row,
        and that function holds up to there. Otherwise it was found by following
        gradients and halving: there may be a nearer one.
    in_same_region : bool or None
        Whether the point is in the main region of the row; None without regions.
    region : int or None
        Its region.
    shifts : tuple of Shift
        Features that move, the farthest first.

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


@dataclass(frozen=True)
class LocalFunction:
    """What decides a row: scores and their weights.

    Attributes
    ----------
    x : ndarray of shape (n_features,)
    label : int
        Position of the predicted class.
    scores : ndarray of shape (n_classes,)
    slopes : ndarray of shape (n_classes, n_features)
    intercepts : ndarray of shape (n_classes,)
    region : int or None
        The main region.
    is_curved : bool
        Whether the slopes are a gradient.
    has_votes : bool
        Whether scores are votes, whose differences are no distances.
    """

    x: Floats
    label: int
    scores: Floats
    slopes: Floats
    intercepts: Floats
    region: int | None
    is_curved: bool
    has_votes: bool

    def gaps(self) -> tuple[NDArray[np.intp], Floats, Floats]:
        """Other classes, how far they are behind, and how that changes with x."""
        others = np.delete(np.arange(len(self.scores)), self.label)
        behind = self.scores[self.label] - self.scores[others]
        # A vote says nothing of distance: what a decision value of one would take.
        size = np.ones_like(behind) if self.has_votes else behind
        slope = self.slopes[self.label] - self.slopes[others]
        return others, np.maximum(size, _LEAST_GAP), slope


def ways_to_borders(function: LocalFunction) -> Floats:
    """Shortest ways to the borders with other classes, the shortest first.

    Of linear functions f, to the nearest point of f = 0: x - f w / |w|².
    """
    _, gaps, slopes = function.gaps()
    squares = (slopes**2).sum(axis=1)
    has_slope = squares > 0
    gaps, slopes, squares = gaps[has_slope], slopes[has_slope], squares[has_slope]
    ways = -(gaps / squares)[:, np.newaxis] * slopes
    order = np.argsort(gaps / np.sqrt(squares), kind="stable")
    return np.asarray(ways[order[:_TRIED_CLASSES]])


def nearest_border(
    view: LocalView, function: LocalFunction, known_ways: Floats
) -> Border | None:
    """Find where the label changes; None where no way leads to a change.

    Every border is checked by predictions. Where the function is not linear, or changes
    on the way, the border is the first change that is found on the way there. Ways
    that are known to lead to a change are for functions that are not linear, or whose
    own border is beyond their region.
    """
    ways = ways_to_borders(function)
    if function.is_curved:
        ways = np.concatenate([ways, known_ways])
        if not function.has_votes:
            ways = np.concatenate([ways, _newton_ways(view, function)])
    found = _shortest(view, function, ways) or _shortest(view, function, known_ways)
    if found is None:
        return None
    if function.is_curved:
        for _ in range(_REFINEMENTS):
            found = _refined(view, function, *found)
    way, winner = found
    return _border(view, function, way, winner)


def _shortest(
    view: LocalView, function: LocalFunction, ways: Floats
) -> tuple[Floats, int] | None:
    """Way to the nearest change of label, cut off there, and the label beyond."""
    flips = first_flips(
        view, function.x, ways, function.label, linear=not function.is_curved
    )
    lengths = flips.fraction * np.linalg.norm(ways, axis=1)
    if not np.isfinite(lengths).any():
        return None
    best = int(lengths.argmin())
    return flips.fraction[best] * ways[best], int(flips.winner[best])


def _newton_ways(view: LocalView, function: LocalFunction) -> Floats:
    """Way to a point beyond the border by Newton's steps: one, or none."""
    for share, n_steps in _NEWTON_STEPS:
        here = function
        for _ in range(n_steps):
            ways = ways_to_borders(here)
            if not len(ways):
                break
            point = here.x + share * ways[0]
            if not np.isfinite(point).all():
                break
            here = _function_at(view, function, point)
            if here.scores.argmax() != function.label:
                return np.asarray((point - function.x)[np.newaxis])
    return np.empty((0, len(function.x)))


def _function_at(
    view: LocalView, function: LocalFunction, point: Floats
) -> LocalFunction:
    slopes, intercepts = view.linear_functions(point[np.newaxis])
    scores = view.scores(point[np.newaxis])
    return replace(
        function, x=point, scores=scores[0], slopes=slopes[0], intercepts=intercepts[0]
    )


def _refined(
    view: LocalView, function: LocalFunction, way: Floats, winner: int
) -> tuple[Floats, int]:
    """Try the direction in which the border is crossed at right angles."""
    slopes = view.slopes(function.x + way)
    across = slopes[winner] - slopes[function.label]
    length, norm = np.linalg.norm(way), np.linalg.norm(across)
    if norm == 0:
        return way, winner
    found = _shortest(view, function, (across * (length / norm))[np.newaxis])
    if found is None or np.linalg.norm(found[0]) >= length:
        return way, winner
    return found


def _border(
    view: LocalView, function: LocalFunction, way: Floats, winner: int
) -> Border:
    point = function.x + way
    has_region = function.region is not None
    region = int(view.regions(point[np.newaxis])[0]) if has_region else None
    is_exact = False
    if not function.is_curved:
        nearest = ways_to_borders(function)[0]
        is_exact = np.array_equal(nearest, way) and np.allclose(
            view.slopes(point), function.slopes
        )
    return Border(
        label=view.classes[winner],
        distance=float(np.linalg.norm(way)),
        point=point,
        is_exact=bool(is_exact),
        in_same_region=None if region is None else region == function.region,
        region=region,
    )
