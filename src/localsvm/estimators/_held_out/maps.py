"""From decisions to probabilities, such that the most probable class is predicted.

Both maps are learned by the logistic loss of held-out decisions, with Platt's smoothed
targets, and neither moves a label. For two classes the log odds ascend strictly with
the decision and are zero where it is. For more, a class has the logarithm of a sigmoid
of its own score, with a slope and a bias of its own, and the class that is predicted is
raised to the largest of them where it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit, softmax

Floats = NDArray[np.float64]

# Pulls the slopes, in the units of the decisions' size, towards each other; in rows.
_RIDGE_ROWS = 2.0
# Of the size: keeps the log odds ascending.
_LEAST_SLOPE = 1e-3
_QUANTILES = (0.25, 0.5, 0.75)
# Rows of a side, by weight, that a curve needs.
_FEWEST_FOR_CURVE = 40.0
# Logarithms of slopes, in the units of the size.
_LARGEST_LOG_SLOPE = 6.0
# Beyond it the exponential function leaves the range of numbers.
_LARGEST_LOG_ODDS = 700.0


class ProbabilityMap(Protocol):
    """A map from decisions to probabilities."""

    def probabilities(self, decisions: NDArray[Any]) -> Floats:
        """Probabilities of shape (n_rows, n_classes)."""


@dataclass(frozen=True)
class SignMap:
    """Log odds of two classes: piecewise linear, ascending, zero at zero.

    Attributes
    ----------
    knots : ndarray of shape (2, n_pieces)
        Where the pieces begin, by the size of a negative and of a positive decision;
        ascending from zero. The last piece has no end.
    slopes : ndarray of shape (2, n_pieces)
        Above zero.
    """

    knots: Floats
    slopes: Floats

    def log_odds(self, decisions: NDArray[Any]) -> Floats:
        """Log odds of the second class."""
        flat = np.asarray(decisions, dtype=np.float64).ravel()
        pieces = _pieces(flat, self.knots)
        with np.errstate(over="ignore"):
            total = pieces @ self.slopes.ravel()
        return np.clip(total, -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS)

    def probabilities(self, decisions: NDArray[Any]) -> Floats:
        """Probabilities of shape (n_rows, 2); above one half where a decision is."""
        odds = self.log_odds(decisions)
        second = expit(odds)
        # A tiny decision rounds to one half, which would be the first class.
        rounded = (np.ravel(decisions) > 0) & (second <= 0.5)
        second[rounded] = np.nextafter(0.5, 1.0)
        first = np.where(rounded, 1.0 - second, expit(-odds))
        return np.stack([first, second], axis=1)


@dataclass(frozen=True)
class ClassMap:
    """Softmax of the classes' logits, the predicted class raised to the largest.

    Attributes
    ----------
    slope, bias : ndarray of shape (n_classes,)
    squashed : bool
        Whether a logit is the logarithm of the sigmoid of ``slope * score + bias``.
    """

    slope: Floats
    bias: Floats
    squashed: bool = True

    def logits(self, decisions: NDArray[Any]) -> Floats:
        """Logits before the predicted class is raised."""
        linear = self.slope * np.asarray(decisions, dtype=np.float64) + self.bias
        return np.asarray(log_expit(linear) if self.squashed else linear)

    def probabilities(self, decisions: NDArray[Any]) -> Floats:
        """Probabilities of shape (n_rows, n_classes)."""
        logits, rows = self.logits(decisions), np.arange(len(decisions))
        winner = np.argmax(decisions, axis=1)
        logits[rows, winner] = logits.max(axis=1)
        found = np.asarray(softmax(logits, axis=1))
        others = found.copy()
        others[rows, winner] = -np.inf
        ahead = np.nextafter(others.max(axis=1), 1.0)
        found[rows, winner] = np.maximum(found[rows, winner], ahead)
        return found


def identity_map(n_classes: int) -> SignMap | ClassMap:
    """Map of decisions that are log odds, or their softmax."""
    if n_classes == 2:
        return SignMap(np.zeros((2, 1)), np.ones((2, 1)))
    return ClassMap(np.ones(n_classes), np.zeros(n_classes), squashed=False)


def learn_map(
    decisions: Floats, class_index: NDArray[np.int32], weight: Floats
) -> SignMap | ClassMap:
    """Learn the map of held-out decisions.

    Parameters
    ----------
    decisions : ndarray of shape (n_rows, n_outputs)
        One output for two classes.
    class_index : ndarray of shape (n_rows,)
    weight : ndarray of shape (n_rows,)
        Weight two counts as the row twice.
    """
    if decisions.shape[1] == 1:
        return _learn_sign_map(decisions[:, 0], class_index, weight)
    return _learn_class_map(decisions, class_index, weight)


def _learn_sign_map(
    decisions: Floats, class_index: NDArray[np.int32], weight: Floats
) -> SignMap:
    total = weight.sum()
    size = _size(decisions, weight)
    scaled = decisions / size
    knots = np.stack([_knots(-scaled, weight), _knots(scaled, weight)])
    pieces, target = _pieces(scaled, knots), _smoothed(class_index, 2, total)[:, 1]
    share, ridge = weight / total, _RIDGE_ROWS / total

    def loss(slopes: Floats) -> tuple[float, Floats]:
        odds = pieces @ slopes
        value = share @ (np.logaddexp(0.0, odds) - target * odds)
        gradient = (share * (expit(odds) - target)) @ pieces
        away = slopes - slopes.mean()
        return value + ridge * away @ away, gradient + 2 * ridge * away

    bounds = [(_LEAST_SLOPE, None)] * knots.size
    found = _minimised(loss, np.ones(knots.size), bounds)
    return SignMap(knots * size, found.reshape(knots.shape) / size)


def _pieces(decisions: Floats, knots: Floats) -> Floats:
    """Signed length of each decision in each piece, negative side first."""
    width = np.diff(knots, axis=1, append=np.inf)
    columns = []
    for sign, start, length in zip((-1.0, 1.0), knots, width, strict=True):
        beyond = sign * decisions[:, np.newaxis] - start
        columns.append(sign * np.clip(beyond, 0.0, length))
    return np.concatenate(columns, axis=1)


def _knots(decisions: Floats, weight: Floats) -> Floats:
    """Zero and the quartiles of one side; zeros if it has few rows."""
    own = decisions > 0
    knots = np.zeros(1 + len(_QUANTILES))
    if weight[own].sum() < _FEWEST_FOR_CURVE:
        return knots
    order = np.argsort(decisions[own], kind="stable")
    reached = np.cumsum(weight[own][order]) / weight[own].sum()
    place = np.searchsorted(reached, _QUANTILES).clip(max=len(order) - 1)
    knots[1:] = decisions[own][order[place]]
    return knots


def _learn_class_map(
    decisions: Floats, class_index: NDArray[np.int32], weight: Floats
) -> ClassMap:
    n_classes, total = decisions.shape[1], weight.sum()
    size = _size(decisions - np.average(decisions, axis=0, weights=weight), weight)
    scaled = decisions / size
    target = _smoothed(class_index, n_classes, total)
    share, ridge = weight / total, _RIDGE_ROWS / total

    def loss(unknowns: Floats) -> tuple[float, Floats]:
        slope, bias = np.exp(unknowns[:n_classes]), unknowns[n_classes:]
        steep = slope * scaled
        logits = log_expit(steep + bias)
        largest = logits.max(axis=1, keepdims=True)
        rest = np.exp(logits - largest)
        norm = rest.sum(axis=1, keepdims=True)
        value = share @ (largest + np.log(norm))[:, 0]
        value -= share @ (target * logits).sum(axis=1)
        slack = share[:, np.newaxis] * (rest / norm - target) * expit(-steep - bias)
        gradient = np.concatenate([(slack * steep).sum(axis=0), slack.sum(axis=0)])
        for part in (slice(n_classes), slice(n_classes, None)):
            away = unknowns[part] - unknowns[part].mean()
            value += ridge * away @ away
            gradient[part] += 2 * ridge * away
        return float(value), gradient

    bounds = [(-_LARGEST_LOG_SLOPE, _LARGEST_LOG_SLOPE)] * n_classes
    bounds += [(-np.inf, np.inf)] * n_classes
    found = _minimised(loss, np.zeros(2 * n_classes), bounds)
    return ClassMap(np.exp(found[:n_classes]) / size, found[n_classes:])


def _size(decisions: Floats, weight: Floats) -> float:
    """Weighted mean size of decisions; 1 where all are zero."""
    sizes = np.abs(decisions).reshape(len(decisions), -1).mean(axis=1)
    return float(np.average(sizes, weights=weight)) or 1.0


def _smoothed(class_index: NDArray[np.int32], n_classes: int, total: float) -> Floats:
    """Targets that are not quite zero and one, as with one more row of each class."""
    doubt = n_classes / (total + n_classes)
    target = np.full((len(class_index), n_classes), doubt / n_classes)
    target[np.arange(len(class_index)), class_index] += 1.0 - doubt
    return target


def _minimised(loss: Any, start: Floats, bounds: Any) -> Floats:
    found: Floats = minimize(
        loss,
        start,
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options={"ftol": 1e-16, "gtol": 1e-10, "maxiter": 2000},
    ).x
    return found
