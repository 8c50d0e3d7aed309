"""Local coordinates one row at a time, and the SVM on the rows they expand to."""

import numpy as np
from sklearn.svm import LinearSVC

from oracles.linear_svm import expand, with_bias


def dense_codes(X, anchors, n_nearest, coding):
    """Codes of shape (n_samples, n_anchors), zero but for the nearest anchors."""
    codes = np.zeros((len(X), len(anchors)))
    for row, x in zip(codes, X, strict=True):
        distance = np.linalg.norm(anchors - x, axis=1)
        near = np.argsort(distance, kind="stable")[:n_nearest]
        if coding == "inverse_distance":
            row[near] = inverse_distances(distance[near])
        else:
            row[near] = least_squares(anchors[near] - x)
    return codes


def inverse_distances(distance):
    if (distance == 0).any():
        return (distance == 0) / (distance == 0).sum()
    return (1 / distance) / (1 / distance).sum()


def least_squares(differences):
    """Minimise |sum_s g_s (c_s - x)|^2 plus a ridge, with sum(g) = 1."""
    gram = differences @ differences.T
    n = len(gram)
    conditions = np.ones((n + 1, n + 1))
    conditions[:n, :n] = 2 * (gram + 1e-4 * np.trace(gram) * np.eye(n))
    conditions[n, n] = 0
    return np.linalg.solve(conditions, np.append(np.zeros(n), 1.0))[:n]


def decide(X, y, queries, codes_of, C, bias):
    """Decision values of an SVM on kron(code of x, [x, bias])."""
    peer = LinearSVC(
        C=C, loss="hinge", fit_intercept=False, tol=1e-9, max_iter=10_000_000
    )
    peer.fit(expand(with_bias(X, bias), codes_of(X)), y)
    return peer.decision_function(expand(with_bias(queries, bias), codes_of(queries)))
