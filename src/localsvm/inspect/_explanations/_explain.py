"""Explain predictions by the linear function of their regions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm._threads import single_threaded_libraries
from localsvm.data import as_frame
from localsvm.inspect._changes._free_columns import fixed_columns
from localsvm.inspect._changes._local_function import LocalFunction
from localsvm.inspect._changes._what_if import WhatIf
from localsvm.inspect._explanations._explanation import (
    ColumnContribution,
    Explanation,
    Margin,
)
from localsvm.inspect._local_view import Floats, LocalView
from localsvm.inspect._opened import OpenedModel
from localsvm.inspect._regions._region_table import RegionTable, as_matrix


def explain(
    model: Any,
    X: Any,
    *,
    feature_names: Any = None,
    table: RegionTable | None = None,
    border: bool = True,
    immutable: Any = None,
) -> Any:
    """Explain predictions by the linear function of their regions.

    Parameters
    ----------
    model : fitted classifier of this library, or Pipeline that ends in one
        The steps of a pipeline transform the rows; what a column of its table adds is
        told as well as what the features add.
    X : array-like of shape (n_features,) or (n_samples, n_features)
        One row as a list, a one-dimensional array or a pandas series; or rows: an
        array, a sparse matrix or a data frame.
    feature_names : sequence of str, default=None
        Names of the estimator's features. None takes those of the fit or of the
        pipeline's steps, else "x0", "x1" and so on.
    table : RegionTable, default=None
        From :func:`region_table` with held-out rows: the explanation then tells the
        accuracy of the main region.
    border : bool, default=True
        Whether to look for changes of the row that change the label, which is most of
        the cost.
    immutable : str, int or sequence of them, default=None
        Names or positions of columns that no change may touch, for instance
        ``["age", "sex"]``: columns of the table for a pipeline, else features.

    Returns
    -------
    Explanation or list of Explanation
        One for one row without a second dimension, else a list with one per row. Print
        it for a short text; ``to_dict`` is what JSON holds.

    See Also
    --------
    region_table : Describes all regions.
    RegionMapDisplay : Draws regions and boundary.

    Notes
    -----
    A kernel SVM, or a mixture, is explained by its gradient at x, which shows how the
    decision changes near x; the intercept makes up for the rest of the decision value.

    :class:`~localsvm.AdditiveSVC` is a sum of one table entry per feature; these are
    the contributions, and there are no weights.

    Linear SVMs are linear at x once the regions of x are known. With soft assignment
    their weights change with x, too: the explanation says what the decision value is
    made of, not how it would change far from x.

    For several classes it is the linear function of the predicted class against the
    rest.

    Changes keep to what the training rows have shown to be possible. Numbers stay in
    their range, and integers where all of them were. A category or boolean becomes
    another known one, also where it is missing. A missing number stays missing, and
    nothing becomes missing. Dates, durations, text and ``immutable`` columns stay as
    they are.

    The range of a number is not known to a model that was fitted to blocks or to
    summaries, or saved by an earlier version, nor behind steps that mix columns or
    cannot be undone; ``unknown_ranges`` then names the column. Behind a scaler, a
    column is taken for whole if its range and the row have integers. A pipeline that
    takes a table with strings needs a :class:`~localsvm.data.TableEncoder` as its first
    step; otherwise nothing is known of its columns, and no change is found.

    The label of every change has been looked up by predicting the changed row. A number
    is rounded away from its value in the row, so that the label changes at what is
    printed. The nearest row of another label is looked for along the slopes of the
    linear function, together with choices of other categories; of several classes, with
    the three nearest ones. It is exact if it is at the border of the linear function,
    :math:`x - f w / |w|^2`, and this holds there: the region has no nearer one.
    Otherwise there may be a nearer one. None is found where the ranges leave no way to
    another label.

    Costs, for each row, one evaluation of the weights and, with ``border``, about 3000
    predictions in 100 calls, and some more evaluations of the weights for kernels.

    Examples
    --------
    >>> from localsvm import ClusteredSVC
    >>> from localsvm.data import make_xor
    >>> from localsvm.inspect import explain
    >>> X, y = make_xor(400, random_state=0)
    >>> model = ClusteredSVC(n_regions=4, n_nearest=1, random_state=0).fit(X, y)
    >>> explanation = explain(model, [2.0, 0.1], feature_names=["east", "north"])
    >>> explanation.predicted_class
    np.int64(1)
    >>> explanation.top(1)[0].name
    'east'
    >>> explanation.border.label, explanation.border.is_exact
    (np.int64(0), True)
    >>> len(explain(model, X[:3]))
    3
    """
    opened = OpenedModel.of(model, feature_names)
    check_explainable(opened)
    raw, is_one = as_rows(X)
    fixed = fixed_columns(opened, immutable)
    # Held throughout: each of many small predictions would take and give it back.
    with single_threaded_libraries():
        explainer = _Explainer(opened, raw, table, fixed)
        found = [explainer.explain(row, border) for row in range(raw.shape[0])]
    return found[0] if is_one else found


class _Explainer:
    """What the explanations of several rows share."""

    def __init__(
        self,
        opened: OpenedModel,
        X: Any,
        table: RegionTable | None,
        fixed: frozenset[int],
    ) -> None:
        self.opened = opened
        self.fixed = fixed
        self.accuracies: dict[int | None, float | None] = {
            row.region: row.accuracy for row in table or ()
        }
        features = opened.features(X)
        # By the model itself, which checks the names of columns, and may learn from a
        # stream only now.
        self.labels = opened.estimator.predict(features)
        self.view = LocalView.of(opened.estimator)
        self.rows = as_matrix(features)
        self.scores = self.view.by_class(
            self.view.estimator.decision_function(self.rows)
        )
        self.regions, self.region_weights = self._regions()
        self.column_values = [] if opened.steps is None else opened.column_values(X)
        self.base = as_matrix(opened.base_rows(X))

    def explain(self, row: int, with_border: bool) -> Explanation:
        """Explain one of the rows."""
        classes, function = self.view.classes, self._function(row)
        # One task stands for both classes of a two-class problem.
        task = 1 if len(classes) == 2 else function.label
        coef, value = function.slopes[task], function.scores[task]
        present = self.region_weights[row] != 0
        found = self._what_if(row, function) if with_border else WhatIf()
        counts = self._class_counts(row, function.region)
        effects = self.view.effects(self.rows[[row]])
        parts = coef * function.x if effects is None else effects[0, task]
        return Explanation(
            predicted_class=self.labels[row],
            decision_value=float(value),
            classes=classes,
            regions=self.regions[row][present],
            region_weights=self.region_weights[row][present].astype(np.float64),
            n_region_rows=self._n_rows(row, function.region),
            has_all_rows=self._has_all_rows(function.region),
            feature_names=self.opened.feature_names,
            values=function.x,
            coef=coef,
            intercept=float(
                function.intercepts[task] if effects is None else value - parts.sum()
            ),
            margin=_margin(
                function,
                classes,
                has_scale=not self.opened.has_codes and effects is None,
            ),
            is_gradient=function.is_curved and effects is None,
            effects=None if effects is None else parts,
            terms=self.view.terms(self.rows[[row]], function.label),
            region_class_counts=counts,
            region_accuracy=self.accuracies.get(function.region),
            columns=self._columns(row, parts),
            **vars(found),
        )

    def _function(self, row: int) -> LocalFunction:
        regions = self.regions[row]
        main = int(regions[0]) if len(regions) else None
        slopes, intercepts = self.view.linear_functions(self.rows[[row]])
        return LocalFunction(
            x=_dense(self.rows[[row]]),
            label=int(np.searchsorted(self.view.classes, self.labels[row])),
            scores=self.scores[row],
            slopes=slopes[0],
            intercepts=intercepts[0],
            region=main,
            is_curved=self.view.is_curved(main),
            has_votes=self.view.has_votes(main),
        )

    def _regions(self) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """Regions of the rows and their weights; no columns if there are none."""
        if not self.view.has_regions:
            n_rows = self.rows.shape[0]
            return np.empty((n_rows, 0), dtype=np.intp), np.empty((n_rows, 0))
        regions, weights = self.view.estimator.region(self.rows, return_weights=True)
        return np.asarray(regions, dtype=np.intp), weights

    def _n_rows(self, row: int, region: int | None) -> int:
        """Training rows of a region; a clusterer may predict one that had none."""
        estimator = self.view.estimator
        if region is not None:
            sizes = estimator.region_sizes_
            return round(float(sizes[region])) if region < len(sizes) else 0
        return int(estimator._n_rows_without_regions())

    def _has_all_rows(self, region: int | None) -> bool:
        """Whether a region has all rows that any region has."""
        sizes: Any = getattr(self.view.estimator, "region_sizes_", ())
        if region is None or region >= len(sizes):
            return False
        stages = self.view.estimator._region_stages()
        first = sizes if stages is None else sizes[stages == 1]
        return bool(sizes[region] == first.sum())

    def _class_counts(self, row: int, region: int | None) -> dict[Any, float]:
        counts = self.view.estimator._class_counts(self.rows[[row]], region)
        if counts is None:
            return {}
        return dict(zip(self.view.classes.tolist(), map(float, counts), strict=True))

    def _what_if(self, row: int, function: LocalFunction) -> WhatIf:
        values = self.column_values[row] if self.column_values else ()
        base = _dense(self.base[[row]])
        return WhatIf.of(self.opened, self.view, function, (values, base), self.fixed)

    def _columns(
        self, row: int, contributions: Floats
    ) -> tuple[ColumnContribution, ...]:
        """Contributions of the columns of a pipeline's table."""
        column_of_feature = self.opened.column_of_feature
        if not self.column_values or column_of_feature is None:
            return ()
        names = self.opened.column_names
        sums = np.bincount(column_of_feature, contributions, minlength=len(names))
        values = self.column_values[row]
        return tuple(map(ColumnContribution, names, values, sums.tolist()))


