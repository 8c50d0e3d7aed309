"""The choice of a setting for support cluster machines."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from papers._definition import Method
from papers._selection import Choice, Folds


def summary_search(
    method: Method, X: NDArray[Any], y: NDArray[Any], folds: Folds, seed: int
) -> Choice:
    """Try every setting on every fold, all of them on one clustering of it.

    Parameters
    ----------
    method : Method
        Its grid has only parameters that do not change the clusters.
    X, y : ndarray
        Training rows.
    folds : list of (train, test)
    seed : int

    Returns
    -------
    Choice
        Of equally good settings the first.
    """
    settings = list(ParameterGrid(dict(method.grid)))
    scores = np.zeros((len(folds), len(settings)))
    for line, (train, held) in zip(scores, folds, strict=True):
        first = method.estimator.make(seed).fit(X[train], y[train])
        for place, setting in enumerate(settings):
            model = clone(first).set_params(**setting).fit_summaries(first.summary_)
            line[place] = model.score(X[held], y[held])
    means = scores.mean(axis=0)
    best = int(np.argmax(means))
    return Choice(settings[best], 100 * float(means[best]))
