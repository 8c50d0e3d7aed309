"""Fitted models of every kind, for tests that look inside them."""

from functools import cache

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification

from localsvm import (
    AdditiveSVC,
    ClusteredSVC,
    LocalSVC,
    MixtureSVC,
    ReducedSVC,
    StagedSVC,
    SupportClusterSVC,
)
from localsvm.estimators import (
    ClusteredSVCCV,
    LocallyLinearSVC,
    LocalSVCCV,
    NeighborSVC,
)

N_FEATURES = 5
LABELS = np.array(["ant", "bee", "cat"])

STAGED = {
    "scaling": "standard",
    "gradient_metric": None,
    "C": 1.0,
    "cell_size": 40,
    "gamma_factor": 2.0,
    "kernel_C": 10.0,
    "random_state": 0,
}
WITH_REGIONS = {
    "hard": ClusteredSVC(5, n_nearest=1, random_state=0),
    "soft": ClusteredSVC(5, random_state=0),
    "searched": ClusteredSVCCV(Cs=[1.0], n_regions=[5], cv=2, random_state=0),
    "anchors": LocallyLinearSVC(5, random_state=0),
    "local": LocalSVC(60, random_state=0),
    "local linear": LocalSVC(60, kernel="linear", random_state=0),
    "local searched": LocalSVCCV(Cs=[1.0], n_neighbors=60, cv=2, random_state=0),
    "mixture": MixtureSVC(4, em_max_iter=3, random_state=0),
    "staged": StagedSVC(threshold=0.7, **STAGED),
    "staged, quantiles": StagedSVC(threshold=0.7, **STAGED | {"scaling": "quantile"}),
    "first stage": StagedSVC(threshold=0.0, **STAGED),
    "clusters": SupportClusterSVC(8, random_state=0),
    "clusters against the rest": SupportClusterSVC(
        8, multi_class="ovr", random_state=0
    ),
}
WITHOUT_REGIONS = {
    "additive": AdditiveSVC(C=1.0, random_state=0),
    "neighbours": NeighborSVC(40),
    "exact": ReducedSVC(),
    "exact linear": ReducedSVC(kernel="linear"),
}
MODELS = WITH_REGIONS | WITHOUT_REGIONS


def make_rows(n_classes=2, n_samples=300, seed=0):
    X, y = make_classification(
        n_samples,
        N_FEATURES,
        n_informative=4,
        n_redundant=0,
        n_classes=n_classes,
        class_sep=1.2,
        random_state=0,
    )
    order = np.random.default_rng(seed).permutation(n_samples)
    return X[order], LABELS[y[order]]


@cache
def fitted(name, n_classes=2):
    """Fit a model once for all tests, which must not change it."""
    return clone(MODELS[name]).fit(*training_rows(n_classes))


def training_rows(n_classes=2):
    X, y = make_rows(n_classes)
    return X[:200], y[:200]


def held_out(n_classes=2):
    X, y = make_rows(n_classes)
    return X[200:], y[200:]
