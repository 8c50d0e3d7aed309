"""A fit of the staged SVM to all rows, or to as many as the time allows."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from localsvm._checks import level_of_caller
from localsvm._clock import StageClock
from localsvm.estimators._held_out import MOST_HELD_OUT, HeldOut
from localsvm.estimators._staged.jobs import keeping
from localsvm.estimators._staged.setting import StagedSetting, StageOptions
from localsvm.estimators._staged.sum.fit import SumFit, fit_sum
from localsvm.estimators._staged.switch.fit import SwitchFit, fit_switch
from localsvm.rows import Rows, held_out_first

# What is fitted whatever the time: few rows, and not to the last digit.
_FLOOR_ROWS, _FLOOR_TOL, _FLOOR_ITERATIONS = 2000, 0.1, 100
_GROWTH = 4
# Of the seconds with the rows: between a linear and a quadratic solver.
_EXPONENT = 1.5
# Of the rows, to be held out; and rows of a fit that costs a fraction of a search.
_SHARE_HELD_OUT, _MOST_FITTED = 0.2, 8000


def fit_staged(
    rows: Rows, setting: StagedSetting, options: StageOptions
) -> SwitchFit | SumFit:
    """Fit all rows or, where ``max_time`` is too short for that, a sample of them.

    With a limit the first model is one of 2000 rows, whose cost is small and known. It
    is followed by one of all rows if the seconds so far promise that it ends in time,
    else by ones of four times as many. A model that the limit cut short is dropped:
    half a solve can be worse than none, a smaller sample cannot. Where Ctrl-C keeps
    what there is, that is the last such model; without a limit it is one of 2000 rows.

    Parameters
    ----------
    rows : Rows
        Distinct, in random order.
    setting : StagedSetting
    options : StageOptions
    """
    n_rows = rows.n_rows
    if options.max_time is None and not options.is_late:
        with keeping(options):
            return _fit(rows, np.arange(n_rows), setting, options)
    n_fitted = min(n_rows, _FLOOR_ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit, seconds = _timed_fit(rows, n_fitted, setting, _floor(options))
    fit = replace(fit, in_full=False)
    while not (fit.in_full or options.is_late):
        n_next = n_rows
        if _foreseen(seconds, n_rows / n_fitted) >= _time_left(options):
            n_next = min(n_rows, _GROWTH * n_fitted)
        if _foreseen(seconds, n_next / n_fitted) >= _time_left(options):
            break
        with warnings.catch_warnings(record=True) as caught, keeping(options):
            warnings.simplefilter("always")
            larger, seconds = _timed_fit(rows, n_next, setting, options)
        if options.is_late:
            break
        fit, n_fitted = replace(larger, in_full=n_next == n_rows), n_next
        if fit.in_full:
            _warn_again(caught)
    return fit


def hold_out(
    rows: Rows, setting: StagedSetting, options: StageOptions
) -> HeldOut | None:
    """Decide the first rows by the chosen setting, fitted to the next ones.

    Parameters
    ----------
    rows : Rows
        Distinct, in random order.
    setting : StagedSetting
    options : StageOptions

    Returns
    -------
    HeldOut or None
        A fifth of the rows, at most 2000; None if no row can be spared, or
        the time is limited and more than half of it is gone.
    """
    limit, left = options.max_time, options.clock.remaining()
    if options.is_late or (limit and left is not None and left < limit / 2):
        return None
    n_test = min(MOST_HELD_OUT, int(_SHARE_HELD_OUT * rows.n_rows))
    n_used = min(rows.n_rows, n_test + _MOST_FITTED)
    folds = held_out_first(rows.class_index, n_used, n_test) if n_test else []
    if not folds:
        return None
    train, test = rows.take(folds[0].train), rows.take(folds[0].test)
    if len(np.unique(train.class_index)) < rows.n_classes:
        return None
    index, own = np.arange(train.n_rows), options.for_share(train.n_rows / rows.n_rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = _fit(train, index, setting, own).model
    decisions = model.decide(test.X, options.n_jobs).astype(np.float64)
    return HeldOut(test, decisions)


def _fit(
    rows: Rows, index: NDArray[np.intp], setting: StagedSetting, options: StageOptions
) -> SwitchFit | SumFit:
    """Fit the rows at the given places."""
    if setting.join is not None:
        return fit_sum(rows, index, setting, options)
    return fit_switch(rows, index, setting, options)


def _timed_fit(
    rows: Rows, n_rows: int, setting: StagedSetting, options: StageOptions
) -> tuple[SwitchFit | SumFit, float]:
    """Fit the first rows, which are in random order; the seconds that it took."""
    start = time.perf_counter()
    index = _first_of_all_classes(rows.class_index, n_rows)
    if n_rows < rows.n_rows:
        options = options.for_share(n_rows / rows.n_rows)
    fit = _fit(rows, index, setting, options)
    return fit, time.perf_counter() - start


def _floor(options: StageOptions) -> StageOptions:
    """Options that no clock stops, with few steps."""
    return replace(
        options,
        tol=max(options.tol, _FLOOR_TOL),
        max_iter=min(options.n_passes, _FLOOR_ITERATIONS),
        cancel=None,
        clock=StageClock(seconds=options.clock.seconds),
    )


def _first_of_all_classes(
    class_index: NDArray[np.int32], n_rows: int
) -> NDArray[np.intp]:
    """Places of the first rows, and of one row of each class that is not there."""
    if n_rows >= len(class_index):
        return np.arange(len(class_index))
    _, first = np.unique(class_index, return_index=True)
    return np.append(np.arange(n_rows), np.sort(first[first >= n_rows]))


def _foreseen(seconds: float, growth: float) -> float:
    """Seconds for this many times the rows."""
    return float(seconds * growth**_EXPONENT)


def _time_left(options: StageOptions) -> float:
    remaining = options.clock.remaining()
    assert remaining is not None
    return remaining


def _warn_again(caught: list[Any]) -> None:
    for warning in caught:
        warnings.warn(warning.message, stacklevel=level_of_caller())
