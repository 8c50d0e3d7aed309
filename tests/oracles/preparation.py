"""Prepared rows, one column after the other."""

import numpy as np
from scipy.stats import norm

LEVELS = (np.arange(1000) + 0.5) / 1000


def is_binary(column):
    """Whether a column has no other values than 0 and 1."""
    return set(column) <= {0.0, 1.0}


def normal_scores(column, weight):
    """Knots of the map to normal scores: the levels that fall on each value."""
    order = np.argsort(column, kind="stable")
    reached = np.cumsum(weight[order]) / weight.sum()
    levels_of = {}
    for level in LEVELS:
        first = next(i for i, share in enumerate(reached) if share >= level)
        levels_of.setdefault(column[order[first]], []).append(level)
    values = sorted(levels_of)
    return np.array(values), norm.ppf([np.mean(levels_of[value]) for value in values])


def capped_ranks(column, weight):
    """Rank of each value, from 0 to 3.46; no value counts for more than 1/48."""
    values = sorted(set(column))
    if len(values) < 3:
        return dict(zip(values, (0.0, 0.5), strict=False))
    ranks, passed = {}, 0.0
    for value in values:
        counted = min(weight[column == value].sum() / weight.sum(), 1 / 48)
        ranks[value] = passed + counted / 2
        passed += counted
    low, high = ranks[values[0]], ranks[values[-1]]
    return {v: 3.46 * (rank - low) / (high - low) for v, rank in ranks.items()}


def scale_column(column, weight, scaling):
    """A column before it is centred."""
    if scaling == "ranks":
        ranks = capped_ranks(column, weight)
        return np.array([ranks[value] for value in column])
    if scaling == "none" or is_binary(column):
        return column
    if scaling == "quantile":
        return np.interp(column, *normal_scores(column, weight))
    mean = np.average(column, weights=weight)
    spread = np.sqrt(np.average((column - mean) ** 2, weights=weight))
    return column / (spread if spread > 0 else 1.0)


def rms(X, weight):
    """Root mean squared norm of rows."""
    return np.sqrt(np.average((X**2).sum(axis=1), weights=weight))


def prepare(X, weight, scaling):
    """Rows that are scaled, centred and of root mean squared norm one."""
    columns = [scale_column(column, weight, scaling) for column in X.T]
    centred = [column - np.average(column, weights=weight) for column in columns]
    Z = np.column_stack(centred)
    return Z / rms(Z, weight)
