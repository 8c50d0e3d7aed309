"""Regions of linear SVMs for the easy rows, kernel SVMs for the hard ones."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np

from localsvm._checks import (
    check_parameters,
    class_weights,
    integer,
    one_of,
    real,
)
from localsvm._clock import StageClock
from localsvm._threads import single_threaded_libraries
from localsvm.estimators._categorical import categorical_mask
from localsvm.estimators._staged.adopt import terms_of_stages, terms_of_sum
from localsvm.estimators._staged.base import BaseStagedSVC
from localsvm.estimators._staged.checks import (
    check_regions,
    check_storage,
    check_weights,
    warn_of_time,
)
from localsvm.estimators._staged.evaluation import (
    Choice,
    parameters_of,
    selection_table,
)
from localsvm.estimators._staged.fit import fit_staged
from localsvm.estimators._staged.grid import Grid
from localsvm.estimators._staged.preparation import SCALINGS
from localsvm.estimators._staged.preparation.learn import METRICS
from localsvm.estimators._staged.search import choose
from localsvm.estimators._staged.setting import StageOptions, StageSizes
from localsvm.estimators._staged.sum.fit import SumFit
from localsvm.estimators._staged.sum.model import SumModel
from localsvm.estimators._staged.sum.weights import SUM_WEIGHTS
from localsvm.estimators._staged.switch.fit import SwitchFit
from localsvm.rows import MergedRows, Rows


class StagedSVC(BaseStagedSVC):
    r"""A sum of small models that tunes itself; for images a switch of two stages.

    What to use when nothing is known of the data: every parameter is chosen on held-out
    training rows. Tables of up to 110 columns get a sum,

    .. math::

        f(x) = b + w_a f_{additive}(x) + w_r f_{regions}(x) + w_k f_{rbf}(x)
               + w_l f_{laplace}(x),

    of an :class:`~localsvm.estimators.AdditiveSVC` (what each column means everywhere),
    a soft :class:`ClusteredSVC`, and kernel SVMs with an RBF kernel and with a Laplace
    kernel of ranks (what the columns mean together). The weights minimise the logistic
    loss of held-out rows, so that decisions are log odds. Terms that add nothing are
    dropped: a term alone is one of the candidates.

    Wide, sparse and many-class rows get a *switch*: soft regions answer the easy rows,
    and an RBF SVM those that a margin calls hard.

    Parameters
    ----------
    join : {"auto", "sum", "switch"} or dict, default="auto"
        "auto" is a sum for at least 30 dense rows of at most 110 columns and 50
        classes, unless a ``threshold`` is given. A dict gives the weights of a sum:
        numbers under some of "additive", "regions", "rbf" and "laplace", and under
        "bias" one number for two classes, otherwise one per class.
    categorical_features : None or array-like of bool, int or str, default=None
        Columns whose values are names: a mask, numbers or names of columns.
    scaling : {"auto", "none", "standard", "unit", "quantile", "ranks"}, default="auto"
        Columns as they are, standardised, or mapped to normal scores by their
        quantiles; those that hold only 0 and 1 stay as they are. "ranks" maps columns
        to their ranks, in which a value counts as 1/48 of the rows at most, and those
        of two values to 0 and 0.5. "unit" divides each row by its norm. "auto" tries
        "unit" for sparse rows and for those of more than 110 columns, "quantile" for
        the others.
        It applies to the regions and to the RBF kernel; the Laplace kernel sees ranks.
    gradient_metric : {"auto", None, "full", "diagonal"}, default="auto"
        The :class:`GradientMetric` of the scaled rows: none, full with power 1/2, or
        diagonal with power 1. Sparse rows take None or "diagonal".
    C : float, "scale" or "auto", default="auto"
        Penalty of the regions, for rows of root mean squared norm one. "scale" is 10,
        "auto" searches.
    kernel_C : float, "scale" or "auto", default="auto"
        Penalty of the RBF kernel. "scale" is 10, "auto" searches.
    gamma_factor : float or "auto", default="auto"
        Width of the RBF kernel, times the typical squared distance of a row to the
        middle of its cell.
    cell_size : int, None or "auto", default="auto"
        Rows of a cell of the kernel SVMs. With an int, more rows than that are cut into
        cells; None is one model; "auto" cuts more than 10,000 rows, or more than 20,000
        hard rows of a switch, into cells of 200 or 1000.
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
    threshold : float or "auto", default="auto"
        Of a switch: the margin up to which the second stage answers. 0: never, and
        there is none. ``inf``: always.
    n_regions : int or "auto", default="auto"
        Regions. "auto" is one per 100 rows, from 20 to 800.
    n_components : int, None or "auto", default="auto"
        Principal components that dense rows are projected on; None is no projection.
        "auto" is 60 or 240 where there are more than 110 columns, else None.
    tol : float, default=0.05
        Relative duality gap of the first stage, and largest violation of the optimality
        conditions in the second.
    max_iter : int or None, default=None
        Passes of the regions' solver; None is 100. The kernel SVMs are limited as in
        :class:`LocalSVC`.
    additive_C : float, None or "auto", default="auto"
        Penalty of the additive term of a sum; None is a sum without it.
    laplace_C : float, None or "auto", default="auto"
        Penalty of the Laplace kernel of a sum; None is a sum without it.
    on_interrupt : {"raise", "keep"}, default="raise"
        "keep" takes Ctrl-C for the end of the time: the fit ends with the best setting
        and model so far, and says how far it got. A second Ctrl-C raises.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    best_params_ : dict
        The setting used; ``StagedSVC(**best_params_)`` fits it without any choice.
    selection_ : dict of ndarray
        What was tried: the question, rows used and held out, the setting, its error,
        its log loss (of sums) and its seconds. Empty where all was given.
    terms_ : dict of str to estimator
        The fitted terms by name: "additive", "regions", "rbf", "laplace". All but the
        additive one see prepared rows.
    gradient_metric_ : GradientMetric or None
        Fitted to the scaled rows.
    first_stage_, second_stage_ : ClusteredSVC and LocalSVC, or None
        The stages of a switch; None of a sum.
    n_hard_ : int
        Distinct rows of the second stage; only of a switch.
    stage_ : ndarray of shape (n_samples,)
        Stage, 1 or 2, that answers each training row; 0 for rows that ``max_time``
        left no time to fit. Only of a switch.
    stage_shares_ : ndarray of shape (2,)
        Weighted share of those rows; only of a switch.
    n_regions_ : int
        Regions and cells of all terms, numbered in the order of the terms.
    region_stage_ : ndarray of shape (n_regions,)
        1 for regions, 2 for cells of kernel SVMs.
    region_sizes_ : ndarray of shape (n_regions,)
        Distinct training rows of each.
    region_class_counts_ : ndarray of shape (n_regions, n_classes)
        Training rows of each by class, by sample weight; each term counts its own.
    scaled_coef_ : ndarray of shape (n_first_regions, n_tasks, n_features)
        Weights of the regions; one task for two classes, one per class otherwise. They
        are weights of the columns as the scaling leaves them.
    C_ : float or None
        Penalty of the regions; None without regions.
    n_support_ : ndarray of shape (n_classes,)
        Support vectors of each class: distinct rows with a non-zero dual in any term.
    duality_gap_ : float
        Largest relative duality gap of the terms.
    n_iter_ : int
        Passes of the regions' solver; without regions, steps of the first term.
    fit_report_ : dict
        Seconds of the stages "merge" and "choose", and of each term, or of "prepare",
        "first" and "second".
    feature_range_ : ndarray of shape (2, n_features)
        Smallest and largest value of each column; only of rows in memory.
    integer_features_ : ndarray of shape (n_features,)
        Whether all values of a column are integers; only of rows in memory.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    AdditiveSVC, ClusteredSVC, LocalSVC, GradientMetric : What it is made of.

    Notes
    -----
    Choice of a sum: pairs of scaling and metric, then the penalty of each term and the
    width, always by the log loss of the whole sum on held-out rows; below 10,000 rows
    in three folds (with more than 4000 rows on the first), above on 10,000 rows with
    three tenths held out. The weights, the cells and one further width are those of all
    rows, a fifth of them (at most 10,000) held out. A term stays if it lowers the loss
    by a quarter of a standard error; one term alone is taken if it makes fewer errors
    than the sum by two.

    Choice of a switch: below 10,000 rows by 3-fold cross-validation; above on 16,000
    rows, and on all rows again for penalty, width and threshold. Quantiles and a metric
    have to win by one standard error of the difference in errors, more components and a
    threshold of ``inf`` by two; penalties, widths and the second stage by half of one.

    Cost: near linear in the number of rows, above 10,000 rows for a sum and 20,000 for
    a switch; below, at most that of kernel SVMs of all rows. Prediction takes a look-up
    per column, a search among the regions and a few dot products, and the support
    vectors of one cell for each kernel.

    Missing values (NaN) have a bin of their own in the additive term. The other terms
    see the median and, where eight training rows lack a value, a column that says so.
    Categories of fewer than eight rows and new ones are one category, "rare".

    Sparse rows: scaled but neither centred nor projected, so that they stay sparse; the
    hard ones are made dense up to a gigabyte.

    Several classes: additive tables against the rest, regions in one problem (Crammer
    and Singer), kernels by pairs on a shared kernel matrix; the classes share the
    weights of the terms. With more than 50 classes there are no kernels unless
    ``threshold`` asks for them, since the pairs grow by the square; there is a region
    per class then, and the choice takes one held-out part.

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
    ['C', 'additive_C', 'cell_size']
    """

    def __init__(
        self,
        *,
        join: Any = "auto",
        categorical_features: Any = None,
        scaling: str = "auto",
        gradient_metric: str | None = "auto",
        C: float | str = "auto",
        kernel_C: float | str = "auto",
        gamma_factor: float | str = "auto",
        cell_size: int | str | None = "auto",
        class_weight: Any = None,
        max_time: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        threshold: float | str = "auto",
        n_regions: int | str = "auto",
        n_components: int | str | None = "auto",
        tol: float = 0.05,
        max_iter: int | None = None,
        additive_C: float | str | None = "auto",
        laplace_C: float | str | None = "auto",
        on_interrupt: str = "raise",
    ) -> None:
        self.join = join
        self.categorical_features = categorical_features
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
        self.additive_C = additive_C
        self.laplace_C = laplace_C
        self.on_interrupt = on_interrupt

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            join=one_of("auto", "switch", "sum") | SUM_WEIGHTS,
            scaling=one_of("auto", *SCALINGS),
            gradient_metric=one_of("auto", *METRICS),
            C=one_of("auto", "scale") | real(0),
            cell_size=one_of("auto", None) | integer(2),
            gamma_factor=one_of("auto") | real(0),
            kernel_C=one_of("auto", "scale") | real(0),
            threshold=one_of("auto") | real(0, closed="both"),
            n_regions=one_of("auto") | integer(1),
            n_components=one_of("auto", None) | integer(1),
            additive_C=one_of("auto", None) | real(0),
            laplace_C=one_of("auto", None) | real(0),
            class_weight=class_weights(),
            tol=real(0, closed="left"),
            max_iter=one_of(None) | integer(1),
            max_time=one_of(None) | real(0),
            on_interrupt=one_of("raise", "keep"),
        )

    def _fit(self, rows: Rows) -> None:
        check_storage(self, rows.X)
        check_weights(self, rows.n_classes)
        options = self._options()
        with options.clock.stage("merge"):
            merged = rows.merged(options.seed)
        check_regions(self.n_regions, merged.rows)
        # One limit for all that follows: to set it many times takes long.
        with single_threaded_libraries():
            with options.clock.stage("choose"):
                given = {name: getattr(self, name) for name in Grid.names()}
                grid = Grid.of(merged.rows, given)
                choice = choose(merged.rows, grid, options)
            fit = fit_staged(merged.rows, choice.setting, options)
        self._store(fit, choice, options)
        self._calibrate(merged.rows, choice, options)
        if isinstance(fit, SwitchFit):
            self._store_stages(fit, rows, merged)
        warn_of_time(options, choice, fit, merged.rows)

    def _options(self) -> StageOptions:
        return StageOptions(
            self._draw_seed(),
            self.n_regions,
            self.tol,
            self.max_iter,
            self.n_jobs,
            self._categorical_mask(),
            StageClock(self.max_time),
            StageSizes(),
            threading.Event() if self.on_interrupt == "keep" else None,
        )

    def _store(
        self, fit: SwitchFit | SumFit, choice: Choice, options: StageOptions
    ) -> None:
        """Set the fitted attributes."""
        self._model = fit.model
        adopt: Any = terms_of_sum if isinstance(fit, SumFit) else terms_of_stages
        self.terms_ = adopt(fit, choice.setting, options, self.classes_)
        self._set_stages()
        chosen = choice.setting
        if isinstance(fit, SwitchFit):
            self.n_hard_ = fit.n_hard
            chosen = replace(chosen, cell_size=fit.cell_size)
        self._store_regions()
        self.n_support_ = fit.n_support
        self.best_params_ = parameters_of(chosen)
        self.selection_ = selection_table(choice.evaluations, chosen)
        self.fit_report_ = options.clock.seconds

    def _set_stages(self) -> None:
        """Name what the terms are of a switch; a sum has no stages."""
        is_sum = isinstance(self._model, SumModel)
        self.first_stage_ = None if is_sum else self.terms_["regions"]
        self.second_stage_ = None if is_sum else self.terms_.get("rbf")
        self.gradient_metric_ = self._model.metric

    def _store_regions(self) -> None:
        """Set what the regions of all terms share, in the order of the terms."""
        terms = list(self.terms_.values())
        local = [each for each in terms if hasattr(each, "region_sizes_")]
        self.region_sizes_ = np.concatenate(
            [np.zeros(0, dtype=np.intp), *(each.region_sizes_ for each in local)]
        )
        self.region_class_counts_ = np.concatenate(
            [
                np.zeros((0, len(self.classes_))),
                *(each.region_class_counts_ for each in local),
            ]
        )
        stages = [1 if hasattr(each, "coef_") else 2 for each in local]
        self.region_stage_ = np.repeat(stages, [each.n_regions_ for each in local])
        self.n_regions_ = len(self.region_sizes_)
        self.C_ = getattr(self.terms_.get("regions"), "C_", None)
        self.duality_gap_ = max(each.duality_gap_ for each in terms)
        self.n_iter_ = self.terms_.get("regions", terms[0]).n_iter_

    def _store_stages(self, fit: SwitchFit, rows: Rows, merged: MergedRows) -> None:
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

    def _categorical_mask(self) -> Any:
        """Columns of categories; None where all are numbers."""
        names = getattr(self, "feature_names_in_", None)
        mask = categorical_mask(self.categorical_features, self.n_features_in_, names)
        return mask if mask.any() else None
