"""Parameters of the staged SVM that the rows, or the clock, can contradict."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from localsvm._checks import level_of_caller
from localsvm.estimators._staged.evaluation import Choice
from localsvm.estimators._staged.setting import StageOptions
from localsvm.estimators._staged.sum.fit import SumFit
from localsvm.estimators._staged.switch.fit import SwitchFit
from localsvm.exceptions import DataError
from localsvm.rows import Rows


def check_weights(estimator: Any, n_classes: int) -> None:
    """Raise unless given weights of a sum fit the terms and the classes."""
    join = estimator.join
    if not isinstance(join, Mapping):
        return
    n_biases = 1 if n_classes == 2 else n_classes
    if np.size(join["bias"]) != n_biases:
        raise DataError(
            f"join has {np.size(join['bias'])} numbers in 'bias'; expected "
            f"{n_biases} for {n_classes} classes."
        )
    for name in ("additive", "laplace"):
        if join.get(name) and getattr(estimator, f"{name}_C") is None:
            raise DataError(
                f"join gives {name!r} a weight, but {name}_C is None; expected a "
                "number or 'auto'."
            )


def check_regions(n_regions: int | str, rows: Rows) -> None:
    """Raise for more regions than distinct rows."""
    if not isinstance(n_regions, str) and n_regions > rows.n_rows:
        raise DataError(
            f"n_regions={n_regions} should be <= {rows.n_rows}, the number of "
            "distinct rows."
        )


def check_storage(estimator: Any, X: Any) -> None:
    """Raise where a parameter would make sparse rows dense."""
    if not sparse.issparse(X):
        return
    for name, asks in (
        ("join", estimator.join not in ("auto", "switch")),
        ("categorical_features", estimator.categorical_features is not None),
        ("scaling", estimator.scaling in ("quantile", "ranks")),
        ("gradient_metric", estimator.gradient_metric == "full"),
        ("n_components", not isinstance(estimator.n_components, str | None)),
    ):
        if asks:
            raise DataError(
                f"{name}={getattr(estimator, name)!r} needs dense rows; found a sparse "
                f"X. Leave {name} at its default, or use X.toarray()."
            )


def warn_of_time(
    options: StageOptions, choice: Choice, fit: SwitchFit | SumFit, rows: Rows
) -> None:
    """Warn once if ``max_time`` was too short for anything, or Ctrl-C came first."""
    is_interrupted = options.cancel is not None and options.cancel.is_set()
    limit = "Ctrl-C" if is_interrupted else f"max_time={options.max_time}"
    missed = []
    if choice.unanswered:
        was = "came too early" if is_interrupted else "was not enough"
        missed.append(
            f"{was} to choose {', '.join(choice.unanswered)}, whose first values were "
            "taken"
        )
    if not fit.in_full:
        missed.append(f"allowed a quick fit of {len(fit.index)} of {rows.n_rows} rows")
    if missed:
        warnings.warn(
            f"{limit} {', and '.join(missed)}. Allow more, or give the parameters that "
            "were left open.",
            ConvergenceWarning,
            stacklevel=level_of_caller(),
        )
