"""A global model that local ones add to, and its decisions on unseen rows."""

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
from localsvm.estimators._local.model import GlobalModel
from localsvm.estimators._regional import ClusteredSVC
from localsvm.rows import Fold, Rows, out_of_fold, stratified_folds

GLOBAL_MODELS = one_of(None) | with_methods("fit", "decision_function")
_N_FOLDS = 3
# A time limit has to be above zero.
_SHORTEST = 1e-6


@dataclass(frozen=True)
class Prior:
    """A global model with its share in the decisions, and what it says of the rows.

    Attributes
    ----------
    model : GlobalModel
    unseen : ndarray of shape (n_rows, n_outputs)
        Decision on each fitted row by a model that has not seen it.
    shrink : float
    """

    model: GlobalModel
    unseen: NDArray[np.float64]
    shrink: float = 1.0

    @property
    def of_rows(self) -> NDArray[np.float64]:
        """Decisions that the local models of the rows add to."""
        return self.shrink * self.unseen


def fit_global(
    classifier: Any,
    rows: Rows,
    classes: NDArray[Any],
    seed: int,
    n_jobs: Any,
    max_time: float | None = None,
) -> Prior:
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
    Prior
        Of shrink 1.

    Notes
    -----
    Rows are decided in three folds, four fits in all. The leave-one-out estimate from
    the duals would cost one fit, but where many duals are at their bound it is far too
    pessimistic to learn from.
    """
    if len(np.unique(rows.class_index)) < 2:
        model = GlobalModel(None, classes)
        return Prior(model, model.decide(rows.X))
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
) -> Prior:
    def fit(index: NDArray[np.intp]) -> GlobalModel:
        return GlobalModel(_fit_rows(classifier, rows.take(index), y[index]), classes)

    def decide(fold: Fold) -> NDArray[np.float64]:
        return fit(fold.train).decide(rows.X[fold.test])

    model = fit(np.arange(rows.n_rows))
    folds = stratified_folds(rows.class_index, _N_FOLDS)
    return Prior(model, out_of_fold(model.decide(rows.X), folds, decide))


def _fit_rows(classifier: Any, rows: Rows, y: NDArray[Any]) -> Any:
    classifier = clone(classifier)
    if has_fit_parameter(classifier, "sample_weight"):
        return classifier.fit(rows.X, y, sample_weight=rows.penalty_weight)
    return classifier.fit(rows.X, y)
