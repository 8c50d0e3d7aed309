"""The choice of a method's setting, on training rows only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    ParameterGrid,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from papers._definition import Method, Part, Selection

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


@dataclass(frozen=True)
class Choice:
    """A setting and its mean accuracy on held-out training rows, in percent.

    Parameters
    ----------
    params : mapping
    score : float
    """

    params: Mapping[str, Any]
    score: float


def choose(
    method: Method, selection: Selection, X: NDArray[Any], y: NDArray[Any]
) -> Choice:
    """Choose from the grid of a method; X and y are training rows."""
    rows = _sample(y, selection)
    X, y = X[rows], y[rows]
    search = method.search or grid_search
    choice: Choice = search(method, X, y, _folds(y, selection), selection.seed)
    return choice


def grid_search(
    method: Method, X: NDArray[Any], y: NDArray[Any], folds: Folds, seed: int
) -> Choice:
    """Try every setting on every fold; of equal ones the first is taken.

    Parameters
    ----------
    method : Method
    X, y : ndarray
        Training rows.
    folds : list of (train, test)
        Positions of rows to fit and to test.
    seed : int
        Of the models.
    """
    settings = _in_order(method.grid)
    scores = np.zeros((len(folds), len(settings)))
    for line, (train, test) in zip(scores, folds, strict=True):
        X_fit, y_fit, X_held, y_held = X[train], y[train], X[test], y[test]
        for place, setting in enumerate(settings):
            model = method.estimator.make(seed, **setting).fit(X_fit, y_fit)
            line[place] = np.mean(model.predict(X_held) == y_held)
    means = scores.mean(axis=0)
    best = int(np.argmax(means))
    return Choice(settings[best], 100 * float(means[best]))


def clustered_search(
    method: Method, X: NDArray[Any], y: NDArray[Any], folds: Folds, seed: int
) -> Choice:
    """As :func:`grid_search` for ClusteredSVC: one clustering per fold and number.

    The grid may have ``C``, ``global_reg`` and ``n_regions``.
    """
    from localsvm.estimators import ClusteredSVCCV

    params = dict(method.estimator.params)
    fixed = {name: params.pop(name, None) for name in _CLUSTERED_GRID}
    grids: dict[str, Any] = {
        plural: list(method.grid.get(name, [fixed[name]]))
        for name, plural in _CLUSTERED_GRID.items()
    }
    model = ClusteredSVCCV(**params, **grids, cv=folds, random_state=seed).fit(X, y)
    chosen = {name: model.best_params_[name] for name in method.grid}
    return Choice(chosen, 100 * float(model.best_score_))


_CLUSTERED_GRID = {"C": "Cs", "global_reg": "global_regs", "n_regions": "n_regions"}


def single_svm_search(
    method: Method, X: NDArray[Any], y: NDArray[Any], folds: Folds, seed: int
) -> Choice:
    """Choose the C of a boosted SVM as that of one SVM alone."""
    weak: Part = method.estimator.params["estimator"]
    single = Method(method.name, weak, {"C": method.grid["estimator__C"]})
    choice = grid_search(single, X, y, folds, seed)
    return Choice({"estimator__C": choice.params["C"]}, choice.score)


def _in_order(grid: Mapping[str, Any]) -> list[dict[str, Any]]:
    # ParameterGrid sorts names; the order of the grid's values decides ties.
    return [dict(setting) for setting in ParameterGrid(dict(grid))]


def _sample(y: NDArray[Any], selection: Selection) -> Any:
    if selection.max_rows is None or selection.max_rows >= len(y):
        return slice(None)
    rng = np.random.default_rng(selection.seed)
    return rng.permutation(len(y))[: selection.max_rows]


def _folds(y: NDArray[Any], selection: Selection) -> Folds:
    if selection.n_folds == 1:
        splitter = StratifiedShuffleSplit(
            1, test_size=selection.held_out, random_state=selection.seed
        )
    else:
        splitter = StratifiedKFold(
            selection.n_folds, shuffle=True, random_state=selection.seed
        )
    return list(splitter.split(np.zeros(len(y)), y))
