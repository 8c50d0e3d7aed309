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


def decisions(fit, Z, bounds):
    """Decision on each row by weights that are fitted with its penalty at zero."""
    rows = []
    for row in range(len(Z)):
        left = bounds.copy()
        left[row] = 0
        rows.append(fit(left) @ Z[row])
    return np.array(rows)
