"""Rows with neighbourhoods, and the scores that their SVMs should give."""

import numpy as np

from conftest import store
from localsvm.kernels import Kernel
from localsvm.rows import Rows
from localsvm.solvers import KernelOptions
from oracles import kernel_svm
from oracles.cover import cover

KERNELS = [
    Kernel("linear"),
    Kernel("rbf", gamma=0.5),
    Kernel("poly", gamma=0.5, degree=2),
    Kernel("poly", gamma=0.5, degree=3, coef0=1.0),
    Kernel("laplace", gamma=0.05),
]
RBF = KERNELS[1]
TIGHT = KernelOptions(tol=1e-10, max_iter=10_000_000)


def make_rows(seed, n=90, n_classes=2, storage="dense", dtype=np.float64):
    """Rows with weights, some of them zero; classes that mix in some places only."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) * (rng.random((n, 3)) < 0.8)
    label = rng.integers(0, n_classes, n).astype(np.int32)
    label[X[:, 1] > 0.5] = 1
    X[:, 0] += 0.8 * label
    weight = rng.uniform(0.2, 2.0, n) * (rng.random(n) < 0.9)
    X = X.astype(dtype)
    return Rows.weighted(store(X, storage), label, weight, n_classes), X


def make_cover(X, seed, n_neighbors=24, n_assigned=8):
    order = np.random.default_rng(seed).permutation(len(X))
    _, neighborhoods, labels = cover(X, order, n_neighbors, n_assigned)
    return neighborhoods.astype(np.int32), labels.astype(np.int32)


def make_queries(X, n_models, seed, n=60):
    rng = np.random.default_rng(seed)
    queries = rng.standard_normal((n, X.shape[1])) * (rng.random((n, X.shape[1])) < 0.8)
    return queries.astype(X.dtype), rng.integers(0, n_models, n)


def oracle_scores(rows, X, members, kernel, C, queries):
    """Scores by SVMs that are trained on some of the rows."""
    return kernel_svm.scores(
        kernel,
        X[members],
        rows.class_index[members],
        C * rows.penalty_weight[members],
        rows.n_classes,
        queries,
    )
