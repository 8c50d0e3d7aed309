"""Algorithm 1 of Segata and Blanzieri (2008), row by row, without its SVMs."""

import numpy as np


def euclidean(X, i):
    """Distances of row i to all rows."""
    return np.sqrt(((X - X[i]) ** 2).sum(axis=1))


def cover(X, order, n_neighbors, n_assigned, distances=euclidean):
    """Centres, neighbourhoods and the centre of each row, for rows in an order.

    The row that is not covered is searched around, not the one at its place in the
    order (line 9), and stands first in its neighbourhood (line 11).
    """
    centers, neighborhoods, labels = [], [], np.full(len(X), -1)
    for index in order:
        if labels[index] >= 0:
            continue
        nearest = np.argsort(distances(X, index), kind="stable")
        local = [index, *nearest[nearest != index]][:n_neighbors]
        for row in local[:n_assigned]:
            if labels[row] < 0:
                labels[row] = len(centers)
        centers.append(index)
        neighborhoods.append(local)
    return np.array(centers), np.array(neighborhoods), labels
