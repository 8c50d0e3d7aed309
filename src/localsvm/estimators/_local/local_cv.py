"""Local kernel SVMs that choose their own C, gamma and neighbourhood size."""

from __future__ import annotations

import warnings
from dataclasses import replace
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
from localsvm._clock import StageClock
from localsvm.cluster import neighborhood_sizes
from localsvm.estimators._endings import check_solution
from localsvm.estimators._local.base import BaseLocalSVC
from localsvm.estimators._local.fit import (
    Gamma,
    KernelSettings,
    LocalOptions,
    LocalSettings,
    RowScale,
    fit_local,
)
from localsvm.estimators._local.prior import GLOBAL_MODELS
from localsvm.estimators._local.search import (
    LocalChoice,
    LocalGrid,
    choose_setting,
)
from localsvm.kernels import Kernel
from localsvm.rows import Rows, split_weighted
from localsvm.solvers import Endings


class LocalSVCCV(BaseLocalSVC):
    """Local SVMs with C, gamma and n_neighbors chosen by cross-validation.

    For each size, a cover of the rows is made once. In each neighbourhood the kernel
    matrix is computed once for all folds, widths and penalties: a fold's test rows are
    held out by an empty box, their decision values come with the solution, and each C
    starts at the solution of the one before. So the search costs a few solves per
    setting, no searches and no kernel evaluations but the first.

    Parameters
    ----------
    Cs : list of float or "scale", default="scale"
        Penalties to try. "scale" tries a tenth, once and ten times the "scale" of
        :class:`LocalSVC`: 1, 10 and 100 for the RBF kernel.
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
    kernel : {"rbf", "laplace", "linear", "poly"}, default="rbf"
        As in :class:`LocalSVC`.
    route : {"row", "center"}, default="row"
        As in :class:`LocalSVC`.
    metric : transformer or None, default=None
        Learned once, on the rows of all folds.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, a factor of the rows' weights.
    max_time : float or None, default=None
        Seconds for the whole fit; the search takes at most half of them. Settings that
        it does not come to have the score NaN, and a warning counts them. The first
        setting of all is always scored.
    random_state : int, RandomState instance or None, default=None
        As in :class:`LocalSVC`.
    n_jobs : int or None, default=None
        As in :class:`LocalSVC`.

    Other Parameters
    ----------------
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
        As in :class:`LocalSVC`.
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=0.0
        As in :class:`LocalSVC`.
    global_model : classifier with ``decision_function`` or None, default=None
        As in :class:`LocalSVC`.
    neighbors : {"auto", "kd_tree", "brute"} or search object, default="auto"
        As in :class:`LocalSVC`.
    cache_size : float, default=200
        As in :class:`LocalSVC`.
    tol : float, default=1e-3
        As in :class:`LocalSVC`.
    max_iter : int or None, default=None
        As in :class:`LocalSVC`.

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
n_support_, C_, gamma_, region_C_, region_gamma_, duality_gap_, violation_, n_iter_, \
fit_report_
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
    ['C', 'gamma', 'n_neighbors', 'shrink']
    """

    def __init__(
        self,
        *,
        Cs: Any = "scale",
        gammas: Any = "local",
        n_neighbors: Any = "auto",
        cv: Any = None,
        scoring: Any = None,
        kernel: str = "rbf",
        route: str = "row",
        metric: Any = None,
        class_weight: Any = None,
        max_time: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        max_regions: int | None = 2000,
        search_tol: float = 0.05,
        shrinks: Any = (0.0,),
        n_assigned: int | None = None,
        degree: int = 3,
        coef0: float = 0.0,
        global_model: Any = None,
        neighbors: Any = "auto",
        cache_size: float = 200.0,
        tol: float = 1e-3,
        max_iter: int | None = None,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.n_neighbors = n_neighbors
        self.cv = cv
        self.scoring = scoring
        self.kernel = kernel
        self.route = route
        self.metric = metric
        self.class_weight = class_weight
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_regions = max_regions
        self.search_tol = search_tol
        self.shrinks = shrinks
        self.n_assigned = n_assigned
        self.degree = degree
        self.coef0 = coef0
        self.global_model = global_model
        self.neighbors = neighbors
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        self._check_kernel_parameters()
        check_parameters(
            self,
            Cs=one_of("scale") | list_of(real(0)),
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
        clock = StageClock(self.max_time)
        options = self._options(self._draw_seed(), clock)
        with clock.stage("merge"):
            merged = rows.merged(options.seed)
        prior = self._fit_prior(merged.rows, options) if any(self.shrinks) else None
        with clock.stage("search"):
            unseen = None
            if prior is not None:
                unseen = prior.unseen[merged.kind[merged.kind >= 0]]
            choice = self._choose(rows, options, unseen)
        sizes = neighborhood_sizes(choice.n_neighbors, self.n_assigned, rows.n_rows)
        local = self._chosen_kernel(choice).resolve(RowScale.of(rows))
        settings = LocalSettings(*sizes, local, self.route, self.neighbors)
        if prior is not None:
            prior = replace(prior, shrink=choice.shrink) if choice.shrink else None
        fit = fit_local(merged.rows, settings, options, prior, calibrates=True)
        if np.isnan(choice.results["mean_test_score"]).any():
            self._warn_of_unscored(choice, fit.report.endings)
        else:
            check_solution(fit.report.endings, self)
        self._store(fit, rows, merged)
        self._store_choice(choice)
        self.fit_report_ = clock.seconds

    def _choose(
        self,
        rows: Rows,
        options: LocalOptions,
        unseen: NDArray[np.float64] | None = None,
    ) -> LocalChoice:
        """Search the grid; ``unseen`` as of ``choose_setting``."""
        kept, folds = split_weighted(self.cv, rows, self.classes_)
        grid = LocalGrid(
            self.Cs,
            self.gammas,
            self.n_neighbors,
            self.shrinks,
            self.n_assigned,
            self.max_regions,
            self.scoring,
            self.neighbors,
            Kernel(self.kernel, degree=self.degree, coef0=self.coef0),
        )
        loose = replace(options, tol=self.search_tol, clock=options.clock.halved())
        return choose_setting(kept, folds, self.classes_, grid, loose, unseen)

    def _chosen_kernel(self, choice: LocalChoice) -> KernelSettings:
        gamma = _gamma(choice)
        return KernelSettings(self.kernel, choice.C, gamma, self.degree, self.coef0)

    def _warn_of_unscored(self, choice: LocalChoice, endings: Endings) -> None:
        scores = choice.results["mean_test_score"]
        warnings.warn(
            f"{np.isfinite(scores).sum()} of {len(scores)} settings were scored within "
            f"max_time={self.max_time}; the final fit has a {endings.shortfall} "
            f"(tol={self.tol}). Allow more time, or give fewer Cs, gammas, shrinks and "
            "n_neighbors.",
            ConvergenceWarning,
            stacklevel=level_of_caller(),
        )

    def _store_choice(self, choice: LocalChoice) -> None:
        """Keep the choice as fitted attributes."""
        self.best_params_ = {
            "n_neighbors": choice.n_neighbors,
            "gamma": _gamma(choice),
            "C": choice.C,
            "shrink": choice.shrink,
        }
        self.best_score_ = choice.score
        self.n_splits_ = choice.n_splits
        self.cv_results_ = choice.results


def _gamma(choice: LocalChoice) -> Gamma:
    """Width of a choice as a parameter of LocalSVC."""
    gamma, factor = choice.width
    return ("local", factor) if gamma == "local" else factor
