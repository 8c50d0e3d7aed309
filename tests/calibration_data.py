"""Small models of every method with held-out decisions, and rows like theirs."""

import functools

import numpy as np

from localsvm import (
    AdditiveSVC,
    ClusteredSVC,
    LocalSVC,
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

GIVEN = {"C": 1.0, "cell_size": 50, "gamma_factor": 2.0, "kernel_C": 10.0}
MODELS = {
    "clustered": ClusteredSVC(5, random_state=0),
    "hard": ClusteredSVC(4, n_nearest=1, random_state=0),
    "squared": ClusteredSVC(5, loss="squared_hinge", random_state=0),
    "joint": ClusteredSVC(5, multi_class="crammer_singer", random_state=0),
    "clustered-cv": ClusteredSVCCV(n_regions=[2, 5], cv=3, random_state=0),
    "locally-linear": LocallyLinearSVC(8, random_state=0),
    "local": LocalSVC(40, random_state=0),
    "local-center": LocalSVC(40, route="center", random_state=0),
    "local-shrink": LocalSVC(40, shrink=0.5, random_state=0),
    "local-cv": LocalSVCCV(n_neighbors=[40], Cs=[1.0, 10.0], cv=3, random_state=0),
    "neighbor": NeighborSVC(30),
    "support-cluster": SupportClusterSVC(20, random_state=0),
    "reduced": ReducedSVC(random_state=0),
    "reduced-linear": ReducedSVC(kernel="linear", random_state=0),
    "additive": AdditiveSVC(random_state=0),
    "additive-given": AdditiveSVC(C=1.0, random_state=0),
    "sum": StagedSVC(join="sum", scaling="none", random_state=0),
    "switch": StagedSVC(join="switch", scaling="none", random_state=0, **GIVEN),
}


def draw(n_rows, n_classes=2, seed=0):
    """Overlapping blobs, two a class, and labels that are names."""
    rng = np.random.default_rng(seed)
    class_index = rng.integers(n_classes, size=n_rows)
    side = rng.integers(2, size=n_rows)
    angle = np.pi * (class_index / n_classes + side)
    centers = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    X = 1.6 * centers + rng.normal(scale=0.8, size=(n_rows, 2))
    return np.round(X, 6), np.array(["a", "b", "c", "d"])[class_index]


@functools.cache
def fitted(name, n_classes=2):
    """Fit a model to 400 rows."""
    return MODELS[name].fit(*draw(400, n_classes))
