"""Choice of settings for global SVMs, kNNSVM and FastLSVM.

Trying every setting on every fold, as the paper does, takes days. Here the kernel matrix
of a neighbourhood is computed once for all folds and settings; held-out rows are emptied
boxes, and each C starts at the solution of the one before (`LocalSVCCV`).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._clock import StageClock
from localsvm.estimators import LocalSVCCV
from localsvm.rows import Rows
from papers._definition import Method
from papers._selection import Choice, Folds, grid_search

# As a number of neighbours: all training rows, whatever their number.
ALL = 1_000_000
# Rows that a search asks for at most, about.
_TESTED_ROWS = 30_000
# The order of the settings matters here, not the last digit.
_MAX_ITER = 3000
# Local models of a higher degree take most of the time.
_LARGEST_LOCAL_DEGREE = 3


def global_search(
    method: Method, X: NDArray[Any], y: NDArray[Any], folds: Folds, seed: int
) -> Choice:
    """Choose for one SVM of all rows; arguments as of ``grid_search``."""
    return _search(method, X, y, folds, seed, share=1)


def local_search(
    method: Method, X: NDArray[Any], y: NDArray[Any], folds: Folds, seed: int
) -> Choice:
    """Choose for FastLSVM, whose models answer a quarter of their rows."""
    return _search(method, X, y, folds, seed, share=4)


def neighbor_search(
    method: Method, X: NDArray[Any], y: NDArray[Any], folds: Folds, seed: int
) -> Choice:
    """Choose for kNNSVM as if a model answered the eighth of its rows, not one."""
    return _search(method, X, y, folds, seed, share=8)


def exact_search(
    method: Method, X: NDArray[Any], y: NDArray[Any], folds: Folds, seed: int
) -> Choice:
    """Try every setting; more neighbours than a fold has rows are all of its rows."""
    if "n_neighbors" not in method.grid:
        return grid_search(method, X, y, folds, seed)
    most = min(len(train) for train, _ in folds)
    sizes = list(dict.fromkeys(min(k, most) for k in method.grid["n_neighbors"]))
    clipped = replace(method, grid={**method.grid, "n_neighbors": sizes})
    choice = grid_search(clipped, X, y, folds, seed)
    k = choice.params["n_neighbors"]
    params = {**choice.params, "n_neighbors": len(y) if k == most else k}
    return Choice(params, choice.score)


def _search(
    method: Method,
    X: NDArray[Any],
    y: NDArray[Any],
    folds: Folds,
    seed: int,
    share: int,
) -> Choice:
    degrees = method.grid.get("degree", (1,))
    wanted = [min(k, len(y)) for k in method.grid.get("n_neighbors", (ALL,))]
    best: Choice | None = None
    for degree, k in product(degrees, dict.fromkeys(wanted)):
        is_local = k < len(y)
        if is_local and degree > _LARGEST_LOCAL_DEGREE:
            continue
        assigned = max(1, k // share) if is_local else k
        model = _cross_validated(method, degree, k, assigned, folds, seed).fit(X, y)
        if best is None or 100 * model.best_score_ > best.score:
            found = {**model.best_params_, "degree": degree}
            chosen = {name: found[name] for name in method.grid}
            best = Choice(chosen, 100 * float(model.best_score_))
    assert best is not None
    return best


def _cross_validated(
    method: Method, degree: int, k: int, assigned: int, folds: Folds, seed: int
) -> LocalSVCCV:
    params = method.estimator.params
    return _SearchAlone(
        kernel=params.get("kernel", "rbf"),
        degree=degree,
        coef0=params.get("coef0", 0.0),
        Cs=list(method.grid["C"]),
        gammas=list(method.grid.get("gamma", (1.0,))),
        n_neighbors=[k],
        n_assigned=assigned,
        cv=folds,
        scoring=_share_of_right,
        max_regions=max(1, 2 * _TESTED_ROWS // assigned),
        max_iter=_MAX_ITER,
        random_state=seed,
    )


class _SearchAlone(LocalSVCCV):
    """Ends with the choice, since others fit the model."""

    def _fit(self, rows: Rows) -> None:
        options = self._options(self._draw_seed(), StageClock())
        self._store_choice(self._choose(rows, options))
        self.fit_report_ = {}

    def _become_familiar(self, rows: Rows) -> None:
        """Keep no row: there is no model whose regions it could be in."""


def _share_of_right(model: Any, X: NDArray[Any], y: NDArray[Any]) -> float:
    # Scikit-learn's own takes longer than the models of a small data set.
    return float(np.mean(model.predict(X) == y))
