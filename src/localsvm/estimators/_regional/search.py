"""Clustered SVM that chooses its own C, global_reg and number of regions."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from localsvm._checks import (
    check_parameters,
    integer,
    level_of_caller,
    list_of,
    one_of,
    real,
)
from localsvm._threads import map_in_threads
from localsvm.engine import Blocks, Labels, MemoryNeed
from localsvm.estimators._endings import Solution, check_solution
from localsvm.estimators._grid_scores import (
    best_setting,
    results_table,
    score_decisions,
)
from localsvm.estimators._held_out import rows_in_memory
from localsvm.estimators._regional.base import BaseClusteredSVC
from localsvm.estimators._regional.blocks import sample_block
from localsvm.estimators._regional.fit import assign_regions, find_regions
from localsvm.estimators._regional.model import RegionalSettings
from localsvm.estimators._regional.solve import FitOptions, solve_regions
from localsvm.rows import (
    SCALED_C,
    Rows,
    intercept_constant,
    split_folds,
)
from localsvm.solvers import Status

_SCALED_C_FACTORS = (0.1, 0.3, 1.0, 3.0)
_CANDIDATES = (8, 50, 200)
_ROWS_PER_REGION = 20
# Rows outside memory are searched on a sample of this size.
_SEARCH_ROWS = 50_000
# Of the sample: as it is merged, and a fold of it on a thread or two.
_SAMPLE_COPIES = 5.0


class ClusteredSVCCV(BaseClusteredSVC):
    """Clustered SVM with C, global_reg and n_regions chosen by cross-validation.

    Each (fold, number of regions) is clustered once; each global_reg runs through C in
    ascending order, every solution being the start of the next; the test rows of a fold
    are assigned to regions once. The choice is that of a grid search over
    :class:`ClusteredSVC` within the noise of clustering, at a small part of its cost.

    Parameters
    ----------
    n_regions : int, list of int or "auto", default="auto"
        Numbers of regions to try. "auto" tries those of 8, 50 and 200 that leave 20
        rows per region, or 1 if none does.
    Cs : list of float or "scale", default="scale"
        Penalties to try. "scale" tries 1, 3, 10 and 30 divided by the mean squared norm
        of the rows.
    global_regs : list of float, default=(1.0,)
        Values of global_reg to try.
    cv : int, cross-validation generator, iterable or None, default=None
        As in :class:`~sklearn.model_selection.GridSearchCV`; None means 5 stratified
        folds.
    scoring : str, callable or None, default=None
        None is accuracy, weighted by ``sample_weight``.
    n_nearest : int, default=8
        As in :class:`ClusteredSVC`.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, a factor of the rows' weights.
    clusterer : clusterer with ``fit`` and ``predict``, or None, default=None
        As in :class:`ClusteredSVC`.
    metric : transformer or None, default=None
        Learned once, on the rows of all folds.
    max_time : float or None, default=None
        Seconds for search and final fit after the metric. Settings that there is no
        time to score have NaN in ``cv_results_``; one is scored in any case, with one
        pass of the solver.
    random_state : int, RandomState instance or None, default=None
        As in :class:`ClusteredSVC`.
    n_jobs : int or None, default=None
        Threads over (fold, number of regions).

    Other Parameters
    ----------------
    search_tol : float, default=0.03
        Relative duality gap in the search, where the order of the settings matters and
        not the last digit; the final fit stops at ``tol``.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        As in :class:`ClusteredSVC`.
    fit_intercept : bool, default=True
        As in :class:`ClusteredSVC`.
    intercept_scaling : float or "scale", default="scale"
        As in :class:`ClusteredSVC`.
    sharpness : float, default=2.0
        As in :class:`ClusteredSVC`.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        As in :class:`ClusteredSVC`.
    tol : float, default=1e-3
        As in :class:`ClusteredSVC`.
    max_iter : int or None, default=None
        These are as in :class:`ClusteredSVC`.

    Attributes
    ----------
    C_, global_reg_ : float
        The chosen setting.
    best_score_ : float
        Its mean score over the folds.
    best_params_ : dict
        The setting as parameters of :class:`ClusteredSVC`.
    cv_results_ : dict of ndarray
        ``param_C``, ``param_global_reg``, ``param_n_regions``, ``mean_test_score``,
        ``std_test_score``, ``rank_test_score`` and ``split<i>_test_score``.
    n_splits_ : int
    classes_, coef_, intercept_, global_coef_, global_intercept_, metric_, clusterer_, \
