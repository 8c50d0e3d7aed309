"""One EM step of a mixture of linear SVMs, row by row, as the paper writes it."""

import numpy as np
from scipy.optimize import minimize

from oracles import linear_svm


def shares(X, slopes, offsets):
    """Softmax gate of each row."""
    logits = X @ slopes.T + offsets
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def center_shares(X, centers, tau, prior):
    """Eq. 7 times the prior of Eq. 6."""
    distances = ((X[:, None, :] - centers) ** 2).sum(axis=2)
    powers = np.exp(-tau * distances)
    return prior * powers / powers.sum(axis=1, keepdims=True)


def class_values(decisions):
    """Eq. 10 of both classes, of shape (2, n, n_components)."""
    return np.exp(-np.maximum(0, 1 - np.stack([-decisions, decisions])))


def responsibilities(gate, decisions, y):
    """Eq. 11, and the log-likelihood of Eq. 6."""
    values = class_values(decisions)
    joint = gate * np.where(y[:, None] == 1, values[1], values[0])
    return joint / joint.sum(axis=1, keepdims=True), np.log(joint.sum(axis=1)).sum()


def best_gate(X, q):
    """The convex M-step, to its optimum."""
    n_components, d = q.shape[1], X.shape[1]

    def objective(theta):
        weights = theta.reshape(n_components, d + 1)
        gate = shares(X, weights[:, :-1], weights[:, -1])
        residual = gate * q.sum(axis=1, keepdims=True) - q
        gradient = np.hstack([residual.T @ X, residual.sum(axis=0)[:, None]])
        return -(q * np.log(gate)).sum(), gradient.ravel()

    start = np.zeros(n_components * (d + 1))
    found = minimize(objective, start, jac=True, options={"gtol": 1e-10})
    return found.fun


def best_experts(X, y, q, C, bias):
    """Eq. 15: weights (with the constant's last) and primal of each component."""
    rows = linear_svm.with_bias(X, bias)
    sign = np.where(y == 1, 1.0, -1.0)
    return [linear_svm.solve(rows, sign, C * column) for column in q.T]


def decision(gate, decisions):
    """Eq. 21 with negative exponents."""
    values = class_values(decisions)
    return (gate * (values[1] - values[0])).sum(axis=1)
