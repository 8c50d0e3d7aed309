"""Principal direction divisive partitioning (Boley 1998) by full decompositions."""

import numpy as np


def scatter(rows):
    """Sum of squared distances to the mean."""
    return ((rows - rows.mean(axis=0)) ** 2).sum()


def cut(X, members):
    """The two parts of a cluster, first the one against its principal direction."""
    centered = X[members] - X[members].mean(axis=0)
    direction = np.linalg.svd(centered, full_matrices=False)[2][0]
    direction *= np.sign(direction[np.abs(direction).argmax()])
    projection = centered @ direction
    return [members[projection <= 0], members[projection > 0]]


def pddp(X, n_clusters=np.inf, max_scatter=0.0):
    """Labels, means and scatters of the clusters, numbered from left to right."""
    X = X.astype(np.float64)
    leaves = [np.arange(len(X))]
    while len(leaves) < n_clusters:
        scatters = [scatter(X[leaf]) for leaf in leaves]
        largest = int(np.argmax(scatters))
        if scatters[largest] <= max_scatter:
            break
        leaves[largest : largest + 1] = cut(X, leaves[largest])
    labels = np.empty(len(X), dtype=np.int32)
    for label, leaf in enumerate(leaves):
        labels[leaf] = label
    means = np.array([X[leaf].mean(axis=0) for leaf in leaves])
    return labels, means, np.array([scatter(X[leaf]) for leaf in leaves])
