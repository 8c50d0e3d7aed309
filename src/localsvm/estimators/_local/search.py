"""Choose C, gamma, size and shrink of local SVMs by cross-validation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.cluster import (
    Cover,
    cover_rows,
    fit_search,
    make_search,
    neighborhood_sizes,
)
from localsvm.estimators._grid_scores import (
    best_setting,
    results_table,
    score_decisions,
)
from localsvm.estimators._local.fit import (
    KernelSettings,
    LocalOptions,
    RowScale,
    kernel_of,
)
from localsvm.exceptions import DataError
from localsvm.kernels import Kernel
from localsvm.rows import Fold, Rows, hash_rows
from localsvm.solvers import LocalKernel, cross_validate_neighborhoods

_CANDIDATE_SIZES = (50, 100, 200)
_GAMMA_FACTORS = (0.25, 1.0, 4.0)
_C_FACTORS = (0.1, 1.0, 10.0)

Width = tuple[float | str, float]  # gamma and its factor


@dataclass(frozen=True)
class LocalGrid:
    """Settings to try, as parameters of LocalSVCCV give them.

    Attributes
    ----------
    Cs, gammas, n_neighbors, shrinks, n_assigned, max_regions, scoring, neighbors
        As in :class:`~localsvm.estimators.LocalSVCCV`.
    kernel : Kernel
        Its gamma is not used.
    """

    Cs: Any
    gammas: Any
    n_neighbors: Any
    shrinks: Any
    n_assigned: int | None
    max_regions: int | None
    scoring: Any
    neighbors: Any
    kernel: Kernel

    def penalties(self, rows: Rows) -> list[float]:
        """Values of C, ascending."""
        if isinstance(self.Cs, str):
            middle = self.widths[len(self.widths) // 2]
            scaled = self.settings("scale", middle).resolve(RowScale.of(rows))
            return [factor * scaled.C for factor in _C_FACTORS]
        return sorted({float(C) for C in self.Cs})

    @property
    def shares(self) -> list[float]:
        """Values of shrink, ascending."""
        return sorted({float(shrink) for shrink in self.shrinks})

    @property
    def widths(self) -> list[Width]:
        """Values of gamma, ascending."""
        if self.kernel.name == "linear":
            return [("local", 1.0)]
        if isinstance(self.gammas, str):
            return [("local", factor) for factor in _GAMMA_FACTORS]
        return [(1.0, gamma) for gamma in sorted({float(g) for g in self.gammas})]

    def sizes(self, n_train: int) -> list[int]:
        """Values of n_neighbors, ascending, for the smallest training fold."""
        if isinstance(self.n_neighbors, str):
            return [k for k in _CANDIDATE_SIZES if 4 * k <= n_train] or [n_train]
        return sorted({int(k) for k in np.atleast_1d(self.n_neighbors)})

    def settings(self, C: float | str, width: Width) -> KernelSettings:
        """Kernel of one width."""
        gamma, factor = width
        chosen = ("local", factor) if isinstance(gamma, str) else gamma * factor
        kernel = self.kernel
        return KernelSettings(kernel.name, C, chosen, kernel.degree, kernel.coef0)

    @property
    def width_groups(self) -> list[list[Width]]:
        """Widths, grouped by feature spaces that order the rows in the same way."""
        widths = self.widths
        if self.kernel.searches_euclidean:
            return [widths]
        return [[width] for width in widths]


@dataclass(frozen=True)
class LocalChoice:
    """The best setting, and the scores of all.

    Attributes
    ----------
    shrink : float
    n_neighbors : int
    width : (float or "local", float)
        Gamma and its factor.
    C : float
    score : float
        Mean over the folds.
    n_splits : int
    results : dict of ndarray
    """

    shrink: float
    n_neighbors: int
    width: Width
    C: float
    score: float
    n_splits: int
    results: dict[str, Any]


@dataclass(frozen=True)
class _Space:
    """A kernel with its settings as factors, and a search of its neighbours."""

    local: LocalKernel
    search: Any

    @property
    def n_settings(self) -> int:
        """Number of settings."""
        return len(self.local.C_factors) * len(self.local.gamma_factors)


def choose_setting(
    rows: Rows,
    folds: list[Fold],
    classes: NDArray[Any],
    grid: LocalGrid,
    options: LocalOptions,
    unseen: NDArray[np.float64] | None = None,
) -> LocalChoice:
    """Score every (shrink, size, gamma, C) on every fold.

    Parameters
    ----------
    rows : Rows
        Of positive weight.
    folds : list of Fold
    classes : ndarray of shape (n_classes,)
    grid : LocalGrid
    options : LocalOptions
    unseen : ndarray of shape (n_rows, n_outputs) or None
        Decisions of the global model on the rows.

    Returns
    -------
    LocalChoice
    """
    sizes = grid.sizes(min(len(train) for train, _ in folds))
    covers = _cover_rows(rows, sizes, grid, options)
    # Every setting answers the same rows.
    covered = np.all([cover.labels >= 0 for _, cover in covers], axis=0)
    tested = [Fold(train, test[covered[test]]) for train, test in folds]
    if not all(len(test) for _, test in tested):
        raise DataError(
            f"max_regions={grid.max_regions} neighbourhoods leave a fold without "
            "test rows; expected more, or None."
        )
    scorer = _Scorer(rows, tested, classes, grid.scoring, options)
    scores: list[NDArray[np.float64]] = []
    for shrink, (space, cover) in product(grid.shares, covers):
        found = np.full((len(folds), space.n_settings), np.nan)
        if not scores or options.clock.remaining() != 0:
            prior = None if unseen is None else shrink * unseen
            found = scorer.score(space.local, cover, prior)
        # Rows that there was no time for count against their settings.
        if scores and options.clock.remaining() == 0:
            found[:] = np.nan
        scores.append(found)
    penalties = grid.penalties(rows)
    settings = list(product(grid.shares, sizes, grid.widths, penalties))
    return _best_of(settings, np.concatenate(scores, axis=1))


def _cover_rows(
    rows: Rows, sizes: list[int], grid: LocalGrid, options: LocalOptions
) -> list[tuple[_Space, Cover]]:
    """Covers of each size, in each feature space."""
    order = np.argsort(hash_rows(rows.X, options.seed), kind="stable")
    limit = math.inf if grid.max_regions is None else grid.max_regions
    spaces = [_space(rows, group, grid, max(sizes)) for group in grid.width_groups]

    def cover(size: int, space: _Space) -> Cover:
        both = neighborhood_sizes(size, grid.n_assigned, rows.n_rows)
        return cover_rows(rows.X, order, space.search, both, options.n_jobs, limit)

    return [(space, cover(size, space)) for size in sizes for space in spaces]


def _space(rows: Rows, widths: list[Width], grid: LocalGrid, largest: int) -> _Space:
    (gamma, first), *_ = widths
    local = grid.settings(1.0, (gamma, 1.0)).resolve(RowScale.of(rows))
    resolved = kernel_of(local)
    scaled = replace(resolved, gamma=resolved.gamma * first)
    search = fit_search(make_search(grid.neighbors, rows.X, largest, scaled), rows.X)
    factors = [factor for _, factor in widths]
    local = replace(local, C_factors=grid.penalties(rows), gamma_factors=factors)
    return _Space(local, search)


@dataclass(frozen=True)
class _Scorer:
    rows: Rows
    folds: list[Fold]
    classes: NDArray[Any]
    scoring: Any
    options: LocalOptions

    def score(
        self, local: LocalKernel, cover: Cover, prior: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Scores of shape (n_folds, n_settings) on one cover."""
        rows = self.rows
        size = cover.neighborhoods.shape[1]
        decisions = cross_validate_neighborhoods(
            replace(rows, prior=prior),
            cover.neighborhoods,
            cover.labels,
            self.folds,
            local,
            self.options.for_neighborhoods(size, rows.n_rows),
        )
        held_out = [rows.take(test) for _, test in self.folds]
        return np.array(
            [
                [
                    score_decisions(self.classes, scores, fold, self.scoring)
                    for scores in by_setting
                ]
                for fold, by_setting in zip(held_out, decisions, strict=True)
            ]
        )


def _best_of(
    settings: list[tuple[float, int, Width, float]], by_fold: NDArray[np.float64]
) -> LocalChoice:
    best = best_setting(by_fold)
    results = results_table(
        ("shrink", "n_neighbors", "gamma", "C"),
        [(shrink, size, factor, C) for shrink, size, (_, factor), C in settings],
        by_fold,
    )
    score = float(by_fold[:, best].mean())
    return LocalChoice(*settings[best], score, len(by_fold), results)
