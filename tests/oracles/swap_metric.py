"""Weights of columns by swaps, one row and one column at a time."""

import numpy as np


def changes(decide, rows, weight, parts, n_columns):
    """Root mean squared change of each column, of rows in their given order."""
    found = np.zeros(n_columns)
    for part in parts:
        total = 0.0
        for i, row in enumerate(rows):
            swapped = row.copy()
            for column in part:
                swapped[column] = rows[(i + 1) % len(rows)][column]
            step = np.ravel(decide(swapped[None])) - np.ravel(decide(row[None]))
            total += weight[i] * (step**2).sum()
        found[list(part)] = np.sqrt(total / weight.sum())
    return found
