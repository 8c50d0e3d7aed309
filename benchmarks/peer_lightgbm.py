"""Search for the settings of LightGBM, on training rows as published.

One setting after the other is varied, on some of the rows; the best two are then
fitted to everything that is not held out, and the better one again with the smaller
learning rate. The number of trees is where the error on held out rows is least.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np
from peer_svc import Part, Rows

NAMES = [
    "num_leaves",
    "min_child_samples",
    "colsample_bytree",
    "learning_rate",
    "max_bin",
]

Setting = dict[str, Any]


@dataclass(frozen=True)
class Limits:
    """What is tried, and how long.

    Parameters
    ----------
    trees : int
        The most trees per class.
    patience : int
        Trees without a smaller error after which a fit stops.
    leaves : tuple of int
    columns : tuple of two floats
        Share of the columns that a tree may use: first and second choice.
    bins : int
        Most values of a column that are told apart.
    slower : float or None
        The smaller learning rate.
    search_rows : int
        Rows of the fits that are not of full size.
    full_fits : int
        How many settings are compared at full size.
    """

    trees: int = 1500
    patience: int = 150
    leaves: tuple[int, ...] = (31, 127, 255)
    columns: tuple[float, float] = (1.0, 0.6)
    bins: int = 255
    slower: float | None = 0.05
    search_rows: int = 12_000
    full_fits: int = 2


def make_lightgbm(setting: Setting, n_jobs: int = 1) -> lightgbm.LGBMClassifier:
    """Boosted trees for rows as published."""
    return lightgbm.LGBMClassifier(
        **{name: setting[name] for name in [*NAMES, "n_estimators"]},
        n_jobs=n_jobs,
        random_state=0,
        verbose=-1,
    )


class TreeSearch:
    """Fits settings to parts of a task's training rows, each once."""

    def __init__(
        self, task: str, rows: tuple[Rows, Rows], parts: list[Part], limits: Limits
    ) -> None:
        self.task, self.parts, self.limits = task, parts, limits
        self.X, self.y = rows
        self.results: list[Setting] = []

    def fit(self, setting: Setting, n_rows: int | None = None) -> Setting:
        """Add the error, the number of trees and the seconds to a setting."""
        start = time.process_time()
        ends = [self._fit_part(setting, part, n_rows) for part in self.parts]
        errors, trees = np.mean(ends, axis=0)
        result = {
            **setting,
            "n_estimators": round(float(trees)),
            "validation_error": round(100 * float(errors), 3),
            "fitted_rows": len(self.parts[0].fit[:n_rows]),
            "cpu_seconds": round(time.process_time() - start, 1),
        }
        self.results.append(result)
        values = ", ".join(f"{key}={value}" for key, value in result.items())
        print(f"{self.task} LightGBM: {values}", flush=True)
        return result

    def _fit_part(
        self, setting: Setting, part: Part, n_rows: int | None
    ) -> tuple[float, int]:
        """Error and number of trees in one part."""
        fit, held = part.fit[:n_rows], part.held
        metric = "binary_error" if len(np.unique(self.y)) == 2 else "multi_error"
        model = make_lightgbm({**setting, "n_estimators": self.limits.trees})
        model.set_params(metric=metric)
        model.fit(
            self.X[fit],
            self.y[fit],
            eval_set=[(self.X[held], self.y[held])],
            callbacks=[lightgbm.early_stopping(self.limits.patience, verbose=False)],
        )
        return model.best_score_["valid_0"][metric], model.best_iteration_

    def vary(self, n_rows: int | None) -> list[Setting]:
        """Vary one setting after the other, from the best so far; best first."""
        limits = self.limits
        first = {
            "min_child_samples": 20,
            "colsample_bytree": limits.columns[0],
            "learning_rate": 0.1,
            "max_bin": limits.bins,
        }
        found = [
            self.fit({"num_leaves": leaves, **first}, n_rows)
            for leaves in limits.leaves
        ]
        changes = [{"colsample_bytree": limits.columns[1]}, {"min_child_samples": 5}]
        for change in changes:
            found.append(self.fit({**_plain(_best(found)), **change}, n_rows))
        return sorted(found, key=_error)


def tune(search: TreeSearch, order: list[Setting] | None = None) -> Setting:
    """Choose a setting; with an order only those are fitted, at full size."""
    start = time.process_time()
    n_fit = len(search.parts[0].fit)
    found = [] if order else search.vary(min(n_fit, search.limits.search_rows))
    if order or n_fit > search.limits.search_rows:
        best = (order or found)[: search.limits.full_fits]
        found = [search.fit(_plain(setting)) for setting in best]
    if search.limits.slower and not order:
        slower = {"learning_rate": search.limits.slower}
        found.append(search.fit({**_plain(_best(found)), **slower}))
    compared = sorted(found, key=_error)[:6]
    chosen = {key: compared[0][key] for key in [*NAMES, "n_estimators"]}
    return {
        **chosen,
        "validation_error": compared[0]["validation_error"],
        "validation_rows": sum(len(part.held) for part in search.parts),
        "fitted_rows": n_fit,
        "most_trees": search.limits.trees,
        "full_size": True,
        "tried": len(search.results),
        "tuning_cpu_seconds": round(time.process_time() - start, 1),
        "compared": compared,
    }


def _plain(setting: Setting) -> Setting:
    return {name: setting[name] for name in NAMES}


def _error(setting: Setting) -> float:
    return float(setting["validation_error"])


def _best(settings: list[Setting]) -> Setting:
    return min(settings, key=_error)
