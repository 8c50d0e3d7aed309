"""Decisions on rows that a clustered SVM has not seen, by as many fits as rows."""

import numpy as np

from oracles.linear_svm import expand, with_bias


def features(X, codes, n_regions, global_reg, constant):
    """Rows in the space of the soft clustered SVM: kron(code, (x, constant))."""
    table = np.zeros((len(X), n_regions + 1))
    for row, (regions, weights) in enumerate(
        zip(codes.regions, codes.weights, strict=True)
    ):
        table[row, regions] = weights
    table[:, -1] = 1 / np.sqrt(global_reg)
    return expand(with_bias(X, constant), table)


def span_decisions(K, duals, bounds, squared=False):
    """Decisions without each row's share, by an inverse for each row."""
    ridge = 0.5 / bounds if squared else 0 * bounds
    full = K + np.diag(ridge)
    used = np.abs(duals) > 0
    free = used & (squared | (np.abs(duals) < bounds * (1 - 1e-9)))
    found = K @ duals
    for i in np.flatnonzero(used):
        others = np.flatnonzero(free & (np.arange(len(K)) != i))
        part = full[np.ix_(others, others)]
        part = part + 1e-6 * np.diag(K)[free].mean() * np.eye(len(others))
        share = np.linalg.solve(part, full[others, i]) @ full[others, i]
        found[i] -= duals[i] * (full[i, i] - share - ridge[i])
    return found


def decisions(fit, Z, bounds):
    """Decision on each row by weights that are fitted with its penalty at zero."""
    rows = []
    for row in range(len(Z)):
        left = bounds.copy()
        left[row] = 0
        rows.append(fit(left) @ Z[row])
    return np.array(rows)
