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
from scipy.optimize import minimize
from scipy.special import expit, log_softmax

Floats = NDArray[np.float64]

# Pulls the weights towards one, in units of the mean loss: the most, and the most in
# rows, since many rows need no such help.
_WEIGHT_RIDGE, _RIDGE_ROWS = 0.005, 2.0
# Of the first term where no term helps.
_LEAST_WEIGHT = 1e-3
# Keeps the bias of a class without held-out rows finite.
_BIAS_RIDGE = 1e-6
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
    if decisions.shape[1] == 1:
        sign = 2.0 * class_index - 1.0
        return np.logaddexp(0.0, -sign * decisions[:, 0])
    rows = np.arange(len(decisions))
    return np.asarray(-log_softmax(decisions, axis=1)[rows, class_index])


def calibrated_losses(
    decisions: Floats, class_index: NDArray[np.int32], row_weight: Floats
) -> Floats:
    """Logistic loss of each row after the best slope and bias of one model."""
    join = learn_join([decisions], class_index, row_weight, drop_small=False)
    return log_losses(join.apply([decisions]), class_index)


def _minimise(
    scaled: Floats, class_index: NDArray[np.int32], share: Floats
) -> tuple[Floats, Floats]:
    """Weights and bias of decisions of spread one."""
    n_terms, _, n_outputs = scaled.shape
    ridge = min(_WEIGHT_RIDGE, _RIDGE_ROWS / len(class_index))
    target = np.eye(n_outputs)[class_index] if n_outputs > 1 else class_index[:, None]

    def loss(unknowns: Floats) -> tuple[float, Floats]:
        weights, bias = unknowns[:n_terms], unknowns[n_terms:]
        total = np.tensordot(weights, scaled, axes=1) + bias
        value = share @ log_losses(total, class_index)
        slope = share[:, np.newaxis] * (_probabilities(total) - target)
        gradient = np.concatenate(
            [np.tensordot(scaled, slope, axes=2), slope.sum(axis=0)]
        )
        value += ridge * np.square(weights - 1).sum()
        value += _BIAS_RIDGE * np.square(bias).sum()
        gradient[:n_terms] += 2 * ridge * (weights - 1)
        gradient[n_terms:] += 2 * _BIAS_RIDGE * bias
        return float(value), gradient

    start = np.concatenate([np.ones(n_terms), np.zeros(n_outputs)])
    bounds = [(0.0, None)] * n_terms + [(None, None)] * n_outputs
    found = minimize(
        loss,
        start,
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options={"ftol": 1e-12, "gtol": 1e-9, "maxiter": 500},
    ).x
    return found[:n_terms], found[n_terms:]


def _probabilities(total: Floats) -> Floats:
    """Probability of each output; of the second class where there is one output."""
    if total.shape[1] == 1:
        return np.asarray(expit(total))
    return np.asarray(np.exp(log_softmax(total, axis=1)))
