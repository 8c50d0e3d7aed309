"""Local kernel SVMs that choose their own C, gamma and neighbourhood size."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._checks import check_parameters, integer, list_of, one_of, real
from localsvm._clock import StageClock
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
from localsvm.estimators._local.kernel import KernelSetting
from localsvm.estimators._local.prior import GLOBAL_MODELS
from localsvm.estimators._local.steps import BaseLocalSVC
from localsvm.kernels import Kernel
from localsvm.rows import Rows, hash_rows, split_weighted
from localsvm.solvers import LocalKernel, cross_validate_neighborhoods

_CANDIDATE_SIZES = (50, 100, 200)
_GAMMA_FACTORS = (0.25, 1.0, 4.0)

Width = tuple[float | str, float]  # gamma and its factor


class LocalSVCCV(BaseLocalSVC):
    """Local SVMs with C, gamma and n_neighbors chosen by cross-validation.

    For each size, a cover of the rows is made once. In each neighbourhood the kernel
    matrix is computed once for all folds, widths and penalties: a fold's test rows are
    held out by an empty box, their decision values come with the solution, and each C
    starts at the solution of the one before. So the search costs a few solves per
    setting, no searches and no kernel evaluations but the first.

    Parameters
    ----------
    Cs : list of float, default=(1.0, 10.0, 100.0)
        Penalties to try.
    gammas : list of float or "local", default="local"
        Widths to try. "local" tries a quarter, once and four times the local width of
        :class:`LocalSVC`. Not used by the linear kernel.
    n_neighbors : int, list of int or "auto", default="auto"
        Sizes to try. "auto" tries 50, 100 and 200, as far as there are four times as
        many rows, or all rows.
    cv : int, cross-validation generator, iterable or None, default=None
        As in :class:`~sklearn.model_selection.GridSearchCV`; None means 5 stratified
        folds.
    scoring : str, callable or None, default=None
        None is accuracy, weighted by ``sample_weight``.
    max_regions : int or None, default=2000
        Neighbourhoods per size that take part in the search, around random rows; the
        test rows are those assigned to one of them for every size. The cost of the
        search then does not grow with the number of rows. None is all.
    search_tol : float, default=0.05
        Violation in the search, where the order of the settings matters and not the
        last digit; the final fit stops at ``tol``.
    shrinks : list of float, default=(0.0,)
        Values of ``shrink`` to try; each costs a search over all others. Where labels
        are noisy give a ``global_model``: the estimate for the default is too low then,
        and 0 would be chosen.
    n_assigned : int or None, default=None
    kernel : {"rbf", "linear", "poly"}, default="rbf"
    degree : int, default=3
    coef0 : float, default=0.0
    global_model : classifier with ``decision_function`` or None, default=None
    route : {"row", "center"}, default="row"
    neighbors : {"auto", "kd_tree", "brute"} or search object, default="auto"
    metric : transformer or None, default=None
        Learned once, on the rows of all folds.
    class_weight : dict, "balanced" or None, default=None
    tol : float, default=1e-3
    max_iter : int or "auto", default="auto"
    cache_size : float, default=200
    random_state : int, RandomState instance or None, default=None
    n_jobs : int or None, default=None
        These and the ones above are as in :class:`LocalSVC`.

    Attributes
    ----------
    best_params_ : dict
        The setting as parameters of :class:`LocalSVC`.
    best_score_ : float
        Its mean score over the folds.
    cv_results_ : dict of ndarray
        ``param_shrink``, ``param_n_neighbors``, ``param_gamma``, ``param_C``,
        ``mean_test_score``, ``std_test_score``, ``rank_test_score`` and
        ``split<i>_test_score``. With local widths ``param_gamma`` is the factor.
    n_splits_ : int
    classes_, metric_, global_model_, shrink_, n_regions_, n_constant_regions_, \
