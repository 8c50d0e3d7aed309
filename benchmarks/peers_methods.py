"""The library's classifiers with nothing set, SVMs of scikit-learn, and all methods.

The library's own see the raw matrix; of a table the codes of ``TableEncoder``, and
which of them are categories. SVMs of scikit-learn see standardised columns; of a table
the features of ``TableEncoder``. ``SVC`` chooses C and gamma by three folds, on at most
``MOST_ROWS_OF_GRID`` rows; ``LinearSVC`` has its defaults.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers_tasks import Split
from peers_trees import (
    Fitted,
    fit_catboost,
    fit_ebm,
    fit_extra_trees,
    fit_lightgbm,
    fit_xgboost,
)
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from localsvm import AdditiveSVC, StagedSVC
from localsvm.data import TableEncoder

MOST_ROWS_OF_GRID = 2000
GRID_C = (1.0, 10.0, 100.0)
GRID_WIDTHS = (0.2, 1.0, 5.0)  # times 1 / (columns times variance)


def _fit_own(split: Split, seed: int, make: type[Any]) -> tuple[Any, Fitted]:
    if split.is_table:
        encoder = TableEncoder(encoding="codes").fit(split.X_train)
        model = make(
            categorical_features=encoder.categorical_features_, random_state=seed
        )
        encode: Callable[[Any], Any] = encoder.transform
    else:
        model, encode = make(random_state=seed), np.asarray
    model.fit(encode(split.X_train), split.y_train)
    # Votes of several classes have no common scale; their probabilities have.
    several = split.n_classes > 2
    score = model.predict_proba if several else model.decision_function
    return model, Fitted(lambda X: score(encode(X)), {})


def fit_staged(split: Split, seed: int) -> Fitted:
    """Fit the staged SVM; what it chose are its terms and their weights."""
    model, fitted = _fit_own(split, seed, StagedSVC)
    chosen = {name: _plain(value) for name, value in model.best_params_.items()}
    tried = len(next(iter(model.selection_.values()), ()))
    return fitted._replace(chosen={"terms": [*model.terms_], "tried": tried, **chosen})


def fit_additive(split: Split, seed: int) -> Fitted:
    """Fit the additive SVM."""
    model, fitted = _fit_own(split, seed, AdditiveSVC)
    return fitted._replace(chosen={"C": float(model.C_)})


def _plain(value: Any) -> Any:
    """Value as JSON takes it."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def _features(split: Split) -> Callable[[Any], NDArray[np.float64]]:
    """Standardised columns, learnt from training rows."""
    if split.is_table:
        return TableEncoder(sparse_output=False).fit(split.X_train).transform
    return StandardScaler().fit(split.X_train).transform


def fit_svc(split: Split, seed: int) -> Fitted:
    """Choose C and gamma, then fit all training rows."""
    features = _features(split)
    X, y = features(split.X_train), split.y_train
    part = np.arange(len(y))
    if len(y) > MOST_ROWS_OF_GRID:
        part, _ = train_test_split(
            part, train_size=MOST_ROWS_OF_GRID, stratify=y, random_state=seed
        )
    scale = 1.0 / (X.shape[1] * X.var())
    grid = {"C": GRID_C, "gamma": [scale * width for width in GRID_WIDTHS]}
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    search = GridSearchCV(SVC(cache_size=500), grid, cv=folds, refit=False, n_jobs=1)
    chosen = search.fit(X[part], y[part]).best_params_
    model = SVC(**chosen, cache_size=500, break_ties=True).fit(X, y)
    return Fitted(lambda X: model.decision_function(features(X)), _plain(chosen))


def fit_linear(split: Split, seed: int) -> Fitted:
    """Fit a linear SVM with its defaults."""
    features = _features(split)
    model = LinearSVC(random_state=seed)
    model.fit(features(split.X_train), split.y_train)
    return Fitted(lambda X: model.decision_function(features(X)), {})


Fit = Callable[[Split, int], Fitted]

METHODS: dict[str, Fit] = {
    "StagedSVC": fit_staged,
    "AdditiveSVC": fit_additive,
    "LightGBM": fit_lightgbm,
    "XGBoost": fit_xgboost,
    "CatBoost": fit_catboost,
    "EBM": fit_ebm,
    "ExtraTrees": fit_extra_trees,
    "SVC": fit_svc,
    "LinearSVC": fit_linear,
}