regions_, n_regions_, region_sizes_, region_class_counts_, duality_gap_, n_iter_, \
n_support_, fit_report_
        As in :class:`ClusteredSVC`, of the final fit on all rows.
    feature_range_ : ndarray of shape (2, n_features)
        Smallest and largest value of each column; only of rows in memory.
    integer_features_ : ndarray of shape (n_features,)
        Whether all values of a column are integers; only of rows in memory.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    ClusteredSVC : The model for one setting.

    Notes
    -----
    Rows in blocks, such as files, are searched on a sample of 50,000 distinct rows that
    depends on their content and on ``random_state``; the final fit sees all rows. Then
    ``cv`` is None, an int or a cross-validation generator.

    Ties go to fewer regions, then the larger global_reg, then the smaller C: the
    simplest model.

    Examples
    --------
    >>> from localsvm.estimators import ClusteredSVCCV
    >>> from localsvm.data import make_xor
    >>> X, y = make_xor(400, random_state=0)
    >>> search = ClusteredSVCCV(n_regions=[1, 4], random_state=0).fit(X, y)
    >>> search.n_regions_
    4
    """

    def __init__(
        self,
        *,
        n_regions: Any = "auto",
        Cs: Any = "scale",
        global_regs: Any = (1.0,),
        cv: Any = None,
        scoring: Any = None,
        n_nearest: int = 8,
        class_weight: Any = None,
        clusterer: Any = None,
        metric: Any = None,
        max_time: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        search_tol: float = 0.03,
        loss: str = "hinge",
        fit_intercept: bool = True,
        intercept_scaling: float | str = "scale",
        sharpness: float = 2.0,
        multi_class: str = "ovr",
        tol: float = 1e-3,
        max_iter: int | None = None,
    ) -> None:
        self.n_regions = n_regions
        self.Cs = Cs
        self.global_regs = global_regs
        self.cv = cv
        self.scoring = scoring
        self.n_nearest = n_nearest
        self.class_weight = class_weight
        self.clusterer = clusterer
        self.metric = metric
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.search_tol = search_tol
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.sharpness = sharpness
        self.multi_class = multi_class
        self.tol = tol
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        self._check_common_parameters()
        check_parameters(
            self,
            Cs=one_of("scale") | list_of(real(0)),
            global_regs=list_of(real(0, closed="right")),
            search_tol=real(0, closed="left"),
            n_regions=integer(1) | one_of("auto") | list_of(integer(1)),
        )

    def _fit_blocks(self, blocks: Blocks) -> None:
        options = self._fit_options(blocks)
        survey, labels = self._survey(blocks, self._most_regions, options)
        mean = survey.mean_squared_norm
        constant = intercept_constant(self, mean)
        with options.clock.stage("search"):
            rows = self._search_rows(blocks, labels, options)
            folds = split_folds(self.cv, rows.X, self.classes_[rows.class_index])
            grid = self._grid(mean, min(len(train) for train, _ in folds))
            scores = known_or(
                blocks,
                "search",
                lambda: self._score_grid(rows, folds, grid, constant, options),
            )
        self._choose(grid, scores)
        settings = self._settings(
            C=self.C_,
            n_regions=self.best_params_["n_regions"],
            global_reg=self.global_reg_,
            constant=constant,
        )
        coded = assign_regions(blocks, labels, survey, settings, options)
        fit = solve_regions(coded, settings, options)
        self._store(fit, options.clock.seconds)
        if options.is_over and np.isnan(scores).any():
            self._warn_of_unscored(scores, fit.solution)
        else:
            check_solution(fit.solution, self)
        self._calibrate(blocks, fit, options)

    @property
    def _most_regions(self) -> int:
        if isinstance(self.n_regions, str):
            return max(_CANDIDATES)
        return int(np.max(self.n_regions))

    def _search_rows(self, blocks: Blocks, labels: Labels, options: FitOptions) -> Rows:
        """Rows that the settings are scored on: all in memory, else a sample."""
        if blocks.is_in_memory:
            return rows_in_memory(blocks, "search")
        if not (isinstance(self.cv, int | None) or hasattr(self.cv, "split")):
            raise ValueError(
                f"cv is a {type(self.cv).__name__}, which gives rows by their number. "
                "Settings for rows in blocks are scored on a sample; expected None, an "
                "int or a cross-validation generator."
            )
        blocks.require_memory_here(
            MemoryNeed(copies=_SAMPLE_COPIES),
            _SEARCH_ROWS,
            "The sample of rows for the search",
            "Use ClusteredSVC, or allow more memory.",
        )
        found = blocks.reduce(
            sample_block, labels, options.seed, _SEARCH_ROWS, stage="sample"
        )
        return found.rows(len(labels.classes))

    def _warn_of_unscored(
        self, scores: NDArray[np.float64], solution: Solution
    ) -> None:
        by_setting = scores.reshape(len(scores), -1)
        n_scored = int(np.isfinite(by_setting).all(axis=0).sum())
        warnings.warn(
            f"{n_scored} of {by_setting.shape[1]} settings were scored within "
            f"max_time={self.max_time}; the final fit has a {solution.shortfall} "
            f"(tol={self.tol}). Allow more time, or give fewer Cs, global_regs and "
            "n_regions.",
            ConvergenceWarning,
            stacklevel=level_of_caller(),
        )

    def _grid(
        self, squared_norm: float, n_train: int
    ) -> tuple[list[int], list[float], list[float]]:
        """Candidates, the simplest first."""
        if isinstance(self.n_regions, str):
            numbers = [k for k in _CANDIDATES if k * _ROWS_PER_REGION <= n_train] or [1]
        else:
            numbers = sorted({int(k) for k in np.atleast_1d(self.n_regions)})
        global_regs = sorted({float(reg) for reg in self.global_regs}, reverse=True)
        if isinstance(self.Cs, str):
            Cs = [factor * SCALED_C / squared_norm for factor in _SCALED_C_FACTORS]
        else:
            Cs = sorted({float(C) for C in self.Cs})
        return numbers, global_regs, Cs

    def _score_grid(
        self,
        rows: Rows,
        folds: list[Any],
        grid: tuple[list[int], list[float], list[float]],
        constant: float,
        options: FitOptions,
    ) -> NDArray[np.float64]:
        """Scores of shape (n_folds, n_regions, n_global_regs, n_Cs)."""
        numbers, global_regs, Cs = grid
        tasks = list(product(folds, numbers))
        cancel = threading.Event()
        options = replace(options, tol=self.search_tol, n_jobs=1, cancel=cancel)

        def score(task: Any) -> NDArray[np.float64]:
            (train, test), n_regions = task
            if options.is_over and n_regions != numbers[0]:
                return np.full((len(global_regs), len(Cs)), np.nan)
            coded_by = self._settings(C=Cs[0], n_regions=n_regions, constant=constant)
            return self._score_clustering(
                (rows.take(train), rows.take(test)),
                coded_by,
                (global_regs, Cs),
                replace(options, clock=options.clock.fork()),
            )

        scores = np.array(map_in_threads(score, tasks, self.n_jobs, cancel))
        return scores.reshape(len(folds), len(numbers), len(global_regs), len(Cs))

    def _score_clustering(
        self,
        fold: tuple[Rows, Rows],
        settings: RegionalSettings,
        grid: tuple[list[float], list[float]],
        options: FitOptions,
    ) -> NDArray[np.float64]:
        """Score every (global_reg, C) on one clustering of one fold."""
        train, test = fold
        global_regs, Cs = grid
        coded = find_regions(train, settings, options)
        test_codes = coded.regions.code(test.X)
        scores = np.full((len(global_regs), len(Cs)), np.nan)
        for row, global_reg in enumerate(global_regs):
            fit = None
            for column, C in enumerate(Cs):
                if options.is_over and (row, column) != (0, 0):
                    return scores
                tried = replace(settings, C=C, global_reg=global_reg)
                fit = solve_regions(coded, tried, options, start=fit)
                if fit.solution.count(Status.not_finite):
                    break
                decisions = fit.model.decide(test.X, test_codes, None)
                scores[row, column] = score_decisions(
                    self.classes_, decisions, test, self.scoring
                )
        return scores

    def _choose(
        self,
        grid: tuple[list[int], list[float], list[float]],
        scores: NDArray[np.float64],
    ) -> None:
        """Store the best setting and the table of all."""
        settings = list(product(*grid))
        by_fold = scores.reshape(len(scores), -1)
        best = best_setting(by_fold)
        n_regions, self.global_reg_, self.C_ = settings[best]
        self.best_score_ = float(by_fold[:, best].mean())
        self.n_splits_ = len(scores)
        self.best_params_ = {
            "C": self.C_,
            "global_reg": self.global_reg_,
            "n_regions": n_regions,
        }
        names = ("n_regions", "global_reg", "C")
        self.cv_results_ = results_table(names, settings, by_fold)


def known_or(
    blocks: Blocks, name: str, compute: Callable[[], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Compute an array, or take it from the checkpoint of a resumed fit."""
    known = blocks.checkpoint.load(name) if blocks.checkpoint else None
    if known is not None:
        return known["values"]
    values = compute()
    if blocks.checkpoint is not None:
        blocks.checkpoint.save(name, {"values": values}, now=True)
    return values
