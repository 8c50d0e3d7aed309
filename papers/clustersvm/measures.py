"""What the tables and figures show of a fitted model."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from localsvm.cluster import PDDP
from papers._measures import Fitted
from papers.clustersvm.methods import INTERIOR_POINT
from papers.clustersvm.problems import CENTERS


def rows_used(fitted: Fitted) -> Mapping[str, Any]:
    """Give the rows in the last problem of each classifier, and how exact it is."""
    return {
        **_by_class([used[-1] for used in fitted.model.n_rows_used_]),
        "n_passes": int(fitted.model.passes_.max()),
        "violation": float(fitted.model.violation_),
        "exact": 100 * int(fitted.model.exact_),
    }


def all_rows_used(fitted: Fitted) -> Mapping[str, Any]:
    """Give the same of a model that does not choose among rows."""
    return _by_class([len(fitted.rows.y_train)] * len(fitted.model.classes_))


def clustering_time(fitted: Fitted) -> Mapping[str, Any]:
    """Give the CPU seconds of clustering each class, done again."""
    X, y = fitted.rows.X_train, fitted.rows.y_train
    classes = [np.ascontiguousarray(X[y == label]) for label in np.unique(y)]
    clusterer = fitted.model.clusterer or PDDP()
    start = time.process_time()
    for rows in classes:
        clone(clusterer).fit(rows)
    return {"clustering_seconds": time.process_time() - start}


def relative_difference(fitted: Fitted) -> Mapping[str, Any]:
    """Give RD of Eq. 3.20: how far the error rate is from that of the exact SVM."""
    rows = fitted.rows
    exact = clone(fitted.model).set_params(reduction=None, **INTERIOR_POINT)
    exact.fit(rows.X_train, rows.y_train)
    true = float(np.mean(exact.predict(rows.X_test) != rows.y_test))
    found = float(np.mean(fitted.predicted != rows.y_test))
    return {"relative_difference": abs(found - true) / true}


def bayes_error(fitted: Fitted) -> Mapping[str, Any]:
    """Give the error of the best rule for the artificial problem, in percent."""
    rows = fitted.rows
    away = np.linalg.norm(rows.X_test[:, np.newaxis] - CENTERS, axis=2)
    wrong = np.argmin(away, axis=1) != rows.y_test
    return {"bayes_error": 100 * float(np.mean(wrong))}


def _by_class(used: Sequence[int]) -> dict[str, Any]:
    numbers = {f"n_train_{place}": n_rows for place, n_rows in enumerate(used, start=1)}
    return {**numbers, "n_train": float(np.mean(used))}
