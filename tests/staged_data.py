"""What the tests of the staged SVM share."""

import numpy as np

from localsvm.estimators._staged.setting import StageOptions
from localsvm.rows._records import Rows

SEED = np.random.RandomState(0).randint(2**31 - 1)
"""What an estimator draws from ``random_state=0``."""

GIVEN = {
    "scaling": "standard",
    "n_components": None,
    "gradient_metric": None,
    "C": 1.0,
    "cell_size": 10_000,
    "gamma_factor": 2.0,
    "kernel_C": 10.0,
    "threshold": 1.0,
    "join": "switch",
    "additive_C": None,
    "laplace_C": None,
    "max_iter": 1000,
    "random_state": 0,
}
"""A setting that leaves nothing to be chosen."""


def make_rows(n_samples=400, n_classes=2, n_features=3, seed=0):
    """Rows of curved, noisy classes, of columns with different scales."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    level = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, -1]
    level += 0.3 * rng.standard_normal(n_samples)
    borders = np.quantile(level, np.arange(1, n_classes) / n_classes)
    return X * np.arange(1, n_features + 1), np.digitize(level, borders)


def training_rows(X, y, weight=None):
    """Rows as the base class hands them on."""
    weight = np.ones(len(y)) if weight is None else weight
    return Rows.weighted(X, np.asarray(y, dtype=np.int32), weight, len(np.unique(y)))


def make_options(**options):
    """Options of a fit that converges unless told otherwise."""
    given = {"seed": 0, "n_regions": 5, "tol": 1e-6, "max_iter": 10_000, "n_jobs": 1}
    return StageOptions(**given | options)
