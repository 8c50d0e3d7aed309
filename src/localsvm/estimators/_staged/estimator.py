"""Regions of linear SVMs for the easy rows, kernel SVMs for the hard ones."""

from __future__ import annotations

import warnings
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from localsvm._checks import (
    check_parameters,
    class_weights,
    integer,
    level_of_caller,
    one_of,
    real,
)
from localsvm._clock import StageClock
from localsvm._threads import single_threaded_libraries
from localsvm.estimators._staged.base import BaseStagedSVC
from localsvm.estimators._staged.evaluation import selection_table
from localsvm.estimators._staged.fit import StagedFit, fit_staged
from localsvm.estimators._staged.grid import Grid
from localsvm.estimators._staged.preparation import SCALINGS
from localsvm.estimators._staged.search import Choice, choose
from localsvm.estimators._staged.setting import StageOptions, StageSizes
from localsvm.estimators._staged.stages import (
    METRICS,
    first_stage_estimator,
    second_stage_estimator,
)
from localsvm.exceptions import DataError
from localsvm.rows import MergedRows, Rows


class StagedSVC(BaseStagedSVC):
    r"""Linear SVMs in soft regions for the easy rows, RBF SVMs for the hard ones.

    What to use when nothing is known of the data: every parameter is chosen on held-out
    training rows. The accuracy is about that of a tuned RBF SVM, at a small part of its
    cost from some ten thousand rows on; with fewer rows it costs about as much as a
    grid search of :class:`~sklearn.svm.SVC`.

    1. Rows are scaled, wide ones projected on their principal components, and mapped by
       a :class:`GradientMetric` if that helps.
    2. First stage: a soft :class:`ClusteredSVC`. Its duals give the leave-one-out
       margin of each training row, :math:`y_i f(x_i) - \alpha_i K_{ii}`.
    3. Second stage: RBF SVMs on the *hard* rows, those with a leave-one-out margin
       below one, filled up to 8000 by the next margins; all rows, if more than 40 % are
       hard. Up to 20,000 of them are one SVM; more are covered by overlapping cells,
       one SVM each, as in :class:`LocalSVC`.
    4. A row is answered by the first stage if the margin of its winning class exceeds
       the ``threshold``, else by the second stage.

    Parameters
    ----------
    scaling : {"auto", "none", "standard", "unit", "quantile", "ranks"}, default="auto"
        Columns as they are, standardised, or mapped to normal scores by their
        quantiles; those that hold only 0 and 1 stay as they are. "ranks" maps columns
        to their ranks, in which a value counts as 1/48 of the rows at most, and those
        of two values to 0 and 0.5. "unit" divides each row by its norm. "auto" tries
        "unit" for sparse rows and for those of more than 110 columns, "quantile" for
        the others.
    gradient_metric : {"auto", None, "full", "diagonal"}, default="auto"
        The :class:`GradientMetric` of the scaled rows: none, full with power 1/2, or
        diagonal with power 1. Sparse rows take None or "diagonal".
    C : float, "scale" or "auto", default="auto"
        Penalty of the first stage, for rows of root mean squared norm one. "scale" is
        10, "auto" searches.
    kernel_C : float, "scale" or "auto", default="auto"
        Penalty of the second stage. "scale" is 10, "auto" searches.
    gamma_factor : float or "auto", default="auto"
        Width of the RBF kernel, times the typical squared distance of a row to the
        middle of its cell.
    threshold : float or "auto", default="auto"
        Margin up to which the second stage answers. 0: never, and there is none.
        ``inf``: always.
    n_regions : int or "auto", default="auto"
        Regions of the first stage. "auto" is one per 100 rows, from 20 to 800.
    cell_size : int, None or "auto", default="auto"
        Rows of a cell. With an int, more hard rows than that are cut into cells; None
        is one model; "auto" cuts more than 20,000 hard rows into cells of 200 or 1000.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the sample weights by class, in both stages and in the held-out
        errors.
    max_time : float or None, default=None
        Time limit of the whole fit in seconds. The search takes half of it at most and
        then ends with the best setting so far. Where the rest is too short for all
        rows, the model is that of a sample; one of 2000 rows is fitted whatever the
        limit.
    random_state : int, RandomState instance or None, default=None
        Chooses the held-out rows and seeds the stages.
    n_jobs : int or None, default=None
        Threads; they do not change the model.

    Other Parameters
    ----------------
    n_components : int, None or "auto", default="auto"
        Principal components that dense rows are projected on; None is no projection.
        "auto" is 60 or 240 where there are more than 110 columns, else None.
    tol : float, default=0.05
        Relative duality gap of the first stage, and largest violation of the optimality
        conditions in the second.
    max_iter : int or None, default=None
        Passes of the first stage's solver; None is 100. The second stage is limited as
        in :class:`LocalSVC`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    best_params_ : dict
        The setting used; ``StagedSVC(**best_params_)`` fits it without any choice.
    selection_ : dict of ndarray
        What was tried: the question, rows used and held out, the setting, its error
        and its seconds. Empty where all was given.
    gradient_metric_ : GradientMetric or None
        Fitted to the scaled rows.
    first_stage_ : ClusteredSVC
        Fitted to the prepared rows.
    second_stage_ : LocalSVC or None
        Fitted to the hard ones of the prepared rows.
    n_hard_ : int
        Distinct rows of the second stage.
    stage_ : ndarray of shape (n_samples,)
        Stage, 1 or 2, that answers each training row; 0 for rows that ``max_time``
        left no time to fit.
    stage_shares_ : ndarray of shape (2,)
        Weighted share of those rows.
    n_regions_ : int
        Regions of the first stage and cells of the second, numbered in this order.
    region_stage_ : ndarray of shape (n_regions,)
        Stage of each.
    region_sizes_ : ndarray of shape (n_regions,)
        Distinct training rows of each.
    region_class_counts_ : ndarray of shape (n_regions, n_classes)
        Training rows of each by class, by sample weight: all rows in the regions of the
        first stage, the hard ones again in the cells of the second.
    scaled_coef_ : ndarray of shape (n_first_regions, n_tasks, n_features)
        Weights of the first stage's regions; one task for two classes, one per class
        otherwise. They are weights of the columns of X with the scaling "none" or
        "standard", else of columns or rows as the other scalings leave them.
    C_ : float
        Penalty of the first stage.
    n_support_ : ndarray of shape (n_classes,)
        Support vectors of each class: distinct rows with a non-zero dual in any task,
        region or cell.
    duality_gap_ : float
        Larger of the two stages' relative duality gaps.
    n_iter_ : int
        Passes of the first stage's solver; ``second_stage_.n_iter_`` has the steps of
        the second.
    fit_report_ : dict
        Seconds of the stages "merge", "choose", "prepare", "first" and "second".
    feature_range_ : ndarray of shape (2, n_features)
        Smallest and largest value of each column; only of rows in memory.
    integer_features_ : ndarray of shape (n_features,)
        Whether all values of a column are integers; only of rows in memory.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    ClusteredSVC : The first stage.
    LocalSVC : The second stage.
    GradientMetric : The metric.

    Notes
    -----
    Choice: below 10,000 rows by 5-fold cross-validation, two folds first; above on
    16,000 rows, three tenths of them held out, and on 40,000 where two candidates are
    close; penalty, width and threshold again on all rows, a fifth of them (at most
    10,000) held out. Quantiles and a metric have to win by one standard error of the
    difference in errors, more components by two; penalties, widths and the second stage
    by half of one, a threshold above 1 by one, and to send all rows to the second stage
    by two. Below 10,000 rows the second stage sees all rows, so that one RBF SVM of all
    rows (``threshold=inf``) and the first stage alone are among the candidates.

    Cost: the first stage is near linear in the number of rows; so is the second in
    cells, and as one model it costs at most that of an SVM of 20,000 rows. Prediction
    takes a search among the regions and a few dot products for an easy row, and the
    support vectors of one cell for a hard one.

    Sparse rows: scaled but neither centred nor projected, so that they stay sparse; the
    hard ones are made dense up to a gigabyte.

    Several classes: the first stage in one problem (Crammer and Singer), on shared
    regions; the second by pairs, on a shared kernel matrix. With more than 50 classes
    there is no second stage unless ``threshold`` asks for one, since the pairs grow by
    the square; the first then has a region per class, and the choice takes one held-out
    part. Votes of the second stage are scaled to [-1, 1], about the range of the first.

    Equal rows of one class are merged, so that neither the order of rows nor writing a
    weight of two as two rows changes the model.

    Examples
    --------
    >>> from localsvm import StagedSVC
    >>> from localsvm.data import make_two_spirals
    >>> X, y = make_two_spirals(2000, random_state=0)
    >>> model = StagedSVC(random_state=0).fit(X[:1500], y[:1500])
    >>> model.score(X[1500:], y[1500:]) > 0.8
    True
    >>> sorted(model.best_params_)[:3]
    ['C', 'cell_size', 'gamma_factor']
    """

    def __init__(
        self,
        *,
        scaling: str = "auto",
        gradient_metric: str | None = "auto",
        C: float | str = "auto",
        kernel_C: float | str = "auto",
        gamma_factor: float | str = "auto",
        threshold: float | str = "auto",
        n_regions: int | str = "auto",
        cell_size: int | str | None = "auto",
        class_weight: Any = None,
        max_time: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        n_components: int | str | None = "auto",
        tol: float = 0.05,
        max_iter: int | None = None,
    ) -> None:
        self.scaling = scaling
        self.gradient_metric = gradient_metric
        self.C = C
        self.kernel_C = kernel_C
        self.gamma_factor = gamma_factor
        self.threshold = threshold
        self.n_regions = n_regions
        self.cell_size = cell_size
        self.class_weight = class_weight
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            scaling=one_of("auto", *SCALINGS),
            gradient_metric=one_of("auto", *METRICS),
            C=one_of("auto", "scale") | real(0),
            cell_size=one_of("auto", None) | integer(2),
            gamma_factor=one_of("auto") | real(0),
            kernel_C=one_of("auto", "scale") | real(0),
            threshold=one_of("auto") | real(0, closed="both"),
            n_regions=one_of("auto") | integer(1),
            n_components=one_of("auto", None) | integer(1),
            class_weight=class_weights(),
            tol=real(0, closed="left"),
            max_iter=one_of(None) | integer(1),
            max_time=one_of(None) | real(0),
        )

    def _fit(self, rows: Rows) -> None:
        self._check_storage(rows.X)
        options = self._options()
        with options.clock.stage("merge"):
            merged = rows.merged(options.seed)
        self._check_regions(merged.rows)
        # One limit for all that follows: to set it many times takes long.
        with single_threaded_libraries():
            with options.clock.stage("choose"):
                given = {name: getattr(self, name) for name in Grid.names()}
                grid = Grid.of(merged.rows, given)
                choice = choose(merged.rows, grid, options)
            fit = fit_staged(merged.rows, choice.setting, options)
        self._store(fit, choice, options)
        self._store_stages(fit, rows, merged)
        self._warn_of_time(fit, choice, merged.rows)

    def _options(self) -> StageOptions:
        return StageOptions(
            self._draw_seed(),
            self.n_regions,
            self.tol,
            self.max_iter,
            self.n_jobs,
            StageClock(self.max_time),
            StageSizes(),
        )

    def _store(self, fit: StagedFit, choice: Choice, options: StageOptions) -> None:
        """Set the fitted attributes."""
        self._model = fit.model
        self.gradient_metric_ = fit.model.preparation.metric
        self.first_stage_ = first_stage_estimator(
            fit.rows, fit.first.fit.settings.C, options
        )._adopt(fit.first.fit, fit.rows, self.classes_, fit.first.seconds)
        self.second_stage_ = None
        stages: list[Any] = [self.first_stage_]
        if fit.second is not None:
            second = fit.second
            self.second_stage_ = second_stage_estimator(
                second, choice.setting, fit.cell_size, options
            )._adopt(
                second.fit, second.rows, second.merged, self.classes_, second.seconds
            )
            stages.append(self.second_stage_)
        self.region_sizes_ = np.concatenate([each.region_sizes_ for each in stages])
        self.region_class_counts_ = np.concatenate(
            [each.region_class_counts_ for each in stages]
        )
        self.region_stage_ = np.repeat(
            np.arange(1, len(stages) + 1), [each.n_regions_ for each in stages]
        )
        self.n_regions_ = len(self.region_sizes_)
        self.n_hard_ = fit.n_hard
        self.C_ = self.first_stage_.C_
        self.n_support_ = fit.n_support
        self.duality_gap_ = max(each.duality_gap_ for each in stages)
        self.n_iter_ = self.first_stage_.n_iter_
        chosen = replace(choice.setting, cell_size=fit.cell_size)
        self.best_params_ = asdict(chosen)
        self.selection_ = selection_table(choice.evaluations, chosen)
        self.fit_report_ = options.clock.seconds

    def _store_stages(self, fit: StagedFit, rows: Rows, merged: MergedRows) -> None:
        """Set the stage of each training row."""
        stage_of_kind = np.zeros(merged.rows.n_rows, dtype=np.int64)
        stage_of_kind[fit.index] = fit.stage
        self.stage_ = stage_of_kind[merged.kind]
        # A row without weight was not fitted: it is answered as a new one.
        absent = np.flatnonzero(merged.kind < 0)
        if absent.size:
            self.stage_[absent] = fit.model.stages(rows.X[absent], self.n_jobs)
        mass = np.bincount(self.stage_, weights=rows.sample_weight, minlength=3)[1:]
        self.stage_shares_ = mass / mass.sum()

    def _warn_of_time(self, fit: StagedFit, choice: Choice, rows: Rows) -> None:
        """Warn once if ``max_time`` was too short for anything."""
        missed = []
        if choice.unanswered:
            missed.append(
                f"was not enough to choose {', '.join(choice.unanswered)}, whose first "
                "values were taken"
            )
        if not fit.in_full:
            missed.append(
                f"allowed a quick fit of {len(fit.index)} of {rows.n_rows} rows"
            )
        if missed:
            warnings.warn(
                f"max_time={self.max_time} {', and '.join(missed)}. Allow more, or "
                "give the parameters that were left open.",
                ConvergenceWarning,
                stacklevel=level_of_caller(),
            )

    def _check_regions(self, rows: Rows) -> None:
        """Raise for more regions than distinct rows."""
        if not isinstance(self.n_regions, str) and self.n_regions > rows.n_rows:
            raise DataError(
                f"n_regions={self.n_regions} should be <= {rows.n_rows}, the number of "
                "distinct rows."
            )

    def _check_storage(self, X: Any) -> None:
        """Raise where a parameter would make sparse rows dense."""
        if not sparse.issparse(X):
            return
        for name, asks in (
            ("scaling", self.scaling in ("quantile", "ranks")),
            ("gradient_metric", self.gradient_metric == "full"),
            ("n_components", not isinstance(self.n_components, str | None)),
        ):
            if asks:
                raise DataError(
                    f"{name}={getattr(self, name)!r} needs dense rows; found a sparse "
                    f"X. Use {name}='auto', or X.toarray()."
                )
