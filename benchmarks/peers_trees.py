"""Boosted trees, each tuned with the same budget, and two peers with their defaults.

Tuning: a default and further settings drawn at random by the seed, each fitted to four
fifths of the training rows and stopped early by the log loss of the last fifth, the
same for all; the setting of the least log loss is fitted again to all training rows,
with the number of trees found. All get texts as native categories and missing values as
they are; dates are day, day of the year, weekday and hour. One thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import catboost
import lightgbm
import numpy as np
import pandas as pd
import xgboost
from interpret.glassbox import ExplainableBoostingClassifier
from numpy.typing import NDArray
from peers_tasks import Split
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import train_test_split

Setting = dict[str, Any]
Scores = Callable[[Any], NDArray[np.float64]]


class Fitted(NamedTuple):
    """How to score rows to predict, as loaded, and what was chosen."""

    scores: Scores
    chosen: Setting


class Budget(NamedTuple):
    """What tuning may cost."""

    settings: int
    trees: int
    patience: int
    rates: tuple[float, ...]


USUAL = Budget(6, 500, 30, (0.05, 0.1))
WIDE = Budget(3, 150, 15, (0.15, 0.25))  # of many columns times classes
MOST_USUAL_CELLS = 700


def budget_of(split: Split) -> Budget:
    """Budget of a task, the same for all boosted trees."""
    return USUAL if split.cells <= MOST_USUAL_CELLS else WIDE


class TreeColumns:
    """Columns as trees take them; levels of categories are those of training rows."""

    def __init__(self, split: Split) -> None:
        self.split = split
        self.levels: dict[str, pd.Index] = {}
        if split.is_table:
            for name in split.X_train:
                values = split.X_train[name]
                if name not in split.dates and values.dtype.kind not in "iufb":
                    levels = values.dropna().astype(str).unique()
                    self.levels[name] = pd.Index(np.sort(levels.astype(object)))

    def frame(self, X: Any) -> Any:
        """Frame with categorical columns; arrays as they are."""
        if not self.split.is_table:
            return X
        columns: dict[str, Any] = {}
        for name in X:
            if name in self.levels:
                texts = X[name].astype(object)
                columns[name] = pd.Categorical(texts, categories=self.levels[name])
            elif name in self.split.dates:
                columns.update(_date_parts(name, X[name]))
            else:
                columns[name] = X[name].to_numpy(dtype=float)
        return pd.DataFrame(columns)

    def coded(self, X: Any) -> NDArray[np.float64]:
        """Matrix with the numbers of the levels."""
        if not self.split.is_table:
            return X
        frame = self.frame(X)
        for name in self.levels:
            codes = frame[name].cat.codes.to_numpy(dtype=float)
            frame[name] = np.where(codes < 0, np.nan, codes)
        return frame.to_numpy(dtype=float)

    def named(self, X: Any) -> Any:
        """Frame with texts, missing ones too, for CatBoost."""
        if not self.split.is_table:
            return X
        frame = self.frame(X)
        for name in self.levels:
            texts = frame[name].astype(object)
            frame[name] = texts.where(texts.notna(), "(missing)").astype(str)
        return frame


def _date_parts(name: str, values: Any) -> dict[str, Any]:
    when = pd.to_datetime(values, utc=True, format="mixed")
    days = (when - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
    parts = {
        "": days,
        "_of_year": when.dt.dayofyear,
        "_of_week": when.dt.dayofweek,
        "_hour": when.dt.hour,
    }
    return {name + part: each.to_numpy(dtype=float) for part, each in parts.items()}


@dataclass(frozen=True)
class Rows:
    """Training rows as a method takes them, and a fifth of them held out."""

    X: Any
    y: NDArray[np.int64]
    fit: NDArray[np.intp]
    held: NDArray[np.intp]

    @classmethod
    def of(cls, X: Any, y: NDArray[np.int64], seed: int) -> Rows:
        """Hold out a stratified fifth."""
        fit, held = train_test_split(
            np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed
        )
        return cls(X, y, fit, held)

    def part(self, index: NDArray[np.intp]) -> tuple[Any, NDArray[np.int64]]:
        """Take some of the rows."""
        X = self.X.iloc[index] if isinstance(self.X, pd.DataFrame) else self.X[index]
        return X, self.y[index]


Early = Callable[[Rows, Setting, Budget], tuple[float, int]]


def settings_of(
    ranges: dict[str, tuple[Any, ...]], budget: Budget, seed: int
) -> Iterator[Setting]:
    """Draw settings: the first of each range, then random ones."""
    ranges = {**ranges, "learning_rate": budget.rates}
    rng = np.random.default_rng(seed)
    yield {name: values[0] for name, values in ranges.items()}
    for _ in range(budget.settings - 1):
        yield {
            name: values[rng.integers(len(values))] for name, values in ranges.items()
        }


def tuned(
    rows: Rows, ranges: dict[str, tuple[Any, ...]], budget: Budget, early: Early
) -> Setting:
    """Choose by the log loss of the rows held out."""
    found = []
    for setting in settings_of(ranges, budget, 0):
        loss, trees = early(rows, setting, budget)
        found.append((loss, {**setting, "trees": trees}))
    return min(found, key=lambda pair: pair[0])[1]


def _positive(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """One column less a half for two classes, so that the sign decides."""
    two = probabilities.shape[1] == 2
    return probabilities[:, 1] - 0.5 if two else probabilities


LIGHTGBM_RANGES = {
    "num_leaves": (31, 7, 15, 63),
    "min_child_samples": (20, 5, 10, 40),
    "colsample_bytree": (1.0, 0.3, 0.6),
    "subsample": (1.0, 0.7),
    "reg_lambda": (0.0, 1.0, 10.0),
}


def make_lightgbm(setting: Setting, trees: int) -> lightgbm.LGBMClassifier:
    """Build the model of a setting."""
    given = {name: value for name, value in setting.items() if name != "trees"}
    return lightgbm.LGBMClassifier(
        n_estimators=trees,
        subsample_freq=1,
        n_jobs=1,
        random_state=0,
        deterministic=True,
        force_row_wise=True,
        verbose=-1,
        **given,
    )


def early_lightgbm(rows: Rows, setting: Setting, budget: Budget) -> tuple[float, int]:
    """Log loss and trees of one setting."""
    model = make_lightgbm(setting, budget.trees)
    stop = lightgbm.early_stopping(budget.patience, verbose=False)
    model.fit(*rows.part(rows.fit), eval_set=[rows.part(rows.held)], callbacks=[stop])
    (loss,) = model.best_score_["valid_0"].values()
    return loss, max(1, model.best_iteration_)


def fit_lightgbm(split: Split, seed: int) -> Fitted:
    """Tune LightGBM."""
    columns = TreeColumns(split)
    rows = Rows.of(columns.frame(split.X_train), split.y_train, seed)
    chosen = tuned(rows, LIGHTGBM_RANGES, budget_of(split), early_lightgbm)
    model = make_lightgbm(chosen, chosen["trees"]).fit(rows.X, rows.y)
    return Fitted(lambda X: _positive(model.predict_proba(columns.frame(X))), chosen)


XGBOOST_RANGES = {
    "max_depth": (6, 3, 4, 8),
    "min_child_weight": (1.0, 3.0, 10.0),
    "colsample_bytree": (1.0, 0.3, 0.6),
    "subsample": (1.0, 0.7),
    "reg_lambda": (1.0, 0.1, 10.0),
}


def make_xgboost(setting: Setting, trees: int, **given: Any) -> xgboost.XGBClassifier:
    """Build the model of a setting."""
    setting = {name: value for name, value in setting.items() if name != "trees"}
    return xgboost.XGBClassifier(
        n_estimators=trees,
        tree_method="hist",
        enable_categorical=True,
        n_jobs=1,
        random_state=0,
        **setting,
        **given,
    )


def early_xgboost(rows: Rows, setting: Setting, budget: Budget) -> tuple[float, int]:
    """Log loss and trees of one setting."""
    metric = "logloss" if rows.y.max() == 1 else "mlogloss"
    model = make_xgboost(
        setting,
        budget.trees,
        early_stopping_rounds=budget.patience,
        eval_metric=metric,
    )
    model.fit(*rows.part(rows.fit), eval_set=[rows.part(rows.held)], verbose=False)
    return float(model.best_score), model.best_iteration + 1


def fit_xgboost(split: Split, seed: int) -> Fitted:
    """Tune XGBoost."""
    columns = TreeColumns(split)
    rows = Rows.of(columns.frame(split.X_train), split.y_train, seed)
    chosen = tuned(rows, XGBOOST_RANGES, budget_of(split), early_xgboost)
    model = make_xgboost(chosen, chosen["trees"]).fit(rows.X, rows.y)
    return Fitted(lambda X: _positive(model.predict_proba(columns.frame(X))), chosen)


CATBOOST_RANGES = {
    "depth": (6, 3, 4, 8),
    "l2_leaf_reg": (3.0, 1.0, 10.0),
    "random_strength": (1.0, 0.3, 3.0),
    "bagging_temperature": (1.0, 0.0),
}


def make_catboost(
    setting: Setting, trees: int, categories: list[str]
) -> catboost.CatBoostClassifier:
    """Build the model of a setting."""
    given = {name: value for name, value in setting.items() if name != "trees"}
    return catboost.CatBoostClassifier(
        iterations=trees,
        cat_features=categories,
        bootstrap_type="Bayesian",
        thread_count=1,
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
        **given,
    )


def fit_catboost(split: Split, seed: int) -> Fitted:
    """Tune CatBoost."""
    columns = TreeColumns(split)
    categories = list(columns.levels)
    rows = Rows.of(columns.named(split.X_train), split.y_train, seed)

    def early(rows: Rows, setting: Setting, budget: Budget) -> tuple[float, int]:
        model = make_catboost(setting, budget.trees, categories)
        model.fit(
            *rows.part(rows.fit),
            eval_set=rows.part(rows.held),
            early_stopping_rounds=budget.patience,
        )
        (loss,) = model.get_best_score()["validation"].values()
        return loss, model.get_best_iteration() + 1

    chosen = tuned(rows, CATBOOST_RANGES, budget_of(split), early)
    model = make_catboost(chosen, chosen["trees"], categories).fit(rows.X, rows.y)
    return Fitted(lambda X: _positive(model.predict_proba(columns.named(X))), chosen)


def fit_ebm(split: Split, seed: int) -> Fitted:
    """Fit an explainable boosting machine with its defaults."""
    columns = TreeColumns(split)
    model = ExplainableBoostingClassifier(n_jobs=1, random_state=seed)
    model.fit(columns.frame(split.X_train), split.y_train)
    return Fitted(lambda X: _positive(model.predict_proba(columns.frame(X))), {})


def fit_extra_trees(split: Split, seed: int) -> Fitted:
    """Fit 300 trees with their defaults to numbers of the levels."""
    columns = TreeColumns(split)
    model = ExtraTreesClassifier(300, n_jobs=1, random_state=seed)
    model.fit(columns.coded(split.X_train), split.y_train)
    return Fitted(lambda X: _positive(model.predict_proba(columns.coded(X))), {})
