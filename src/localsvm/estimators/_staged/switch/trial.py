"""Trials of the staged SVM: fitted to some of the rows, tested on the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._regional import confidences
from localsvm.estimators._staged.preparation.learn import learn_preparation
from localsvm.estimators._staged.setting import (
    HardRows,
    SecondGrid,
    StagedSetting,
    StageOptions,
)
from localsvm.estimators._staged.switch.fit import fit_first
from localsvm.estimators._staged.terms.scores import score_kernels, stop_if_late
from localsvm.rows import Fold, Rows


class Trial:
    """Held-out errors of settings with one preparation; nothing is fitted twice.

    Parameters
    ----------
    rows : Rows
    folds : list of Fold
    setting : StagedSetting
        Whose preparation is used.
    options : StageOptions
    """

    def __init__(
        self,
        rows: Rows,
        folds: list[Fold],
        setting: StagedSetting,
        options: StageOptions,
    ) -> None:
        self._rows, self._folds = rows, folds
        self._setting, self._options = setting, options
        self._tried: list[_TrialFold] = []

    @property
    def n_rows(self) -> int:
        """Rows that are trained on or held out."""
        return self._rows.n_rows

    def weight(self, n_folds: int) -> NDArray[np.float64]:
        """Weights of the held-out rows of the first folds."""
        return np.concatenate(
            [self._rows.penalty_weight[test] for _, test in self._folds[:n_folds]]
        )

    def wrong(self, settings: list[StagedSetting], n_folds: int) -> NDArray[np.bool_]:
        """Whether each setting is wrong on each held-out row of the first folds."""
        for train, test in self._folds[len(self._tried) : n_folds]:
            fold = self._rows.take(train), self._rows.take(test)
            self._tried.append(_TrialFold(*fold, self._setting, self._options))
        return np.concatenate(
            [fold.wrong(settings) for fold in self._tried[:n_folds]], axis=1
        )

    def cell_size(self, setting: StagedSetting) -> int | None:
        """Rows of a cell of the second stage that was tried; None is one model."""
        return self._tried[0].hard_rows(setting).cell_size


class _TrialFold:
    """One fold, and the errors of what was fitted to it so far."""

    def __init__(
        self, train: Rows, test: Rows, setting: StagedSetting, options: StageOptions
    ) -> None:
        preparation = learn_preparation(train, setting, options)
        stop_if_late(options)
        self._options = options
        self._train = replace(train, X=preparation.apply(train.X, options.n_jobs))
        self._test = replace(test, X=preparation.apply(test.X, options.n_jobs))
        self._first: dict[float, _FirstAnswers] = {}
        self._second: dict[tuple[Any, ...], NDArray[np.bool_]] = {}

    def wrong(self, settings: list[StagedSetting]) -> NDArray[np.bool_]:
        self._fit_first(settings)
        self._fit_second(settings)
        return np.array([self._wrong_of(setting) for setting in settings])

    def hard_rows(self, setting: StagedSetting) -> HardRows:
        margin = self._first[setting.C].margin
        return self._options.sizes.hard_rows(margin, setting.cell_size)

    def _wrong_of(self, setting: StagedSetting) -> NDArray[np.bool_]:
        first = self._first[setting.C]
        if setting.threshold == 0:
            return first.wrong
        second = self._second[self._second_key(setting)]
        return np.where(first.confidence <= setting.threshold, second, first.wrong)

    def _fit_first(self, settings: list[StagedSetting]) -> None:
        Cs = sorted({setting.C for setting in settings} - set(self._first))
        if not Cs:
            return
        stages = fit_first(self._train, Cs, self._options)
        stop_if_late(self._options)
        for C, stage in zip(Cs, stages, strict=True):
            decisions = stage.fit.decide(self._test.X, self._options.n_jobs)
            self._first[C] = _FirstAnswers(
                _wrong(decisions, self._test), confidences(decisions), stage.margin
            )

    def _fit_second(self, settings: list[StagedSetting]) -> None:
        """Fit what is missing; settings on the same rows share kernel matrices."""
        missing: dict[tuple[Any, ...], list[StagedSetting]] = {}
        for setting in settings:
            key = self._second_key(setting)
            if setting.threshold > 0 and key not in self._second:
                missing.setdefault(key[:-2], []).append(setting)
        for group in missing.values():
            hard = self.hard_rows(group[0])
            grid = SecondGrid(
                hard.cell_size,
                sorted({setting.gamma_factor for setting in group}),
                sorted({setting.kernel_C for setting in group}),
            )
            rows = Rows.joined([self._train.take(hard.index), self._test])
            scores = score_kernels(rows, len(hard.index), grid, self._options)
            stop_if_late(self._options)
            pairs = product(grid.gamma_factors, grid.penalties)
            for (gamma_factor, kernel_C), decisions in zip(pairs, scores, strict=True):
                setting = replace(
                    group[0], gamma_factor=gamma_factor, kernel_C=kernel_C
                )
                wrong = _wrong(decisions, self._test)
                self._second[self._second_key(setting)] = wrong

    def _second_key(self, setting: StagedSetting) -> tuple[Any, ...]:
        hard = self.hard_rows(setting)
        return (
            hard.index.tobytes(),
            hard.cell_size,
            setting.gamma_factor,
            setting.kernel_C,
        )


@dataclass(frozen=True)
class _FirstAnswers:
    wrong: NDArray[np.bool_]
    confidence: NDArray[Any]
    margin: NDArray[np.float64]


def _wrong(decisions: NDArray[Any], rows: Rows) -> NDArray[np.bool_]:
    if decisions.shape[1] == 1:
        winner = (decisions[:, 0] > 0).astype(np.int32)
    else:
        winner = decisions.argmax(axis=1).astype(np.int32)
    return np.asarray(winner != rows.class_index)
