"""A fit of the staged SVM to all rows, or to as many as the time allows."""

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
from localsvm.estimators._staged.model import StagedModel
from localsvm.estimators._staged.setting import HardRows, StagedSetting, StageOptions
from localsvm.estimators._staged.stages import (
    FirstStage,
    SecondStage,
    fit_first,
    fit_second,
    learn_preparation,
)
from localsvm.rows import Rows

# What is fitted whatever the time: few rows, and not to the last digit.
_FLOOR_ROWS, _FLOOR_TOL, _FLOOR_ITERATIONS = 2000, 0.1, 100
_GROWTH = 4
# Of the seconds with the rows: between a linear and a quadratic solver.
_EXPONENT = 1.5


@dataclass(frozen=True)
class StagedFit:
    """Result of a fit of both stages.

    Attributes
    ----------
    model : StagedModel
    index : ndarray of shape (n_fitted,)
        Which of the training rows were fitted.
    rows : Rows
        Those rows, prepared.
    first : FirstStage
    second : SecondStage or None
    hard : HardRows or None
        Rows of the second stage among the fitted ones.
    in_full : bool, default=True
        Whether all rows were fitted, to ``tol`` and ``max_iter``.
    """

    model: StagedModel
    index: NDArray[np.intp]
    rows: Rows
    first: FirstStage
    second: SecondStage | None = None
    hard: HardRows | None = None
    in_full: bool = True

    @property
    def n_hard(self) -> int:
        """Rows of the second stage."""
        return 0 if self.hard is None else len(self.hard.index)

    @property
    def cell_size(self) -> int | None:
        """Rows of a cell of the second stage; None is one model."""
        return None if self.hard is None else self.hard.cell_size

    @property
    def n_support(self) -> NDArray[np.intp]:
        """Fitted rows of each class with a non-zero dual in either stage."""
        support = (self.first.fit.duals != 0).any(axis=0)
        if self.second is not None and self.hard is not None:
            support[self.hard.index] |= self.second.is_support
        return np.bincount(
            self.rows.class_index[support], minlength=self.rows.n_classes
        )

    @property
    def stage(self) -> NDArray[np.int64]:
        """Stage, 1 or 2, that answers each fitted row."""
        hard = self.first.confidence <= self.model.threshold
        return np.where(hard & (self.second is not None), 2, 1)


def fit_staged(rows: Rows, setting: StagedSetting, options: StageOptions) -> StagedFit:
    """Fit all rows or, where ``max_time`` is too short for that, a sample of them.

    With a limit the first model is one of 2000 rows, whose cost is small and known. It
    is followed by one of all rows if the seconds so far promise that it ends in time,
    else by ones of four times as many. A model that the limit cut short is dropped:
    half a solve can be worse than none, a smaller sample cannot.

    Parameters
    ----------
    rows : Rows
        Distinct, in random order.
    setting : StagedSetting
    options : StageOptions
    """
    n_rows = rows.n_rows
    if options.max_time is None:
        return _fit_stages(rows, np.arange(n_rows), setting, options)
    n_fitted = min(n_rows, _FLOOR_ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit, seconds = _timed_fit(rows, n_fitted, setting, _floor(options))
    fit = replace(fit, in_full=False)
    while not fit.in_full:
        n_next = n_rows
        if _foreseen(seconds, n_rows / n_fitted) >= _time_left(options):
            n_next = min(n_rows, _GROWTH * n_fitted)
        if _foreseen(seconds, n_next / n_fitted) >= _time_left(options):
            break
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            larger, seconds = _timed_fit(rows, n_next, setting, options)
        if options.is_late:
            break
        fit, n_fitted = replace(larger, in_full=n_next == n_rows), n_next
        if fit.in_full:
            _warn_again(caught)
    return fit


def _fit_stages(
    rows: Rows, index: NDArray[np.intp], setting: StagedSetting, options: StageOptions
) -> StagedFit:
    """Take steps 1 to 3 for the rows at the given places."""
    clock = options.clock
    rows = rows if len(index) == rows.n_rows else rows.take(index)
    with clock.stage("prepare"):
        preparation = learn_preparation(rows, setting, options)
        rows = replace(rows, X=preparation.apply(rows.X, options.n_jobs))
    with clock.stage("first"):
        (first,) = fit_first(rows, (setting.C,), options)
    regions, linear = first.fit.coded.regions, first.fit.model
    model = StagedModel(preparation, regions, linear, None, setting.threshold)
    if setting.threshold == 0:
        return StagedFit(model, index, rows, first)
    with clock.stage("second"):
        hard = options.sizes.hard_rows(first.margin, setting.cell_size)
        second = fit_second(rows.take(hard.index), setting, hard.cell_size, options)
    return StagedFit(
        replace(model, second=second.fit.model),
        index,
        rows,
        first,
        second,
        hard,
    )


def _timed_fit(
    rows: Rows, n_rows: int, setting: StagedSetting, options: StageOptions
) -> tuple[StagedFit, float]:
    """Fit the first rows, which are in random order; the seconds that it took."""
    start = time.perf_counter()
    index = _first_of_all_classes(rows.class_index, n_rows)
    if n_rows < rows.n_rows:
        options = options.for_share(n_rows / rows.n_rows)
    fit = _fit_stages(rows, index, setting, options)
    return fit, time.perf_counter() - start


def _floor(options: StageOptions) -> StageOptions:
    """Options that no clock stops, with few steps."""
    return replace(
        options,
        tol=max(options.tol, _FLOOR_TOL),
        max_iter=min(options.n_passes, _FLOOR_ITERATIONS),
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
