"""The weighted sum that joins the decisions of several models.

The decisions, made on rows that were held out of the fits, are divided by their spread
and added with weights and a bias that a logistic regression learns. The bias is part of
the model: it moves the threshold to where the errors of a rare class and those of a
frequent one balance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]

# Pulls the weights towards one, in units of the mean loss: the most, and the most in
# rows, since many rows need no such help.
_WEIGHT_RIDGE, _RIDGE_ROWS = 0.005, 2.0
# Of the first term where no term helps.
_LEAST_WEIGHT = 1e-3
# Keeps the bias of a class without held-out rows finite.
_BIAS_RIDGE = 1e-6
# Of Newton's method, which takes ten. The squared decrement is twice what the loss can
# still fall by.
_NEWTON_STEPS, _HALVINGS, _DECREMENT_TOL = 100, 40, 1e-12
# Share of the sum's size below which a term is dropped.
SMALLEST_SHARE = 0.03


@dataclass(frozen=True)
class Join:
    """A sum of decisions: ``sum_t weights[t] * decisions[t] + bias``.

    Attributes
    ----------
    weights : ndarray of shape (n_terms,)
        None is negative; zero is a term that is not used.
    bias : ndarray of shape (n_outputs,)
    """

    weights: Floats
    bias: Floats

    def apply(self, decisions: Sequence[Floats]) -> Floats:
        """Add the decisions of the terms, each of shape (n_rows, n_outputs)."""
        total = np.tile(self.bias, (len(decisions[0]), 1))
        for weight, own in zip(self.weights, decisions, strict=True):
            if weight > 0:
                total += weight * own
        return total

    def shares(self, decisions: Sequence[Floats], row_weight: Floats) -> Floats:
        """Share of each term in the spread of what is added."""
        sizes = self.weights * [spread(own, row_weight) for own in decisions]
        return np.asarray(sizes / sizes.sum()) if sizes.sum() > 0 else sizes


def spread(decisions: Floats, row_weight: Floats) -> float:
    """Weighted mean distance of decisions to their mean; 1 where all are equal."""
    share = row_weight / row_weight.sum()
    return float((share @ np.abs(decisions - share @ decisions)).mean()) or 1.0


def learn_join(
    decisions: Sequence[Floats],
    class_index: NDArray[np.int32],
    row_weight: Floats,
    drop_small: bool = True,
) -> Join:
    """Learn weights and bias by the logistic loss of held-out decisions.

    Minimises the weighted mean of ``log(1 + exp(-y f))``, or of the cross entropy of
    the softmax for several classes, plus a small pull of the weights, in units of each
    term's spread, towards one. The problem is convex and has a handful of unknowns.

    Parameters
    ----------
    decisions : list of ndarray of shape (n_rows, n_outputs)
        Of rows that were held out of the fits; one output for two classes.
    class_index : ndarray of shape (n_rows,)
    row_weight : ndarray of shape (n_rows,)
    drop_small : bool, default=True
        Whether terms with less than ``SMALLEST_SHARE`` of the sum are left out and the
        others joined again.
    """
    sizes = np.array([spread(own, row_weight) for own in decisions])
    scaled = np.stack(decisions) / sizes[:, np.newaxis, np.newaxis]
    share = row_weight / row_weight.sum()
    weights, bias = _minimise(scaled, class_index, share)
    small = weights < SMALLEST_SHARE * weights.sum()
    if drop_small and small.any():
        weights[small] = 0.0
        weights[~small], bias = _minimise(scaled[~small], class_index, share)
    if not weights.any():
        # Nothing predicts the classes: one term stays, so that rows have an order.
        weights[0] = _LEAST_WEIGHT
    return Join(weights / sizes, bias)


def log_losses(decisions: Floats, class_index: NDArray[np.int32]) -> Floats:
    """Logistic loss of each row, for decisions that are log odds."""
    return _expand_rows(decisions, class_index)[0]


def calibrated_losses(
    decisions: Floats, class_index: NDArray[np.int32], row_weight: Floats
) -> Floats:
    """Logistic loss of each row after the best slope and bias of one model."""
    join = learn_join([decisions], class_index, row_weight, drop_small=False)
    return log_losses(join.apply([decisions]), class_index)


def _minimise(
    scaled: Floats, class_index: NDArray[np.int32], share: Floats
) -> tuple[Floats, Floats]:
    """Weights and bias of decisions of spread one, by Newton steps on a face.

    A weight at zero that wants to fall stays there; the others move by Newton's step,
    as far as no weight becomes negative, and halved until the loss falls.
    """
    problem = _JoinProblem(scaled, class_index, share)
    point = np.append(np.ones(len(scaled)), np.zeros(scaled.shape[2]))
    value, gradient, hessian = problem.expand(point)
    for _ in range(_NEWTON_STEPS):
        held = problem.is_weight & (point <= 0) & (gradient > 0)
        step = np.zeros_like(point)
        free = np.ix_(~held, ~held)
        step[~held] = np.linalg.solve(hessian[free], gradient[~held])
        if gradient @ step <= _DECREMENT_TOL:
            break
        falls = problem.is_weight & (step > 0)
        reach = min(1.0, np.min(point[falls] / step[falls], initial=1.0))
        for halving in range(_HALVINGS):
            moved = point - reach * 0.5**halving * step
            moved[falls] = np.maximum(moved[falls], 0)  # but for rounding it is
            found = problem.expand(moved)
            if found[0] < value:
                break
        else:
            break
        point, (value, gradient, hessian) = moved, found
    return point[: len(scaled)], point[len(scaled) :]


class _JoinProblem:
    """Loss of a sum by its weights and bias, with its first two derivatives."""

    def __init__(
        self, scaled: Floats, class_index: NDArray[np.int32], share: Floats
    ) -> None:
        n_terms, n_rows, n_outputs = scaled.shape
        self._scaled, self._class_index, self._share = scaled, class_index, share
        self._target = class_index[:, np.newaxis] * 1.0
        if n_outputs > 1:
            self._target = np.eye(n_outputs)[class_index]
        self.is_weight = np.arange(n_terms + n_outputs) < n_terms
        pull = min(_WEIGHT_RIDGE, _RIDGE_ROWS / n_rows)
        self._ridge = np.where(self.is_weight, pull, _BIAS_RIDGE)

    def expand(self, point: Floats) -> tuple[float, Floats, Floats]:
        """Value, gradient and Hessian at a point."""
        weights, bias = point[self.is_weight], point[~self.is_weight]
        total = np.tensordot(weights, self._scaled, axes=1) + bias
        losses, probability = _expand_rows(total, self._class_index)
        distance = point - self.is_weight
        value = self._share @ losses
        value += self._ridge @ np.square(distance)
        slope = self._share[:, np.newaxis] * (probability - self._target)
        gradient = np.append(
            np.tensordot(self._scaled, slope, axes=2), slope.sum(axis=0)
        )
        gradient += 2 * self._ridge * distance
        return float(value), gradient, self._hessian(probability)

    def _hessian(self, probability: Floats) -> Floats:
        """Second derivatives: of each row diag(p) - p p', by weights and bias."""
        one_output = probability.shape[1] == 1
        curvature = probability * (1 - probability) if one_output else probability
        weighted = self._share[:, np.newaxis] * curvature
        n_terms = len(self._scaled)
        by_row = self._scaled * weighted
        by_terms = by_row.reshape(n_terms, -1) @ self._scaled.reshape(n_terms, -1).T
        crossed, by_bias = by_row.sum(axis=1), np.diag(weighted.sum(axis=0))
        if not one_output:
            means = (self._scaled * probability).sum(axis=2)
            by_terms -= (means * self._share) @ means.T
            crossed -= means @ weighted
            by_bias -= probability.T @ weighted
        upper = np.concatenate([by_terms, crossed], axis=1)
        lower = np.concatenate([crossed.T, by_bias], axis=1)
        return np.asarray(np.concatenate([upper, lower]) + 2 * np.diag(self._ridge))


def _expand_rows(
    total: Floats, class_index: NDArray[np.int32]
) -> tuple[Floats, Floats]:
    """Loss of each row, and the probability of each output.

    That is of the second class where there is one output.
    """
    if total.shape[1] == 1:
        sign = 2.0 * class_index - 1.0
        return np.logaddexp(0.0, -sign * total[:, 0]), np.asarray(expit(total))
    highest = total.max(axis=1, keepdims=True)
    odds = np.exp(total - highest)
    mass = odds.sum(axis=1, keepdims=True)
    own = np.take_along_axis(total, class_index[:, np.newaxis], axis=1)
    return (np.log(mass) + highest - own)[:, 0], odds / mass
