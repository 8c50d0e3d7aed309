"""Trials of the staged SVM: fitted to some of the rows, tested on the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._seeds import draw_seed
from localsvm._threads import effective_n_jobs
from localsvm.cluster import NeighborhoodCover
from localsvm.estimators._local import Router
from localsvm.estimators._regional import confidences
from localsvm.estimators._staged.setting import (
    HardRows,
    SecondGrid,
    StagedSetting,
    StageOptions,
)
from localsvm.estimators._staged.stages import (
    densified,
    fit_first,
    learn_preparation,
    typical_distance,
)
from localsvm.kernels import Kernel
from localsvm.rows import Fold, Rows
from localsvm.solvers import (
    KernelOptions,
    LocalKernel,
    cross_validate_neighborhoods,
    fit_neighborhoods,
)

_STEPS_PER_ROW = 50
_FEWEST_STEPS = 20_000


class OutOfTimeError(Exception):
    """The time for the search is over; what is being tried has no result."""


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
            scores = score_second(rows, len(hard.index), grid, self._options)
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


def score_second(
    rows: Rows, n_train: int, grid: SecondGrid, options: StageOptions
) -> NDArray[Any]:
    """Decisions for the rows from ``n_train`` on, by models of those before.

    The models are those that :func:`fit_second` would fit, and a row takes the same
    route to them.

    Returns an array of shape (n_settings, n_held_out, n_outputs); settings run
    through the gamma factors and, within, the penalties.
    """
    rows = Rows.weighted(
        densified(rows.X), rows.class_index, rows.penalty_weight, rows.n_classes
    )
    if grid.cell_size is None:
        return _score_one_model(rows, n_train, grid, options)
    return _score_cells(rows, n_train, grid, options)


def _score_one_model(
    rows: Rows, n_train: int, grid: SecondGrid, options: StageOptions
) -> NDArray[Any]:
    train, held_out = rows.take(slice(n_train)), rows.X[n_train:]
    gamma = 1.0 / typical_distance(train.X)
    every_row = np.arange(n_train, dtype=np.int32)[np.newaxis]
    route = np.zeros(held_out.shape[0], dtype=np.int64)

    def score(gamma_factor: float, C: float) -> NDArray[Any]:
        stop_if_late(options)
        kernel = Kernel("rbf", gamma * gamma_factor)
        models = fit_neighborhoods(
            train, every_row, LocalKernel(kernel, C), _solver_options(options, n_train)
        )
        return models.decide(train.X, kernel, rows.n_classes, held_out, route, 1)

    settings = product(grid.gamma_factors, grid.penalties)
    return np.array([score(*setting) for setting in settings])


def _score_cells(
    rows: Rows, n_train: int, grid: SecondGrid, options: StageOptions
) -> NDArray[Any]:
    """Score by the cells of the training rows; settings share their Gram."""
    train, held_out = rows.X[:n_train], np.arange(n_train, rows.n_rows)
    assert grid.cell_size is not None
    # The seed that the fit draws: the cells are those of the fit.
    cover = NeighborhoodCover(
        grid.cell_size, random_state=draw_seed(options.seed), n_jobs=options.n_jobs
    ).fit(train)
    router = Router.to_centers(train[cover.center_indices_], cover.neighbors)
    route = router.route(rows.X[n_train:], options.n_jobs)
    used, cell = np.unique(route, return_inverse=True)
    by_cell = np.split(
        held_out[np.argsort(cell, kind="stable")], np.cumsum(np.bincount(cell))[:-1]
    )
    neighborhoods = [
        np.append(cover.neighborhoods_[center], queries).astype(np.int32)
        for center, queries in zip(used, by_cell, strict=True)
    ]
    assigned = np.append(np.full(n_train, -1), cell).astype(np.int32)
    local = LocalKernel(
        Kernel("rbf"),
        1.0,
        local_gamma=True,
        C_factors=grid.penalties,
        gamma_factors=grid.gamma_factors,
    )
    (scores,) = cross_validate_neighborhoods(
        rows,
        neighborhoods,
        assigned,
        [(np.arange(n_train), held_out)],
        local,
        _solver_options(options, n_train),
    )
    return scores


def _solver_options(options: StageOptions, n_train: int) -> KernelOptions:
    return KernelOptions(
        tol=options.tol,
        max_iter=max(_FEWEST_STEPS, _STEPS_PER_ROW * n_train),
        max_time=options.clock.remaining(),
        n_threads=effective_n_jobs(options.n_jobs),
    )


def stop_if_late(options: StageOptions) -> None:
    """Leave what a solver may not have finished: half a fit says nothing."""
    if options.is_late:
        raise OutOfTimeError


def _wrong(decisions: NDArray[Any], rows: Rows) -> NDArray[np.bool_]:
    if decisions.shape[1] == 1:
        winner = (decisions[:, 0] > 0).astype(np.int32)
    else:
        winner = decisions.argmax(axis=1).astype(np.int32)
    return np.asarray(winner != rows.class_index)