region_sizes_, region_class_counts_, center_indices_, n_neighbors_, n_assigned_, \
n_support_, gamma_, C_, duality_gap_, violation_, n_iter_, fit_report_
        As in :class:`LocalSVC`, of the final fit on all rows.
    feature_range_ : ndarray of shape (2, n_features)
        Smallest and largest value of each column; only of rows in memory.
    integer_features_ : ndarray of shape (n_features,)
        Whether all values of a column are integers; only of rows in memory.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    LocalSVC : The model for one setting.

    Notes
    -----
    A test row is answered by the neighbourhood that it is assigned to as one of all
    rows, trained without the rows of its fold; a neighbourhood keeps its radius and
    loses the rows held out. Centres are chosen without looking at labels, so no label
    of a test row is used. The decision of the global model on a row is one without the
    row, but not without the others of its fold. Ties go to the smaller shrink, then
    smaller neighbourhoods, then the smaller gamma, then the smaller C.

    Examples
    --------
    >>> from localsvm.estimators import LocalSVCCV
    >>> from localsvm.data import make_two_spirals
    >>> X, y = make_two_spirals(2000, random_state=0)
    >>> search = LocalSVCCV(n_neighbors=[20, 50], random_state=0).fit(X, y)
    >>> sorted(search.best_params_)
    ['C', 'gamma', 'gamma_factor', 'n_neighbors', 'shrink']
    """

    def __init__(
        self,
        *,
        Cs: Any = (1.0, 10.0, 100.0),
        gammas: Any = "local",
        n_neighbors: Any = "auto",
        cv: Any = None,
        scoring: Any = None,
        max_regions: int | None = 2000,
        search_tol: float = 0.05,
        shrinks: Any = (0.0,),
        n_assigned: int | None = None,
        kernel: str = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        global_model: Any = None,
        route: str = "row",
        neighbors: Any = "auto",
        metric: Any = None,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int | str = "auto",
        cache_size: float = 200.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.n_neighbors = n_neighbors
        self.cv = cv
        self.scoring = scoring
        self.max_regions = max_regions
        self.search_tol = search_tol
        self.shrinks = shrinks
        self.n_assigned = n_assigned
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.global_model = global_model
        self.route = route
        self.neighbors = neighbors
        self.metric = metric
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        self._check_kernel_parameters()
        check_parameters(
            self,
            Cs=list_of(real(0)),
            gammas=one_of("local") | list_of(real(0)),
            n_neighbors=integer(1) | one_of("auto") | list_of(integer(1)),
            max_regions=one_of(None) | integer(1),
            search_tol=real(0, closed="left"),
            shrinks=list_of(real(0, closed="left")),
            global_model=GLOBAL_MODELS,
            n_assigned=one_of(None) | integer(1),
            route=one_of("row", "center"),
        )

    def _fit(self, rows: Rows) -> None:
        seed = self._draw_seed()
        clock = StageClock()
        with clock.stage("merge"):
            merged = rows.merged(seed)
        fitted = self._fit_global(merged, seed, clock) if any(self.shrinks) else None
        with clock.stage("search"):
            kind = merged.kind[merged.kind >= 0]
            self._search(rows, seed, None if fitted is None else fitted[1][kind])
        best: dict[str, Any] = self.best_params_
        setting = KernelSetting(best["C"], best["gamma"], best["gamma_factor"])
        sizes = neighborhood_sizes(
            best["n_neighbors"], self.n_assigned, rows.X.shape[0]
        )
        local = self._local_kernel(setting, rows)
        merged = self._draw_to(merged, fitted, best["shrink"])
        regions = self._fit_setting(merged, sizes, local, seed, clock)
        self._count_classes(rows, merged, regions)

    def _search(
        self, rows: Rows, seed: int, unseen: NDArray[np.float64] | None
    ) -> None:
        """Score every (shrink, size, gamma, C) on every fold.

        ``unseen`` are the global decisions of the rows that have a weight.
        """
        rows, folds = split_weighted(self.cv, rows, self.classes_)
        sizes, gammas, Cs = self._grid(min(len(train) for train, _ in folds))
        spaces = [
            self._space(rows, group, Cs, max(sizes))
            for group in self._sharing_neighbors(gammas)
        ]
        order = np.argsort(hash_rows(rows.X, seed), kind="stable")
        covers = [
            (space, self._cover(rows.X, order, size, space[1]))
            for size in sizes
            for space in spaces
        ]
        # Every setting answers the same rows.
        covered = np.all([cover.labels >= 0 for _, cover in covers], axis=0)
        tested = [(train, test[covered[test]]) for train, test in folds]
        if not all(len(test) for _, test in tested):
            raise ValueError(
                f"max_regions={self.max_regions} neighbourhoods leave a fold without "
                "test rows; expected more, or None."
            )
        shrinks = sorted({float(shrink) for shrink in self.shrinks})
        scores = [
            self._score_cover(
                rows,
                tested,
                cover,
                space[0],
                None if unseen is None else shrink * unseen,
            )
            for shrink in shrinks
            for space, cover in covers
        ]
        by_fold = np.concatenate(scores, axis=1)
        self._choose(list(product(shrinks, sizes, gammas, Cs)), by_fold)

    def _sharing_neighbors(self, gammas: list[Width]) -> list[list[Width]]:
        """Group the widths whose feature spaces order rows in the same way."""
        kernel = Kernel(self.kernel, degree=self.degree)
        return [gammas] if kernel.keeps_euclidean_order else [[g] for g in gammas]

    def _space(
        self, rows: Rows, gammas: list[Width], Cs: list[float], largest: int
    ) -> tuple[LocalKernel, Any]:
        """Kernel with its settings as factors, and a search of its neighbours."""
        (gamma, first), *_ = gammas
        local = self._local_kernel(KernelSetting(1.0, gamma), rows)
        factors = [factor for _, factor in gammas]
        space = replace(self._kernel, gamma=self._kernel.gamma * first)
        search = make_search(self.neighbors, rows.X, largest, space)
        local = replace(local, C_factors=Cs, gamma_factors=factors)
        return local, fit_search(search, rows.X)

    def _cover(self, X: Any, order: NDArray[np.intp], size: int, search: Any) -> Cover:
        sizes = neighborhood_sizes(size, self.n_assigned, X.shape[0])
        limit = math.inf if self.max_regions is None else self.max_regions
        return cover_rows(X, order, search, sizes, self.n_jobs, limit)

    def _score_cover(
        self,
        rows: Rows,
        folds: list[Any],
        cover: Cover,
        local: LocalKernel,
        prior: NDArray[np.float64] | None,
    ) -> NDArray[np.float64]:
        """Scores of shape (n_folds, n_settings) on one cover."""
        options = self._options(cover.neighborhoods.shape[1], rows.X.shape[0])
        decisions = cross_validate_neighborhoods(
            Rows.weighted(
                rows.X,
                rows.class_index,
                rows.penalty_weight,
                len(self.classes_),
                prior,
            ),
            cover.neighborhoods,
            cover.labels,
            folds,
            local,
            replace(options, tol=self.search_tol),
        )
        return np.array(
            [
                [
                    score_decisions(self.classes_, scores, fold, self.scoring)
                    for scores in by_setting
                ]
                for fold, by_setting in zip(
                    (rows.take(test) for _, test in folds), decisions, strict=True
                )
            ]
        )

    def _choose(
        self,
        settings: list[tuple[float, int, Width, float]],
        by_fold: NDArray[np.float64],
    ) -> None:
        best = best_setting(by_fold)
        shrink, size, (gamma, factor), C = settings[best]
        self.best_score_ = float(by_fold[:, best].mean())
        self.n_splits_ = len(by_fold)
        self.best_params_ = {
            "n_neighbors": size,
            "gamma": gamma if gamma == "local" else factor,
            "gamma_factor": factor if gamma == "local" else 1.0,
            "C": C,
            "shrink": shrink,
        }
        self.cv_results_ = results_table(
            ("shrink", "n_neighbors", "gamma", "C"),
            [(s, size, factor, C) for s, size, (_, factor), C in settings],
            by_fold,
        )

    def _grid(self, n_train: int) -> tuple[list[int], list[Width], list[float]]:
        """Candidates, the simplest first."""
        if isinstance(self.n_neighbors, str):
            sizes = [k for k in _CANDIDATE_SIZES if 4 * k <= n_train] or [n_train]
        else:
            sizes = sorted({int(k) for k in np.atleast_1d(self.n_neighbors)})
        gammas: list[Width]
        if self.kernel == "linear":
            gammas = [("local", 1.0)]
        elif isinstance(self.gammas, str):
            gammas = [("local", factor) for factor in _GAMMA_FACTORS]
        else:
            gammas = [(1.0, gamma) for gamma in sorted({float(g) for g in self.gammas})]
        return sizes, gammas, sorted({float(C) for C in self.Cs})
