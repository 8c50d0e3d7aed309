"""Decisions on rows that were held out: by the search, or of a fit from its end on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._additive.fit import AdditiveFit, fit_additive
from localsvm.estimators._additive.rows import BinnedRows
from localsvm.estimators._additive.search import PenaltyChoice
from localsvm.estimators._held_out import MOST_HELD_OUT, HeldOut
from localsvm.rows import Rows, held_out_first, stratified_folds
from localsvm.solvers import RunLimits

_N_FOLDS = 3
_SHARE = 0.2
_TOL = 1e-3


def hold_out(
    rows: Rows,
    binned: BinnedRows,
    fit: AdditiveFit,
    choice: PenaltyChoice | None,
    options: RunLimits,
) -> HeldOut:
    """Take the decisions that the search made, or fit a part of the rows once more.

    Parameters
    ----------
    rows : Rows
        All rows, whose weights are known.
    binned : BinnedRows
        Distinct ones, in random order.
    fit : AdditiveFit
    choice : PenaltyChoice or None
        None where the penalty was given: then rows are held out in three folds, or a
        fifth of them, at most 2000, if there are more.
    options : RunLimits
        Of a fit, which starts from that of all rows and need not be closer than a gap
        of 1e-3.
    """
    if choice is None:
        index, decisions = _refit(binned, fit, options)
    else:
        index, decisions = choice.held_out, choice.decisions
    kept = np.argsort(index, kind="stable")[:MOST_HELD_OUT]
    index = index[kept]
    classes, penalty = binned.class_index[index], binned.penalty_weight[index]
    # A class weight is the same for all rows of the class.
    own = np.bincount(rows.class_index, rows.sample_weight, rows.n_classes)
    weighted = np.bincount(rows.class_index, rows.penalty_weight, rows.n_classes)
    factor = np.divide(own, weighted, out=np.zeros_like(own), where=weighted > 0)
    codes = np.ascontiguousarray(binned.codes[:, index].T)
    held_out = Rows(codes, classes, penalty * factor[classes], penalty, rows.n_classes)
    return HeldOut(held_out, decisions[kept])


def _refit(
    binned: BinnedRows, fit: AdditiveFit, options: RunLimits
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    n_rows, bins = len(binned.class_index), fit.model.bins
    if n_rows > MOST_HELD_OUT:
        n_test = min(MOST_HELD_OUT, int(_SHARE * n_rows))
        folds = held_out_first(binned.class_index, n_rows, n_test)
    else:
        folds = stratified_folds(binned.class_index, _N_FOLDS)
    options = replace(options, tol=max(options.tol, _TOL))
    tested, found = [np.empty(0, np.intp)], [np.empty((0, binned.n_outputs))]
    for fold in folds:
        part = binned.take(fold.train).arguments(bins)
        own = fit_additive(*part, fit.settings, options, fit)
        codes = binned.codes[:, fold.test]
        tested.append(fold.test)
        found.append(own.model.decide_codes(codes, options.n_threads))
    return np.concatenate(tested), np.concatenate(found)
