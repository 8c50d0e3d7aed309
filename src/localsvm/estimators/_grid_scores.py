"""Scores of settings over folds, in the shape that scikit-learn's searches give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring

from localsvm.estimators._base import winning_labels
from localsvm.exceptions import DataError
from localsvm.rows import Rows


def score_decisions(
    classes: NDArray[Any], decisions: NDArray[Any], test: Rows, scoring: Any
) -> float:
    """Score decision values of test rows; None is accuracy with sample weights."""
    candidate = _ScoredFold(classes, decisions)
    scorer = check_scoring(candidate, scoring=scoring)
    y = classes[test.class_index]
    if scoring is None:
        return float(scorer(candidate, test.X, y, sample_weight=test.sample_weight))
    return float(scorer(candidate, test.X, y))


def best_setting(by_fold: NDArray[np.float64]) -> int:
    """Find the setting of the best mean score, the first of equals."""
    mean = by_fold.mean(axis=0)
    if np.isnan(mean).all():
        raise DataError("No setting could be scored. Scale the features.")
    return int(np.nanargmax(mean))


def results_table(
    names: Sequence[str], settings: Sequence[Any], by_fold: NDArray[np.float64]
) -> dict[str, NDArray[Any]]:
    """``cv_results_`` of settings, tuples of named values, scored on each fold."""
    mean = by_fold.mean(axis=0)
    descending = np.unique(-mean, return_inverse=True)[1]
    counts = np.bincount(descending)
    first_rank = np.concatenate([[0], np.cumsum(counts)[:-1]]) + 1
    return {
        **{
            f"param_{name}": np.array(values)
            for name, values in zip(names, zip(*settings, strict=True), strict=True)
        },
        "mean_test_score": mean,
        "std_test_score": by_fold.std(axis=0),
        "rank_test_score": first_rank[descending],
        **{f"split{i}_test_score": fold for i, fold in enumerate(by_fold)},
    }


class _ScoredFold(ClassifierMixin, BaseEstimator):
    """Decision values of one fold's test rows in the shape that scorers ask for."""

    def __init__(self, classes_: NDArray[Any], decisions: NDArray[Any]) -> None:
        self.classes_ = classes_
        self.decisions = decisions

    def fit(self, X: Any, y: Any) -> _ScoredFold:
        return self

    def decision_function(self, X: Any) -> NDArray[Any]:
        return self.decisions.ravel() if len(self.classes_) == 2 else self.decisions

    def predict(self, X: Any) -> NDArray[Any]:
        return winning_labels(self.classes_, self.decision_function(X))
