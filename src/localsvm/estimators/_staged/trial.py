"""Trials of the staged SVM: fitted to a part of the rows, tried on the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._regional import confidences
from localsvm.estimators._staged.fitter import StageFitter
from localsvm.estimators._staged.setting import (
    HardRows,
    SecondGrid,
    StagedSetting,
    StageSizes,
)
from localsvm.rows import Fold, Rows


class Trial:
    """Settings with one preparation, fitted to a part of the rows, tried on the rest.

    Parameters
    ----------
    fitter : StageFitter
    sizes : StageSizes
    rows : Rows
    folds : list of Fold
    setting : StagedSetting
        Whose scaling and metric are used.
    """

    def __init__(
        self,
        fitter: StageFitter,
        sizes: StageSizes,
        rows: Rows,
        folds: list[Fold],
        setting: StagedSetting,
    ) -> None:
        self.n_rows = rows.X.shape[0]
        self._parts = [
            (fitter, sizes, rows.take(train), rows.take(test), setting)
            for train, test in folds
        ]
        self._folds: list[_TrialFold] = []

    def weight(self, n_folds: int) -> NDArray[np.float64]:
        """Weights of the held-out rows of the first folds."""
        return np.concatenate(
            [part[3].penalty_weight for part in self._parts[:n_folds]]
        )

    def wrong(self, settings: list[StagedSetting], n_folds: int) -> NDArray[np.bool_]:
        """Whether each setting is wrong on each held-out row of the first folds."""
        for part in self._parts[len(self._folds) : n_folds]:
            self._folds.append(_TrialFold(*part))
        return np.concatenate(
            [fold.wrong(settings) for fold in self._folds[:n_folds]], axis=1
        )

    def cell_size(self, setting: StagedSetting) -> int | None:
        """Rows of a cell of the second stage that was tried; None is one model."""
        return self._folds[0].hard_rows(setting).cell_size


class _TrialFold:
    """One fold: what was fitted once is not fitted again."""

    def __init__(
        self,
        fitter: StageFitter,
        sizes: StageSizes,
        train: Rows,
        test: Rows,
        setting: StagedSetting,
    ) -> None:
        self._fitter, self._sizes = fitter, sizes
        prepare = fitter.prepare(train, setting)
        fitter.stop_if_late()
        self._train = replace(train, X=prepare.apply(train.X, fitter.n_jobs))
        self._test = replace(test, X=prepare.apply(test.X, fitter.n_jobs))
        self._first: dict[float, _FirstAnswers] = {}
        self._second: dict[tuple[Any, ...], NDArray[np.bool_]] = {}

    def wrong(self, settings: list[StagedSetting]) -> NDArray[np.bool_]:
        self._fit_first(settings)
        self._fit_second(settings)
        return np.array([self._wrong_of(setting) for setting in settings])

    def hard_rows(self, setting: StagedSetting) -> HardRows:
        return self._sizes.hard_rows(self._first[setting.C].margin, setting.cell_size)

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
        stages = self._fitter.fit_first(self._train, Cs)
        self._fitter.stop_if_late()
        for C, stage in zip(Cs, stages, strict=True):
            decisions = stage.model._decide(self._test.X)
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
            scores = self._fitter.score_second(rows, len(hard.index), grid)
            self._fitter.stop_if_late()
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
