"""The multi-class SVM of Crammer and Singer as a quadratic programme with slacks."""

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits


def slacks(W, X, y):
    """Loss of each row under the weights W of shape (n_classes, n_features)."""
    scores = X @ W.T + 1
    own = scores[np.arange(len(y)), y] - 1
    scores[np.arange(len(y)), y] -= 1
    return (scores - own[:, None]).max(axis=1)


def objective(W, X, y, bounds):
    """Primal objective."""
    return 0.5 * (W**2).sum() + bounds @ slacks(W, X, y)


def dual_objective(alpha, X, y):
    """Dual objective of signed duals of shape (n_classes, n_samples)."""
    own = alpha[y, np.arange(len(y))].sum()
    return own - alpha.sum() - 0.5 * ((alpha @ X) ** 2).sum()


@threadpool_limits.wrap(limits=1)
def solve(X, y, n_classes, bounds):
    """Weights and optimal value, without intercept; for very few rows.

    Variables are the weights and one slack per row, with one linear constraint for
    each row and wrong class.
    """
    X, y, bounds = X[bounds > 0], y[bounds > 0], bounds[bounds > 0]
    n, d = X.shape
    size = n_classes * d
    rows = []
    for i in range(n):
        for r in set(range(n_classes)) - {y[i]}:
            row = np.zeros(size + n)
            row[y[i] * d : (y[i] + 1) * d] = X[i]
            row[r * d : (r + 1) * d] = -X[i]
            row[size + i] = 1
            rows.append(row)
    constraints = np.array(rows)
    linear = np.concatenate([np.zeros(size), bounds])
    ridge = np.concatenate([np.ones(size), np.zeros(n)])
    start = np.concatenate([np.zeros(size), np.ones(n)])
    result = minimize(
        lambda z: 0.5 * (ridge * z) @ z + linear @ z,
        start,
        jac=lambda z: ridge * z + linear,
        method="SLSQP",
        bounds=[(None, None)] * size + [(0, None)] * n,
        constraints={
            "type": "ineq",
            "fun": lambda z: constraints @ z - 1,
            "jac": lambda _: constraints,
        },
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    W = result.x[:size].reshape(n_classes, d)
    return W, objective(W, X, y, bounds)
