"""Error against epsilon on Adult, to see when differential privacy is usable.

A thousand training rows are taken as public: their k-means centres are the cells, and
gamma and C are chosen on them. The other rows belong to one party, which releases
counts and sums (and squared sums with covariance="diag") with noise. Means over five
draws of the noise, which no seed repeats: a rerun gives slightly different figures.
Epsilon of infinity is the same partition without noise.
"""

from __future__ import annotations

import sys
import time
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from records import save, show
from sklearn.cluster import KMeans
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from support_tasks import adult

from localsvm import SupportClusterSVC
from localsvm.federated import Party, SharedSummary, dp, none, random_centers

N_PUBLIC = 1000
N_CELLS = 32
DELTA = 1e-6
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0, np.inf)
N_DRAWS = 5
GRID = list(product((0.01, 0.03), (1.5, 15.0)))
# Standardised numbers and one-hot columns: known beforehand, not read from the rows.
BOUNDS = (np.r_[np.full(6, -2.0), np.zeros(98)], np.r_[np.full(6, 3.0), np.ones(98)])


@cache
def parts() -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows that are public, and those of the party."""
    order = np.random.default_rng(0).permutation(len(adult().y_train))
    return order[:N_PUBLIC], order[N_PUBLIC:]


@cache
def public_centers() -> NDArray[Any]:
    """Centres of the public rows."""
    rows = adult().X_train[parts()[0]]
    return KMeans(N_CELLS, n_init=1, random_state=0).fit(rows).cluster_centers_


def release(
    centers: NDArray[Any], covariance: str, n_rows: int, epsilon: float
) -> SharedSummary:
    """Share some of the rows of the party."""
    data, rows = adult(), parts()[1][:n_rows]
    party = Party("party", centers=centers, covariance=covariance, classes=[0, 1])
    level = none() if np.isinf(epsilon) else dp(epsilon, DELTA, BOUNDS)
    return party.summarize(data.X_train[rows], data.y_train[rows], level)


def learn(shared: SharedSummary, covariance: str) -> SupportClusterSVC:
    """Fit the model whose gamma and C have the fewest errors on public rows."""
    data, public = adult(), parts()[0]
    models = [
        SupportClusterSVC(covariance=covariance, gamma=gamma, C=C).fit_summaries(shared)
        for gamma, C in GRID
    ]
    return max(
        models,
        key=lambda model: model.score(data.X_train[public], data.y_train[public]),
    )


def measure(
    cells: str, centers: NDArray[Any], covariance: str, n_rows: int, epsilon: float
) -> dict[str, Any]:
    """Mean error in percent over the draws; a draw may leave nothing to learn from."""
    data, errors, failed = adult(), [], 0
    start = time.perf_counter()
    n_draws = 1 if np.isinf(epsilon) else N_DRAWS
    for _ in range(n_draws):
        try:
            shared = release(centers, covariance, n_rows, epsilon)
            model = learn(shared, covariance)
        except ValueError as error:  # one class or none stands out of the noise
            print(f"epsilon={epsilon:g}, {n_rows} rows: {error}")
            failed += 1
            continue
        errors.append(100 * (1 - model.score(data.X_test, data.y_test)))
    return {
        "cells": cells,
        "covariance": covariance,
        "rows": n_rows,
        "epsilon": None if np.isinf(epsilon) else epsilon,
        "error": round(float(np.mean(errors)), 2) if errors else None,
        "lowest": round(min(errors), 2) if errors else None,
        "highest": round(max(errors), 2) if errors else None,
        "failed_draws": failed,
        "seconds": round((time.perf_counter() - start) / n_draws, 2),
    }


def baselines() -> dict[str, float]:
    """Errors in percent of saying the larger class, and of the public rows alone."""
    data, public = adult(), parts()[0]
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.003, 0.01, 0.03, 0.1]}
    search = GridSearchCV(SVC(), grid, cv=5)
    search.fit(data.X_train[public], data.y_train[public])
    return {
        "larger_class": round(100 * float(np.mean(data.y_test)), 2),
        "svc_on_public_rows": round(
            100 * (1 - search.score(data.X_test, data.y_test)), 2
        ),
    }


def main() -> int:
    """Measure and save."""
    n_party = len(parts()[1])
    public, drawn = public_centers(), random_centers(BOUNDS, N_CELLS)
    name = f"{N_CELLS}, public sample"
    plan = [
        (name, public, "none", n_rows, epsilon)
        for n_rows in (1000, 3000, 10_000, n_party)
        for epsilon in EPSILONS
    ]
    plan += [(name, public, "diag", n_party, epsilon) for epsilon in EPSILONS]
    plan += [
        (f"{N_CELLS}, drawn from the bounds", drawn, "none", n_party, epsilon)
        for epsilon in (8.0, np.inf)
    ]
    rows = [measure(*each) for each in plan]
    show(rows)
    compared = baselines()
    print(compared)
    save(
        "support_privacy",
        "python benchmarks/support_privacy.py",
        rows,
        data=["adult"],
        baselines=compared,
        delta=DELTA,
        draws=N_DRAWS,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
