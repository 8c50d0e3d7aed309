"""What is measured on support cluster machines."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm import SupportClusterSVC
from papers._measures import Fitted
from papers.scm.models import party_bounds


def support_clusters(fitted: Fitted) -> Mapping[str, Any]:
    """Give the numbers of clusters and of support clusters."""
    model = fitted.model
    return {
        "n_clusters": int(model.summary_.n_clusters),
        "n_support": len(model.support_),
    }


def support_vectors(fitted: Fitted) -> Mapping[str, Any]:
    """Give the number of support vectors of an SVC."""
    return {"n_support": len(fitted.model.support_)}


def party_classes(fitted: Fitted) -> Mapping[str, Any]:
    """Give the rows of each class that each party has."""
    y = fitted.rows.y_train
    counts = {}
    for number, (first, end) in enumerate(pairwise(party_bounds(len(y))), 1):
        positive = int(np.count_nonzero(y[first:end]))
        counts[f"party_{number}_positive"] = positive
        counts[f"party_{number}_negative"] = int(end - first) - positive
    return counts


def pairs_of_classes(fitted: Fitted) -> Mapping[str, Any]:
    """Give mean error, clusters and support clusters of the pairs of classes.

    The model has several classes, all with clusters, and an SVM for each pair.
    """
    model, y = fitted.model, fitted.rows.y_test
    decisions = pair_decisions(model, fitted.rows.X_test)
    pairs = list(combinations(model.classes_, 2))
    errors = []
    for decision, (first, second) in zip(decisions.T, pairs, strict=True):
        own = (y == first) | (y == second)
        errors.append(np.mean((decision[own] > 0) != (y[own] == first)))
    return {
        "n_pairs": len(pairs),
        "pair_error": 100 * float(np.mean(errors)),
        "clusters_per_pair": 2 * model.summary_.n_clusters / len(model.classes_),
        "support_per_pair": np.count_nonzero(model.dual_coef_) / len(pairs),
    }


def pair_decisions(model: SupportClusterSVC, X: NDArray[Any]) -> NDArray[np.float64]:
    """Give the decisions of the pairs (0, 1), (0, 2), ..., positive for the first."""
    return -model._fitted_machine().decide(X, model.n_jobs)
