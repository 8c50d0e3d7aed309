"""Trials of the staged SVM: fitted to some of the rows, tested on the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._held_out import HeldOut
from localsvm.estimators._regional import confidences
from localsvm.estimators._staged.jobs import run_jobs, stop_if_late
from localsvm.estimators._staged.preparation.learn import (
    Preparations,
    prepare_single,
)
from localsvm.estimators._staged.setting import (
    HardRows,
    SecondGrid,
    StagedSetting,
    StageOptions,
    StageSizes,
)
from localsvm.estimators._staged.switch.fit import fit_first
from localsvm.estimators._staged.switch.model import scaled_votes
from localsvm.estimators._staged.terms.scores import score_kernels
from localsvm.rows import Fold, Rows


class TrialRows:
    """Rows that are cut into folds; what their preparations share is learned once.

    Parameters
    ----------
    rows : Rows
    folds : list of Fold
    options : StageOptions
    """

    def __init__(self, rows: Rows, folds: list[Fold], options: StageOptions) -> None:
        self.rows, self.folds = rows, folds
        self._options = options
        self._taken: list[_FoldRows] = []

    def first(self, n_folds: int) -> list[_FoldRows]:
        """Rows of the first folds."""
        for train, test in self.folds[len(self._taken) : n_folds]:
            own = self.rows.take(train)
            maps = Preparations(own, self._options)
            self._taken.append(_FoldRows(own, self.rows.take(test), maps))
        return self._taken[:n_folds]


@dataclass(frozen=True)
class _FoldRows:
    """Rows that are trained on and held out, before any preparation."""

    train: Rows
    test: Rows
    preparations: Preparations


class Trial:
    """Held-out errors of settings with one preparation; nothing is fitted twice.

    Parameters
    ----------
    rows : TrialRows
    setting : StagedSetting
        Whose preparation is used.
    options : StageOptions
    """

    def __init__(
        self, rows: TrialRows, setting: StagedSetting, options: StageOptions
    ) -> None:
        self._rows, self._setting, self._options = rows, setting, options
        self._tried: list[_TrialFold] = []

    @property
    def n_rows(self) -> int:
        """Rows that are trained on or held out."""
        return self._rows.rows.n_rows

    def weight(self, n_folds: int) -> NDArray[np.float64]:
        """Weights of the held-out rows of the first folds."""
        return np.concatenate(
            [fold.test.penalty_weight for fold in self._rows.first(n_folds)]
        )

    def wrong(self, settings: list[StagedSetting], n_folds: int) -> NDArray[np.bool_]:
        """Whether each setting is wrong on each held-out row of the first folds."""
        for fold in self._rows.first(n_folds)[len(self._tried) :]:
            self._tried.append(_TrialFold(fold, self._setting, self._options.sizes))
        tried = self._tried[:n_folds]
        run_jobs([partial(fold.fit, settings) for fold in tried], self._options)
        return np.concatenate([fold.wrong(settings) for fold in tried], axis=1)

    def decide_first(self, setting: StagedSetting, limit: int) -> HeldOut | None:
        """Decide held-out rows, at most so many, by a setting that was tried on all."""
        folds = self._rows.first(len(self._rows.folds))
        known = [fold.knows(setting) for fold in self._tried]
        if len(known) < len(folds) or not all(known):
            return None
        decisions = np.concatenate([fold.decide(setting) for fold in self._tried])
        rows = Rows.joined([fold.test for fold in folds])
        kept = slice(limit)
        return HeldOut(rows.take(kept), decisions[kept].astype(np.float64))

    def cell_size(self, setting: StagedSetting) -> int | None:
        """Rows of a cell of the second stage that was tried; None is one model."""
        return self._tried[0].hard_rows(setting).cell_size


class _TrialFold:
    """One fold, and the errors of what was fitted to it so far."""

    def __init__(
        self, rows: _FoldRows, setting: StagedSetting, sizes: StageSizes
    ) -> None:
        self._rows, self._setting, self._sizes = rows, setting, sizes
        self._prepared: tuple[Rows, Rows] | None = None
        self._first: dict[float, _FirstAnswers] = {}
        self._second: dict[tuple[Any, ...], NDArray[Any]] = {}

    def fit(self, settings: list[StagedSetting], options: StageOptions) -> None:
        """Fit what is not known of the settings."""
        self._fit_first(settings, options)
        self._fit_second(settings, options)

    def wrong(self, settings: list[StagedSetting]) -> NDArray[np.bool_]:
        return np.array([self._wrong_of(setting) for setting in settings])

    def hard_rows(self, setting: StagedSetting) -> HardRows:
        margin = self._first[setting.C].margin
        return self._sizes.hard_rows(margin, setting.cell_size)

    def _prepare(self, options: StageOptions) -> tuple[Rows, Rows]:
        """Training and held-out rows, prepared."""
        if self._prepared is None:
            preparation = self._rows.preparations.learn(self._setting, options)
            stop_if_late(options)
            train, test = (
                prepare_single(preparation, rows, options)
                for rows in (self._rows.train, self._rows.test)
            )
            self._prepared = train, test
        return self._prepared

    def knows(self, setting: StagedSetting) -> bool:
        """Whether the setting was tried."""
        if setting.C not in self._first:
            return False
        return setting.threshold == 0 or self._second_key(setting) in self._second

    def decide(self, setting: StagedSetting) -> NDArray[Any]:
        """Decisions of the stage that answers each held-out row."""
        first = self._first[setting.C]
        if setting.threshold == 0:
            return first.decisions
        second = self._second[self._second_key(setting)]
        is_hard = first.confidence <= setting.threshold
        return np.where(is_hard[:, np.newaxis], second, first.decisions)

    def _wrong_of(self, setting: StagedSetting) -> NDArray[np.bool_]:
        return _wrong(self.decide(setting), self._rows.test)

    def _fit_first(self, settings: list[StagedSetting], options: StageOptions) -> None:
        Cs = sorted({setting.C for setting in settings} - set(self._first))
        if not Cs:
            return
        train, test = self._prepare(options)
        stages = fit_first(train, Cs, options)
        stop_if_late(options)
        for C, stage in zip(Cs, stages, strict=True):
            decisions = stage.fit.decide(test.X, options.n_jobs)
            self._first[C] = _FirstAnswers(
                decisions, confidences(decisions), stage.margin
            )

    def _fit_second(self, settings: list[StagedSetting], options: StageOptions) -> None:
        """Fit what is missing; settings on the same rows share kernel matrices."""
        missing: dict[tuple[Any, ...], list[StagedSetting]] = {}
        for setting in settings:
            key = self._second_key(setting)
            if setting.threshold > 0 and key not in self._second:
                missing.setdefault(key[:-2], []).append(setting)
        train, test = self._prepare(options)
        for group in missing.values():
            hard = self.hard_rows(group[0])
            grid = SecondGrid(
                hard.cell_size,
                sorted({setting.gamma_factor for setting in group}),
                sorted({setting.kernel_C for setting in group}),
            )
            rows = Rows.joined([train.take(hard.index), test])
            scores = score_kernels(rows, len(hard.index), grid, options)
            stop_if_late(options)
            pairs = product(grid.gamma_factors, grid.penalties)
            for (gamma_factor, kernel_C), decisions in zip(pairs, scores, strict=True):
                setting = replace(
                    group[0], gamma_factor=gamma_factor, kernel_C=kernel_C
                )
                self._second[self._second_key(setting)] = scaled_votes(decisions)

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
    decisions: NDArray[Any]
    confidence: NDArray[Any]
    margin: NDArray[np.float64]


def _wrong(decisions: NDArray[Any], rows: Rows) -> NDArray[np.bool_]:
    if decisions.shape[1] == 1:
        winner = (decisions[:, 0] > 0).astype(np.int32)
    else:
        winner = decisions.argmax(axis=1).astype(np.int32)
    return np.asarray(winner != rows.class_index)
