"""Both stages for one setting, on as many rows as the time allows."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from localsvm._checks import level_of_caller
from localsvm._clock import StageClock
from localsvm.estimators._local import LocalSVC
from localsvm.estimators._regional import ClusteredSVC
from localsvm.estimators._staged.fitter import StageFitter
from localsvm.estimators._staged.preparation import Preparation
from localsvm.estimators._staged.setting import StagedSetting, StageSizes
from localsvm.rows import Rows

# What is fitted whatever the time: few rows, and not to the last digit.
_FLOOR_ROWS, _FLOOR_TOL, _FLOOR_ITERATIONS = 2000, 0.1, 100
_GROWTH = 4
# Of the seconds with the rows: between a linear and a quadratic solver.
_EXPONENT = 1.5


@dataclass(frozen=True)
class StagedFit:
    """What a fit of both stages gives.

    Attributes
    ----------
    rows : ndarray of shape (n_fitted,)
        Which of the training rows were fitted.
    preparation : Preparation
    first : ClusteredSVC
    second : LocalSVC or None
    confidence : ndarray of shape (n_fitted,)
        How sure the first stage is of each fitted row.
    n_hard : int
        Rows of the second stage.
    cell_size : int or None
        Rows of a cell of the second stage; None is one model.
    in_full : bool, default=True
        Whether all rows were fitted, as far as ``tol`` and ``max_iter`` ask.
    """

    rows: NDArray[np.intp]
    preparation: Preparation
    first: ClusteredSVC
    second: LocalSVC | None
    confidence: NDArray[np.float64]
    n_hard: int
    cell_size: int | None
    in_full: bool = True


def fit_in_time(
    fitter: StageFitter, rows: Rows, setting: StagedSetting, sizes: StageSizes
) -> StagedFit:
    """Fit all rows or, where ``max_time`` is too short for that, a sample of them.

    With a limit the first model is one of 2000 rows, whose cost is small and known. It
    is followed by one of all rows if the seconds so far promise that it ends in time,
    else by ones of four times as many. A model that the limit cut short is dropped:
    half a solve can be worse than none, a smaller sample cannot.
    """
    if fitter.clock.max_time is None:
        return fit_stages(fitter, rows, np.arange(rows.X.shape[0]), setting, sizes)
    n_rows = rows.X.shape[0]
    n_fitted = min(n_rows, _FLOOR_ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted, seconds = _timed_fit(_floor(fitter), rows, n_fitted, setting, sizes)
    fitted = replace(fitted, in_full=False)
    while not fitted.in_full:
        n_next = n_rows
        if _foreseen(seconds, n_rows / n_fitted) >= _time_left(fitter):
            n_next = min(n_rows, _GROWTH * n_fitted)
        if _foreseen(seconds, n_next / n_fitted) >= _time_left(fitter):
            break
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            larger, seconds = _timed_fit(fitter, rows, n_next, setting, sizes)
        if _time_left(fitter) == 0:
            break
        fitted, n_fitted = replace(larger, in_full=n_next == n_rows), n_next
        if fitted.in_full:
            _warn_again(caught)
    return fitted


def fit_stages(
    fitter: StageFitter,
    rows: Rows,
    index: NDArray[np.intp],
    setting: StagedSetting,
    sizes: StageSizes,
) -> StagedFit:
    """Take steps 1 to 3 for the rows at the given places."""
    clock = fitter.clock
    rows = rows if len(index) == rows.X.shape[0] else rows.take(index)
    with clock.stage("prepare"):
        preparation = fitter.prepare(rows, setting)
        rows = replace(rows, X=preparation.apply(rows.X, fitter.n_jobs))
    with clock.stage("first"):
        (first,) = fitter.fit_first(rows, (setting.C,))
    if setting.threshold == 0:
        return StagedFit(
            index, preparation, first.model, None, first.confidence, 0, None
        )
    with clock.stage("second"):
        hard = sizes.hard_rows(first.margin, setting.cell_size)
        second = fitter.fit_second(rows.take(hard.index), setting, hard.cell_size)
    return StagedFit(
        index,
        preparation,
        first.model,
        second,
        first.confidence,
        len(hard.index),
        hard.cell_size,
    )


def _timed_fit(
    fitter: StageFitter,
    rows: Rows,
    n_rows: int,
    setting: StagedSetting,
    sizes: StageSizes,
) -> tuple[StagedFit, float]:
    """Fit the first rows, which are in random order; the seconds that it took."""
    start = time.perf_counter()
    share = min(1.0, n_rows / rows.X.shape[0])
    index = _first_of_all_classes(rows.class_index, n_rows)
    if share < 1:
        sizes = sizes.shrunk(share)
    fitted = fit_stages(fitter, rows, index, setting, sizes)
    return fitted, time.perf_counter() - start


def _floor(fitter: StageFitter) -> StageFitter:
    """Fitter that no clock stops, and whose steps are few."""
    return replace(
        fitter,
        tol=max(fitter.tol, _FLOOR_TOL),
        max_iter=min(fitter.max_iter, _FLOOR_ITERATIONS),
        clock=StageClock(seconds=fitter.clock.seconds),
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
    """Seconds for so many times the rows."""
    return float(seconds * growth**_EXPONENT)


def _time_left(fitter: StageFitter) -> float:
    remaining = fitter.clock.remaining()
    assert remaining is not None
    return remaining


def _warn_again(caught: list[Any]) -> None:
    for warning in caught:
        warnings.warn(warning.message, stacklevel=level_of_caller())
