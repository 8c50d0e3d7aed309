"""A global model that local ones are drawn to, and what it says of unseen rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import has_fit_parameter

from localsvm._checks import (
    level_of_caller,
    one_of,
    scales_already_told,
    with_methods,
)
from localsvm._seeds import seeded_clone
from localsvm.estimators._regional import ClusteredSVC
from localsvm.rows import Fold, Rows, out_of_fold, stratified_folds

GLOBAL_MODELS = one_of(None) | with_methods("fit", "decision_function")
_N_FOLDS = 3
# A time limit has to be above zero.
_SHORTEST = 1e-6


@dataclass(frozen=True)
class GlobalModel:
    """A fitted classifier whose decisions have one column per output.

    Parameters
    ----------
    classifier : fitted classifier or None
        None decides nothing: zero.
    classes : ndarray of shape (n_classes,)
        All classes; those that the classifier does not know get zero.
    """

    classifier: Any
    classes: NDArray[Any]

    def decide(self, X: Any) -> NDArray[np.float64]:
        """Decisions of shape (n_samples, 1) for two classes, else (.., n_classes)."""
        if self.classifier is None:
            n_classes = len(self.classes)
            return np.zeros((X.shape[0], 1 if n_classes == 2 else n_classes))
        return self.by_output(self.classifier.decision_function(X), X.shape[0])

    def gradients(self, X: Any) -> NDArray[np.float64]:
        """Gradients of the decisions, of shape (n_samples, n_outputs, n_features)."""
        shape = (*self.decide(X).shape, X.shape[1])
        if self.classifier is None:
            return np.zeros(shape)
        if not hasattr(self.classifier, "local_coef"):
            raise AttributeError(
                "Weights need a global_model with local_coef, such as ClusteredSVC; "
                f"got {type(self.classifier).__name__}."
            )
        coef = self.classifier.local_coef(X)[0]
        columns = [
            self.by_output(coef[:, :, feature], X.shape[0])
            for feature in range(X.shape[1])
        ]
        return np.stack(columns, axis=2)

    def by_output(self, scores: Any, n_rows: int) -> NDArray[np.float64]:
        """Check decisions of the classifier and give each class its column."""
        decisions: NDArray[np.float64] = np.asarray(scores, dtype=np.float64)
        known = np.searchsorted(self.classes, self.classifier.classes_)
        columns = 1 if len(known) == 2 else len(known)
        if decisions.size != n_rows * columns or not np.isfinite(decisions).all():
            raise ValueError(
                f"global_model={self.classifier!r} gave decisions of shape "
                f"{decisions.shape}; expected {columns} finite numbers for each of "
                f"{n_rows} rows."
            )
        decisions = np.ascontiguousarray(decisions.reshape(-1, columns))
        if len(self.classes) == 2:
            return decisions
        if len(known) == 2:
            decisions = np.hstack([-decisions, decisions])
        by_class = np.zeros((n_rows, len(self.classes)))
        by_class[:, known] = decisions
        return by_class


def fit_global(
    classifier: Any,
    rows: Rows,
    classes: NDArray[Any],
    seed: int,
    n_jobs: Any,
    max_time: float | None = None,
) -> tuple[GlobalModel, NDArray[np.float64]]:
    """Fit the model, and decide each row by one that has not seen it.

    Parameters
    ----------
    classifier : classifier or None
        None is :class:`ClusteredSVC`.
    rows : Rows
        Distinct rows of positive weight.
    classes : ndarray of shape (n_classes,)
    seed : int
        Used where the classifier has a ``random_state`` that is None.
    n_jobs : int or None
        Threads of the default.
    max_time : float or None, default=None
        Seconds of the default, for all its fits.

    Returns
    -------
    model : GlobalModel
    unseen : ndarray of shape (n_samples, n_outputs)

    Notes
    -----
    Rows are decided in three folds, four fits in all. The leave-one-out estimate from
    the duals would cost one fit, but where many duals are at their bound it is far too
    pessimistic to learn from.
    """
    if len(np.unique(rows.class_index)) < 2:
        model = GlobalModel(None, classes)
        return model, model.decide(rows.X)
    y = classes[rows.class_index]
    if classifier is None:
        limit = None if max_time is None else max(max_time, _SHORTEST) / (1 + _N_FOLDS)
        classifier = ClusteredSVC(n_jobs=n_jobs, max_time=limit)
    with scales_already_told(), _warning_once():
        return _fit_in_folds(seeded_clone(classifier, lambda: seed), rows, y, classes)


@contextmanager
def _warning_once() -> Iterator[None]:
    """Let the last of several warnings of convergence through, and all others."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", ConvergenceWarning)
        yield
    endings = [each for each in seen if each.category is ConvergenceWarning]
    for each in seen:
        if each not in endings[:-1]:
            warnings.warn(each.message, stacklevel=level_of_caller())


def _fit_in_folds(
    classifier: Any, rows: Rows, y: NDArray[Any], classes: NDArray[Any]
) -> tuple[GlobalModel, NDArray[np.float64]]:
    def fit(index: NDArray[np.intp]) -> GlobalModel:
        return GlobalModel(_fit_rows(classifier, rows.take(index), y[index]), classes)

    def decide(fold: Fold) -> NDArray[np.float64]:
        return fit(fold.train).decide(rows.X[fold.test])

    model = fit(np.arange(rows.n_rows))
    folds = stratified_folds(rows.class_index, _N_FOLDS)
    return model, out_of_fold(model.decide(rows.X), folds, decide)


def _fit_rows(classifier: Any, rows: Rows, y: NDArray[Any]) -> Any:
    classifier = clone(classifier)
    if has_fit_parameter(classifier, "sample_weight"):
        return classifier.fit(rows.X, y, sample_weight=rows.penalty_weight)
    return classifier.fit(rows.X, y)
