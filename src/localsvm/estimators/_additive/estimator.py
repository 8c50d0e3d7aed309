"""AdditiveSVC: one table of effects per column."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from localsvm._checks import (
    check_parameters,
    class_weights,
    integer,
    one_of,
    real,
)
from localsvm._clock import StageClock
from localsvm._threads import effective_n_jobs
from localsvm.estimators._additive.bins import ColumnBins, learn_bins
from localsvm.estimators._additive.effects import ColumnEffect, column_effects
from localsvm.estimators._additive.fit import (
    LOSSES,
    AdditiveFit,
    AdditiveSettings,
    count_support,
    fit_additive,
)
from localsvm.estimators._additive.held_out import hold_out
from localsvm.estimators._additive.model import AdditiveModel
from localsvm.estimators._additive.rows import BinnedRows, bin_rows
from localsvm.estimators._additive.search import PenaltyChoice, choose_penalty
from localsvm.estimators._additive.update import (
    KeptAdditive,
    keep_additive,
    update_additive,
)
from localsvm.estimators._categorical import categorical_mask
from localsvm.estimators._endings import check_solution
from localsvm.estimators._updates import UpdatableClassifier, Updated
from localsvm.estimators._views import ColumnParts
from localsvm.rows import KeptRows, RowChange, Rows
from localsvm.solvers import RunLimits

# Of one problem, where ``max_iter`` is None.
_NEWTON_STEPS = 100


class AdditiveSVC(UpdatableClassifier):
    r"""An additive SVM: one table of effects per column, exact and readable.

    The decision is a sum of one table entry per column, so that every prediction is
    explained in full by a handful of numbers. Columns are numbers or categories, may
    have missing values, and need no scaling: only the order of a column's values
    matters. Use it for tables, alone or to see what each column does; interactions
    between columns are for :class:`StagedSVC`.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Penalty of the loss. "auto" takes the one of 0.03, 0.1, 0.3, ..., 300, times ten
        for the logistic loss, with the smallest log loss on held-out rows: three folds,
        or a fifth of the rows if there are more than 10,000. It takes a few times as
        long as a fit.
    loss : {"squared_hinge", "logistic"}, default="squared_hinge"
        :math:`\max(0, 1 - m)^2` or :math:`\log(1 + e^{-m})` of the margin m. The
        logistic one suits rare classes.
    categorical_features : None or array-like of bool, int or str, default=None
        Columns whose numbers are names of categories: a mask, numbers or names of
        columns, as in :class:`~sklearn.ensemble.HistGradientBoostingClassifier`.
    max_bins : int, default=48
        Bins of a number column, at most about that many. Costs next to nothing.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, a factor of the rows' weights.
    max_time : float or None, default=None
        Seconds for the whole fit, half of them for the choice of C. One Newton step is
        made in any case.
    random_state : int, RandomState instance or None, default=None
        Chooses the held-out rows.
    n_jobs : int or None, default=None
        Threads; they do not change the model.

    Other Parameters
    ----------------
    tol : float, default=1e-4
        Relative duality gap at which the solver stops.
    max_iter : int or None, default=None
        Newton steps per problem; five to ten are usual, None is 100.
    updatable : bool, default=False
        Whether to keep what :meth:`update` needs: of each distinct row its bins, one or
        two bytes per column, and 60 bytes. The solver then goes to a quarter of
        ``tol``, so that single updates are cheap, and ``n_support_`` counts distinct
        rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    column_effects_ : list of ColumnEffect
        The tables, by column: edges or levels, effects, weights.
    importances_ : ndarray of shape (n_features,)
        Mean size of each column's effect over the training rows.
    intercept_ : ndarray of shape (n_tasks,)
        Decision of a row whose effects are all zero. One task for two classes, else one
        per class against the rest.
    is_categorical_ : ndarray of shape (n_features,)
        Whether a column is one of categories.
    C_ : float
        The penalty used.
    search_losses_ : ndarray of shape (n_tried, 2)
        Penalties that were tried, and the held-out log loss at each.
    duality_gap_ : float
        Largest relative duality gap of a task.
    n_iter_ : int
        Most Newton steps that a task took.
    n_support_ : ndarray of shape (n_classes,)
        Distinct rows of each class within the margin of any task. With the logistic
        loss all of them.
    fit_report_ : dict
        Seconds per stage.
    feature_range_ : ndarray of shape (2, n_features)
        Smallest and largest value of each column.
    integer_features_ : ndarray of shape (n_features,)
        Whether all values of a column are integers.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    StagedSVC : Adds regions and kernels, for columns that interact.

    Notes
    -----
    .. math::

        f(x) = b + \sum_k F_k[\mathrm{bin}_k(x)], \qquad
        \min_{w, b} \tfrac12 \|w\|^2 + \tfrac{10^{-3}}2 b^2
            + C \sum_i s_i\, \ell(y_i f(x_i))

    In a number column a value with more than 1 / ``max_bins`` of the rows has a bin of
    its own; the others share bins of equal weight, of eight rows at least, with edges
    midway between values. The table of m bins is :math:`F[j] = s\,(\sum_{i < j} w_i -
    \sum_{i \ge j} w_i)` with one weight per edge and :math:`s = 1 / \sqrt{d (m - 1)}`
    for d columns that vary: neighbouring bins are kept close. A level of a category,
    with eight rows at least, has a weight of its own, as have all rarer levels together
    and missing values. Levels and missing values that were never seen have no effect.

    The problem is solved exactly, by Newton's method with conjugate gradients on the
    tables. A product with the Hessian costs O(n_rows n_features), whatever the number
    of bins; a fit takes about a hundred of them. Rows with the same bins and class are
    merged first. Prediction looks up one entry per column.

    Afterwards the mean of each table over the training rows is moved to the intercept,
    which changes no decision.

    Examples
    --------
    >>> import numpy as np
    >>> from localsvm import AdditiveSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (1000, 2))
    >>> y = np.abs(X[:, 0]) + 0.2 * rng.standard_normal(1000) > 0.5
    >>> model = AdditiveSVC(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.8
    True
    >>> effect = model.column_effects_[0]
    >>> bool(effect.at(0.0) < 0 < effect.at(0.9))
    True
    """

    _warns_of_scales = False
    _takes_sparse = False
    _allows_nan = True

    def __init__(
        self,
        *,
        C: float | str = "auto",
        loss: str = "squared_hinge",
        categorical_features: Any = None,
        max_bins: int = 48,
        class_weight: Any = None,
        max_time: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        tol: float = 1e-4,
        max_iter: int | None = None,
        updatable: bool = False,
    ) -> None:
        self.C = C
        self.loss = loss
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.updatable = updatable

    def _check_parameters(self) -> None:
        self._check_updatable()
        check_parameters(
            self,
            C=real(0) | one_of("auto"),
            loss=one_of(*LOSSES),
            max_bins=integer(2),
            class_weight=class_weights(),
            tol=real(0, closed="left"),
            max_iter=one_of(None) | integer(1),
            max_time=one_of(None) | real(0),
        )

    def _fit(self, rows: Rows) -> None:
        clock, seed = StageClock(self.max_time), self._draw_seed()
        names = getattr(self, "feature_names_in_", None)
        categorical = categorical_mask(
            self.categorical_features, self.n_features_in_, names
        )
        with clock.stage("bins"):
            distinct = rows.merged(seed).rows
            bins = learn_bins(
                distinct.X, distinct.sample_weight, categorical, self.max_bins
            )
            binned = bin_rows(distinct, bins, seed, self.n_jobs)
        choice = self._choose_penalty(binned, bins, clock)
        with clock.stage("solve"):
            fit = fit_additive(
                *binned.arguments(bins),
                AdditiveSettings(
                    float(self.C) if choice is None else choice.C, self.loss
                ),
                self._limits(clock.deadline),
                None if choice is None else choice.start,
            )
        self._store(fit, binned)
        self._keep(rows, fit)
        self.fit_report_ = clock.seconds
        check_solution(fit, self)
        with clock.stage("calibrate"):
            limits = self._limits(clock.deadline)
            self._keep_held_out(hold_out(rows, binned, fit, choice, limits))

    def _keep(self, rows: Rows, fit: AdditiveFit) -> None:
        """Keep what updates need, and count distinct rows as they do."""
        self.__dict__.pop("_kept", None)
        if self.updatable:
            self._kept = keep_additive(rows, fit, self.n_jobs)
            self.n_support_ = self._kept.sums.support

    def _kept_rows(self) -> KeptRows:
        rows: KeptRows = self._kept.rows
        return rows

    def _for_solver(self, X: Any, rows: KeptRows) -> Any:
        codes = self._fitted_model().bins.encode(X, self.n_jobs).T
        return np.ascontiguousarray(codes)

    def _update(self, kept: KeptAdditive, change: RowChange) -> Updated:
        limits = self._limits(StageClock(self.max_time).deadline)
        found = update_additive(kept, change, limits, self.tol)
        after, fit = found.kept, found.fit
        gap = float(after.gaps.max())
        attributes = {"duality_gap_": gap, "n_support_": after.sums.support}
        if fit is None:
            return Updated(after, attributes, None, 0, 0, 0, gap)
        attributes["_model"] = after.model
        n_duals = int(after.sums.support.sum())
        return Updated(after, attributes, fit, 0, n_duals, fit.n_iter, gap)

    def _choose_penalty(
        self, binned: BinnedRows, bins: ColumnBins, clock: StageClock
    ) -> PenaltyChoice | None:
        """Penalty that suits held-out rows best; None where it is given."""
        self.search_losses_ = np.empty((0, 2))
        if self.C != "auto":
            return None
        with clock.stage("search"):
            limits = self._limits(clock.halved().deadline)
            choice = choose_penalty(binned, bins, self.loss, limits)
        tried = sorted(choice.losses.items())
        self.search_losses_ = np.array(tried, dtype=np.float64).reshape(-1, 2)
        return choice

    def _limits(self, deadline: float | None) -> RunLimits:
        return RunLimits(
            tol=self._tol_of_fit(),
            max_iter=_NEWTON_STEPS if self.max_iter is None else self.max_iter,
            n_threads=effective_n_jobs(self.n_jobs),
            deadline=deadline,
        )

    def _adopt(
        self,
        fit: AdditiveFit,
        binned: BinnedRows,
        classes: NDArray[Any],
        seconds: dict[str, float],
    ) -> Self:
        """Become the fitted estimator of a fit that was made without one."""
        self.classes_ = classes
        self.n_features_in_ = fit.model.bins.n_columns
        self.search_losses_ = np.empty((0, 2))
        self._store(fit, binned)
        self.fit_report_ = seconds
        return self

    def _store(self, fit: AdditiveFit, binned: BinnedRows) -> None:
        """Set the fitted attributes."""
        self._model = fit.model
        self.C_ = fit.settings.C
        self.duality_gap_ = fit.worst_gap
        self.n_iter_ = max(1, fit.n_iter)
        self.n_support_ = count_support(fit, binned)

    def _fitted_model(self) -> AdditiveModel:
        check_is_fitted(self)
        model: AdditiveModel = self._model
        return model

    @property
    def column_effects_(self) -> list[ColumnEffect]:
        """Tables of the columns."""
        names = getattr(self, "feature_names_in_", None)
        return column_effects(self._fitted_model(), names)

    @property
    def importances_(self) -> NDArray[np.float64]:
        """Mean size of each column's effect over the training rows."""
        return self._fitted_model().importances

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Decision of a row whose effects are all zero, by task."""
        return self._fitted_model().bias

    @property
    def is_categorical_(self) -> NDArray[np.bool_]:
        """Whether a column is one of categories."""
        return self._fitted_model().bins.is_category

    def contributions(self, X: Any) -> NDArray[np.float64]:
        """Return what each column adds to the decision of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features) or (n_samples, n_features, n_classes)
            With ``intercept_`` they sum to the decision.
        """
        X = self._check_query_rows(X)
        return self._fitted_model().contributions(X, self.n_jobs)

    def _column_parts(self, X: Any) -> ColumnParts:
        model = self._fitted_model()
        own = model.contributions(self._check_query_rows(X), self.n_jobs)
        n_rows = len(own)
        return ColumnParts(
            own.reshape(*own.shape[:2], len(model.bias)),
            np.tile(model.bias, (n_rows, 1)),
            None,
            np.ones(n_rows, dtype=bool),
        )

    def local_coef(self, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weights of the linear function that touches each row's decision.

        Decisions are constant around a row, so that the weights are zero; see
        ``contributions``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        coef : ndarray of shape (n_samples, n_tasks, n_features)
            Zeros.
        intercept : ndarray of shape (n_samples, n_tasks)
            The decision values.
        """
        X = self._check_query_rows(X)
        decisions = self._decide(X)
        return np.zeros((*decisions.shape, self.n_features_in_)), decisions

    def _decide(self, X: Any) -> NDArray[Any]:
        return self._fitted_model().decide(X, self.n_jobs)

    def _is_curved(self, region: int | None) -> bool:
        return True

    def _n_rows_without_regions(self) -> int:
        """Return the weight of the rows behind every prediction."""
        bins = self._fitted_model().bins
        return round(float(bins.weight[: bins.n_bins[0]].sum()))
