"""What every classifier of the library shares: checked data in, labels out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from localsvm._checks import (
    check_parameters,
    check_rows,
    check_sample_weight,
    unchanged_on_failure,
    warn_if_unscaled,
)
from localsvm._clock import StageClock
from localsvm._ranges import exact_range
from localsvm._seeds import draw_seed, seeded_clone
from localsvm.engine import (
    Blocks,
    Labels,
    is_in_blocks,
    is_lazy,
    open_blocks,
    predict_blocks,
    predict_lazily,
)
from localsvm.estimators._held_out import HeldOutMixin, sample_rows
from localsvm.estimators._metric import METRICS, fit_metric, map_rows
from localsvm.estimators._views import ViewMixin
from localsvm.estimators._weights import weigh_classes, weigh_rows
from localsvm.passes import Content
from localsvm.rows import Rows


class BaseLocalClassifier(HeldOutMixin, ViewMixin, ClassifierMixin, BaseEstimator, ABC):
    """Template of a classifier: validate, map, fit; change nothing if that fails.

    A method implements ``_check_parameters``, ``_fit`` and ``_decide``, which see rows
    as the metric maps them; ``_decide`` returns one column per class, or one in all for
    two classes. One that takes rows in blocks implements ``_fit_blocks``.
    """

    fit_report_: dict[str, Any]
    # Range of the training rows, by column; not known of rows in blocks.
    feature_range_: NDArray[np.float64]
    integer_features_: NDArray[np.bool_]
    # Whether columns of very different scales are worth a warning.
    _warns_of_scales = True
    # Whether rows may be sparse, and whether NaN stands for a missing value.
    _takes_sparse = True
    # Whether a fitted model may hold training rows.
    _keeps_rows = True
    _allows_nan = False

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or blocks
            float32 and float64 are used as they are, other types are converted. Rows
            that are not in memory, for methods that take them: a ``dask.array`` or
            ``dask.dataframe``; the path of a Parquet file or folder, or a
            ``pyarrow.dataset.Dataset``; :class:`~localsvm.engine.Batches` or an
            iterator of ``(X, y)`` or ``(X, y, sample_weight)``. How they are worked on
            is said by :func:`localsvm.engine.options`.
        y : array-like of shape (n_samples,)
            Class labels, numbers or strings. For Parquet and data frames of Dask the
            name of their column, for batches None.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of two equals the row twice, zero equals its absence. Where y is a
            name, a name too.

        Returns
        -------
        self : object
            The fitted estimator. If fitting fails or is interrupted, the estimator is
            left as it was.
        """
        if is_in_blocks(X):
            return self._fit_where_they_are(X, y, sample_weight)
        self._fit_by(self._fit, X, y, sample_weight)
        return self

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Signed confidence of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or blocks
            For a Dask collection the result is one, computed when it is asked for.
            Parquet and batches, as in ``fit``, are read block by block; the columns of
            Parquet files are found by their names, so the labels may be among them.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, positive means ``classes_[1]``.
        """
        if is_lazy(X):
            check_is_fitted(self)
            names = self._score_names()
            return predict_lazily(self, "decision_function", X, names, None)  # type: ignore[no-any-return]
        if is_in_blocks(X):
            return self._answer_blocks("decision_function", X)
        return self._score_rows(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or blocks
            For a Dask collection the result is one, computed when it is asked for.
            Parquet and batches, as in ``fit``, are read block by block; the columns of
            Parquet files are found by their names, so the labels may be among them.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        if is_lazy(X):
            check_is_fitted(self)
            return predict_lazily(self, "predict", X, None, self.classes_.dtype)  # type: ignore[no-any-return]
        if is_in_blocks(X):
            return self._answer_blocks("predict", X)
        scores = self._score_rows(X)
        return winning_labels(self.classes_, scores)

    def _check_settings(self) -> None:
        """Refuse a parameter whose value is wrong whatever the rows are."""
        if hasattr(self, "metric"):
            check_parameters(self, metric=METRICS)
        self._check_parameters()

    def _answer_blocks(self, method: str, X: Any) -> NDArray[Any]:
        """Call a method on rows in blocks, one block after the other."""
        check_is_fitted(self)
        return predict_blocks(self, method, X)

    def _score_rows(self, X: Any) -> NDArray[Any]:
        scores = self._decide(self._check_query_rows(X))
        return scores.ravel() if len(self.classes_) == 2 else scores

    def _score_names(self) -> list[Any] | None:
        """Name the columns of ``decision_function``; None if it has one dimension."""
        return None if len(self.classes_) == 2 else self.classes_.tolist()

    def _fit_where_they_are(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit to rows that are not in memory."""
        with unchanged_on_failure(self):
            self._check_settings()
            self._forget_held_out()
            with open_blocks(self, X, y, sample_weight) as rows:
                self._take_columns(rows.source.n_features, rows.source.feature_names)
                self._fit_blocks(rows)
        return self

    def _fit_blocks(self, rows: Blocks) -> None:
        raise TypeError(
            f"{type(self).__name__} takes rows in memory; found blocks "
            f"({rows.source.parts[0].place}, ...). Give an array, a data frame or a "
            "sparse matrix."
        )

    def _take_columns(self, n_features: int, names: tuple[str, ...] | None) -> None:
        """Set number and names of the columns, of rows whose range is not known."""
        for name in ("feature_range_", "integer_features_"):
            if hasattr(self, name):
                delattr(self, name)
        self.n_features_in_ = n_features
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _fit_by(
        self, method: Callable[[Rows], Any], X: Any, y: Any, sample_weight: Any
    ) -> Any:
        """Call ``method`` on the checked and mapped rows."""
        with unchanged_on_failure(self):
            self._check_settings()
            rows = self._check_training_rows(X, y, sample_weight)
            clock = StageClock()
            self._forget_held_out()
            mapped = self._learn_metric(rows, clock)
            result = method(mapped)
            if self._keeps_rows:
                with clock.stage("familiarity"):
                    self._become_familiar(sample_rows(mapped)[1])
            self.fit_report_ = clock.seconds | self.fit_report_
        return result

    @abstractmethod
    def _check_parameters(self) -> None: ...

    def _fit(self, rows: Rows) -> None:
        """Fit to rows in memory; a method over blocks sees them as one block."""
        self._fit_blocks(Blocks.in_memory(rows, self.n_jobs))

    @abstractmethod
    def _decide(self, X: Any) -> NDArray[Any]: ...

    def _check_training_rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        X, y = self._check_rows(X, y)
        check_classification_targets(y)
        self.classes_, class_index = np.unique(y, return_inverse=True)
        weight = check_sample_weight(sample_weight, X)
        penalty_weight = self._penalty_weight(y, class_index, weight)
        self._warn_of_scales(X)
        self.feature_range_, self.integer_features_ = exact_range(X, weight)
        return Rows(
            X,
            class_index.astype(np.int32),
            weight,
            penalty_weight,
            len(self.classes_),
        )

    def _check_rows(self, X: Any, *y: Any, reset: bool = True) -> Any:
        takes = {"accept_sparse": self._takes_sparse, "allow_nan": self._allows_nan}
        return check_rows(self, X, *y, reset=reset, **takes)

    def _accept(self, content: Content | None, blocks: Blocks) -> Labels:
        """Check what rows in memory are checked for before the fit.

        ``content`` is None where it was not looked at, as rows in memory are known.
        """
        if content is None:
            return Labels(self.classes_, np.ones(len(self.classes_)))
        classes, mass = content.totals.classes, content.totals.mass
        if not blocks.is_in_memory:
            content.require_weight()
            self.classes_ = classes
            self._penalty_weight(classes, np.arange(len(classes)), mass)
            self._warn_of_scales(content.ends)
        return Labels(self.classes_, self._class_weight(self.classes_, mass))

    def _warn_of_scales(self, X: Any) -> None:
        """Warn of columns that distances and penalties would not see."""
        mapped = getattr(self, "metric", None) is not None
        if self._warns_of_scales and not mapped:
            warn_if_unscaled(X, getattr(self, "feature_names_in_", None))

    def _learn_metric(self, rows: Rows, clock: StageClock) -> Rows:
        """Fit the metric, if there is one, and map the rows."""
        if not hasattr(self, "metric"):
            return rows
        self.metric_ = None
        if self.metric is None:
            return rows
        with clock.stage("metric"):
            y = self.classes_[rows.class_index]
            metric = seeded_clone(self.metric, self._draw_seed)
            self.metric_ = fit_metric(metric, rows.X, y, rows.sample_weight)
            return replace(rows, X=map_rows(self.metric_, rows.X))

    def _penalty_weight(
        self, y: NDArray[Any], class_index: NDArray[Any], weight: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Weights times class weights, of two classes at least and not all zero."""
        del y
        return weigh_rows(self.class_weight, self.classes_, class_index, weight)

    def _class_weight(
        self, y: NDArray[Any], weight: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Weight of each class; "balanced" counts rows by their sample weight."""
        return weigh_classes(self.class_weight, self.classes_, y, weight)

    def _check_query_rows(self, X: Any) -> Any:
        """Validate the rows and map them by the metric."""
        check_is_fitted(self)
        if is_in_blocks(X) and not is_lazy(X):
            raise TypeError(
                f"X={X!r:.80} is not in memory. This method of {type(self).__name__} "
                "takes arrays, data frames and sparse matrices; predict and "
                "decision_function take blocks as well."
            )
        rows = self._check_rows(X, reset=False)
        return map_rows(getattr(self, "metric_", None), rows)

    def _draw_seed(self) -> int:
        return draw_seed(self.random_state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = self._allows_nan
        return tags


def winning_labels(classes: NDArray[Any], scores: NDArray[Any]) -> NDArray[Any]:
    """Labels that decision values stand for, ``classes[0]`` and the first at a tie."""
    winner = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
    return np.asarray(classes[winner])
