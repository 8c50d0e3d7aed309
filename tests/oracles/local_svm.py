"""FastLSVM and its parts with scikit-learn's SVC, and data to try them on."""

from itertools import combinations

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.svm import SVC

from localsvm.cluster import KernelNeighbors, NeighborhoodCover
from localsvm.kernels import Kernel
from oracles import kernel_svm

TIGHT = {"tol": 1e-5, "max_iter": 10_000_000}
KERNELS = {
    "linear": {"kernel": "linear", "C": 1.0, "gamma": 1.0},
    "rbf": {"kernel": "rbf", "C": 10.0, "gamma": 0.3},
    "laplace": {"kernel": "laplace", "C": 10.0, "gamma": 0.05},
    "homogeneous": {"kernel": "poly", "C": 1.0, "gamma": 0.2},
    "inhomogeneous": {"kernel": "poly", "C": 1.0, "gamma": 0.2, "coef0": 1.0},
}


def make_classes(n_samples, n_classes, seed=0):
    """Overlapping classes in four dimensions, an eighth of the entries zero."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_samples) % n_classes)
    X = rng.standard_normal((n_samples, 4)) * (rng.random((n_samples, 4)) > 0.125)
    X[:, 0] += 1.5 * np.cos(2 * y) + np.sin(3 * X[:, 1])
    X[:, 2] += 0.8 * y
    return X, y


def svm_scores(svc, X, y, queries, n_classes, weight=None):
    """Scores by an SVC per pair of the classes that are there."""
    weight = np.ones(len(y)) if weight is None else weight
    present = np.unique(y).tolist()
    if len(present) == 1:
        return kernel_svm.constant(present[0], len(queries), n_classes)
    decisions = {}
    for pair in combinations(present, 2):
        part = np.isin(y, pair)
        peer = SVC(**kernel_svm.as_svc(svc), tol=1e-5).fit(
            X[part], y[part], weight[part]
        )
        decisions[pair] = peer.decision_function(queries)
    return kernel_svm.one_vs_one(decisions, n_classes)


def feature_distances(model, X, Z):
    """Distances by which neighbours are near, up to a monotone function."""
    if model.kernel != "poly":
        return pairwise_distances(X, Z)

    def values(A, B):
        return polynomial_kernel(A, B, model.degree, model.gamma, model.coef0)

    own = np.diagonal(values(X, X))[:, None] + np.diagonal(values(Z, Z))
    return own - 2 * values(X, Z)


def svc_parameters(model, rows):
    """What SVC is given for the rows of one neighbourhood, the centre first."""
    gamma = model.gamma
    if gamma == "local":
        gamma = kernel_svm.local_gamma(rows, model.kernel)
    elif isinstance(gamma, tuple):
        gamma = gamma[1] * kernel_svm.local_gamma(rows, model.kernel)
    return {
        "kernel": model.kernel,
        "C": 10.0 if model.C == "scale" else model.C,
        "gamma": gamma,
        "degree": model.degree,
        "coef0": model.coef0,
    }


def fast_lsvm(model, X, y, queries):
    """Algorithm 1 with an SVC per neighbourhood, then Eq. 4 or the nearest centre."""
    seed = np.random.RandomState(model.random_state).randint(2**31 - 1)
    kernel = Kernel("poly", model.gamma, model.degree, model.coef0)
    cover = NeighborhoodCover(
        model.n_neighbors,
        n_assigned=model.n_assigned,
        neighbors=KernelNeighbors(kernel) if model.kernel == "poly" else "brute",
        random_state=seed,
    ).fit(X)
    np.testing.assert_array_equal(model.center_indices_, cover.center_indices_)
    rows = cover.center_indices_ if model.route == "center" else np.arange(len(X))
    nearest = feature_distances(model, queries, X[rows]).argmin(axis=1)
    region = cover.labels_[rows[nearest]]
    n_classes = len(set(y))
    scores = np.empty((len(queries), 1 if n_classes == 2 else n_classes))
    for m in np.unique(region):
        near, routed = cover.neighborhoods_[m], region == m
        svc = svc_parameters(model, X[near])
        scores[routed] = svm_scores(svc, X[near], y[near], queries[routed], n_classes)
    return scores.ravel() if n_classes == 2 else scores


def assert_same_winners(predicted, scores, margin=2e-3):
    """Labels are those of the scores, where the scores leave no doubt."""
    if scores.ndim == 1:
        scores = np.c_[-scores, scores]
    ordered = np.sort(scores, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] > margin
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(predicted[clear], scores.argmax(axis=1)[clear])
