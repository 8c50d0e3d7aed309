"""Data of the Support Cluster Machine's paper, prepared for the benchmarks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from localsvm.data import load_benchmark

PAIRS = list(combinations(range(10), 2))
# Rows of the three parties of Table 2; in the order of the file they have its classes.
PARTIES = (10_050, 10_050, 10_062)


@dataclass(frozen=True)
class Split:
    """Training and test rows."""

    X_train: NDArray[Any]
    y_train: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]


@cache
def mnist(components: int | None) -> Split:
    """Pixels in [0, 1], and their principal components if wanted."""
    data = load_benchmark("mnist")
    rows = [np.float32(X) / np.float32(255) for X in (data.X_train, data.X_test)]
    if components is not None:
        pca = PCA(components, random_state=0).fit(rows[0])
        rows = [np.ascontiguousarray(pca.transform(X), np.float32) for X in rows]
    return Split(rows[0], data.y_train, rows[1], data.y_test)


@cache
def adult() -> Split:
    """Numbers standardised, the rest one-hot, as the file has it."""
    data = load_benchmark("adult")
    return Split(data.X_train, data.y_train, data.X_test, data.y_test)


def of_pair(y: NDArray[Any], pair: tuple[int, int]) -> NDArray[np.bool_]:
    """Rows of two digits."""
    return (y == pair[0]) | (y == pair[1])


def pair_decisions(model: Any, X: NDArray[Any]) -> NDArray[Any]:
    """Decisions of the pairs of classes, positive for the first of a pair."""
    return -model._fitted_machine().decide(X, model.n_jobs)


def mean_pair_error(decisions: NDArray[Any], y: NDArray[Any]) -> float:
    """Error in percent, on average over the pairs; positive is the first of a pair."""
    errors = []
    for column, pair in enumerate(PAIRS):
        rows = of_pair(y, pair)
        said_first = decisions[rows, column] > 0
        errors.append(np.mean(said_first != (y[rows] == pair[0])))
    return 100 * float(np.mean(errors))
