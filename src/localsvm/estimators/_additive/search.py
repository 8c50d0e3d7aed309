"""The choice of the penalty by the log loss of rows that were held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._additive.bins import ColumnBins
from localsvm.estimators._additive.fit import (
    AdditiveFit,
    AdditiveSettings,
    fit_additive,
)
from localsvm.estimators._additive.rows import BinnedRows
from localsvm.estimators._join import calibrated_losses
from localsvm.rows import Fold, held_out_first, stratified_folds
from localsvm.solvers import RunLimits

_PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
# The logistic loss was best at about ten times the penalty of the squared hinge.
PENALTIES = {
    "squared_hinge": _PENALTIES,
    "logistic": tuple(10 * C for C in _PENALTIES),
}
# For rows that are too few to hold some out.
DEFAULT_PENALTY = 1.0
_N_FOLDS = 3
_TOL = 1e-3
_FEWEST_ROWS_TO_HOLD_OUT = 10_000
_SHARE_HELD_OUT = 0.2


@dataclass(frozen=True)
class PenaltyChoice:
    """Result of a search.

    Attributes
    ----------
    C : float
    losses : dict of float to float
        Mean log loss of the held-out rows at each penalty that was tried.
    held_out : ndarray of shape (n_held_out,)
        Rows that were held out.
    decisions : ndarray of shape (n_held_out, n_outputs)
        Their decisions at the chosen penalty, of models that had not seen them.
    start : AdditiveFit or None
        One of these models, to start the fit of all rows from.
    """

    C: float
    losses: dict[float, float]
    held_out: NDArray[np.intp]
    decisions: NDArray[np.float64]
    start: AdditiveFit | None


def choose_penalty(
    rows: BinnedRows,
    bins: ColumnBins,
    loss: str,
    options: RunLimits,
    penalties: Sequence[float] | None = None,
) -> PenaltyChoice:
    """Choose the penalty with the smallest log loss after a logistic calibration.

    Rows are held out in three stratified folds, or one fifth of them if there are more
    than 10,000. Penalties are tried in ascending order, each from the solution of the
    last one, until the loss rises or the time is over.

    Parameters
    ----------
    rows : BinnedRows
        Distinct, in random order.
    bins : ColumnBins
    loss : {"squared_hinge", "logistic"}
    options : RunLimits
        Of each fit, which need not be closer than a gap of 1e-3; the deadline is that
        of the search.
    penalties : sequence of float or None, default=None
        Ascending; None is 0.03, 0.1, ..., 300, and ten times that for the logistic
        loss.

    Returns
    -------
    PenaltyChoice
    """
    penalties = PENALTIES[loss] if penalties is None else penalties
    folds = _folds(rows.class_index)
    if not folds:
        nothing = np.empty((0, rows.n_outputs))
        return PenaltyChoice(DEFAULT_PENALTY, {}, np.empty(0, np.intp), nothing, None)
    options = replace(options, tol=max(options.tol, _TOL))
    held_out = np.concatenate([fold.test for fold in folds])
    parts = [rows.take(fold.train) for fold in folds]
    starts: list[AdditiveFit | None] = [None] * len(folds)
    losses: dict[float, float] = {}
    best, decisions = float(penalties[0]), np.empty(0)
    for C in map(float, penalties):
        if losses and options.is_over:
            break
        settings = AdditiveSettings(C, loss)
        fits = [
            fit_additive(*part.arguments(bins), settings, options, start)
            for part, start in zip(parts, starts, strict=True)
        ]
        own = np.concatenate(
            [
                fit.model.decide_codes(rows.codes[:, fold.test], options.n_threads)
                for fit, fold in zip(fits, folds, strict=True)
            ]
        )
        losses[C] = _mean_loss(own, rows, held_out)
        if losses[C] > losses[best]:
            break
        best, decisions, starts = C, own, list(fits)
    return PenaltyChoice(best, losses, held_out, decisions, starts[0])


def _folds(class_index: NDArray[np.int32]) -> list[Fold]:
    n_rows = len(class_index)
    if n_rows > _FEWEST_ROWS_TO_HOLD_OUT:
        return held_out_first(class_index, n_rows, int(_SHARE_HELD_OUT * n_rows))
    return stratified_folds(class_index, _N_FOLDS)


def _mean_loss(
    decisions: NDArray[np.float64], rows: BinnedRows, held_out: NDArray[np.intp]
) -> float:
    """Log loss of the decisions as the best slope and bias turn them into log odds."""
    weight = rows.penalty_weight[held_out]
    losses = calibrated_losses(decisions, rows.class_index[held_out], weight)
    return float(losses @ weight / weight.sum())