def _margin(
    function: LocalFunction, classes: NDArray[Any], *, has_scale: bool
) -> Margin:
    others = np.delete(np.arange(len(classes)), function.label)
    runner_up = others[function.scores[others].argmax()]
    difference = function.scores[function.label] - function.scores[runner_up]
    slope = function.slopes[function.label] - function.slopes[runner_up]
    norm = float(np.linalg.norm(slope))
    has_distance = norm > 0 and has_scale and not function.has_votes
    return Margin(
        classes[runner_up],
        float(difference),
        float(difference / norm) if has_distance else None,
    )


def check_explainable(opened: OpenedModel) -> None:
    """Raise for an estimator that this library does not know."""
    if not hasattr(opened.estimator, "local_coef"):
        raise TypeError(
            "explain needs an estimator with 'local_coef', such as ClusteredSVC or "
            f"StagedSVC, by itself or at the end of a pipeline; got "
            f"{type(opened.estimator).__name__}."
        )


def as_rows(X: Any) -> tuple[Any, bool]:
    """Rows of two dimensions, and whether there was but one."""
    if hasattr(X, "to_frame") and hasattr(X, "index"):
        return X.to_frame().T.infer_objects(), True
    if not hasattr(X, "shape"):
        X = np.asarray(X) if as_frame(X) is None else as_frame(X)
    if len(X.shape) == 1:
        return (X if sparse.issparse(X) else np.asarray(X)).reshape(1, -1), True
    if len(X.shape) != 2 or X.shape[0] == 0:
        raise ValueError(
            f"explain takes rows: found X of shape {tuple(X.shape)}, expected "
            "(n_features,) for one or (n_samples, n_features) for several."
        )
    return X, False


def _dense(row: Any) -> Floats:
    dense = row.toarray() if sparse.issparse(row) else row
    return np.asarray(dense, dtype=np.float64).ravel()
