"""Data of the ClusterSVM paper, prepared for the benchmarks."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from papers.clustersvm.problems import smoothed_usps

from localsvm.data import load_benchmark

Split = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]

# As the paper sets them: its own form of Algorithm 1.
PAPER = {
    "representative": "pseudo_center",
    "use_bounds": False,
    "band": 0.0,
}
SETTINGS = {
    "artificial": {"kernel": "linear", "C": 10_000.0, "tol": 1e-6},
    "usps": {
        "kernel": "poly",
        "degree": 3,
        "gamma": 1 / 256,
        "coef0": 0.0,
        "C": 10.0,
    },
    "isolet": {"kernel": "linear", "C": 0.02},
}


def artificial(seed: int, n_per_class: int = 2000) -> Split:
    """Three normal classes of unit covariance that overlap; as many test rows."""
    rng = np.random.default_rng(seed)
    centers = np.array([[0.0, np.sqrt(3.0)], [-1.0, 0.0], [1.0, 0.0]])
    y = np.repeat(np.arange(3), n_per_class)
    X, X_test = (centers[y] + rng.standard_normal((len(y), 2)) for _ in range(2))
    return X, y, X_test, y


@cache
def usps() -> Split:
    """Digits smoothed by a Gaussian of width 0.75, with background at the border."""
    data = smoothed_usps()
    return data.X_train, data.y_train, data.X_test, data.y_test


@cache
def isolet() -> Split:
    """Spoken letters as they are."""
    data = load_benchmark("isolet")
    return data.X_train, data.y_train, data.X_test, data.y_test


def load(name: str, seed: int = 0) -> Split:
    """Training and test rows and labels."""
    if name == "artificial":
        return artificial(seed)
    return {"usps": usps, "isolet": isolet}[name]()
