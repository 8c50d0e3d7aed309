"""Threshold order-dependent clustering (Friedman and Kandel 1999), row by row."""

import numpy as np


class Cluster:
    """Rows with a centre; the sum and the weight are those of the rows."""

    def __init__(self, center, sum_, weight, rows):
        self.center, self.sum, self.weight, self.rows = center, sum_, weight, rows


def squared_distances(center, clusters):
    wide = center.astype(np.float64)
    return np.array([((wide - other.center) ** 2).sum() for other in clusters])


def distances(center, clusters):
    return np.sqrt(squared_distances(center, clusters))


def costs(one, clusters):
    """Square of Ward's distance: of single rows theirs, of heavy clusters more."""
    weights = np.array([other.weight for other in clusters], dtype=np.float64)
    squared = squared_distances(one.center, clusters)
    return 2 * squared / (1 / one.weight + 1 / weights)


def join(own, other, center):
    own.sum = own.sum + other.sum
    own.weight += other.weight
    own.rows += other.rows
    if center == "mean":
        own.center = (own.sum / own.weight).astype(own.center.dtype)


def grown(threshold, row, clusters, center):
    """Threshold at the 15 % quantile of the costs of merging, and clusters merged.

    A row whose distance is below all costs joins instead.
    """
    gaps = [
        costs(cluster, clusters[:k] + clusters[k + 1 :]).min(initial=np.inf)
        for k, cluster in enumerate(clusters)
    ]
    distance = distances(row, clusters).min()
    if distance**2 <= min(gaps):
        return distance, clusters
    rank = sorted(gaps)[int(0.15 * (len(gaps) - 1))]
    threshold = max(threshold, np.sqrt(rank))
    return threshold, merged(clusters, max(threshold**2, rank), center)


def merged(clusters, limit, center):
    """Each cluster joins the cheapest before it, or stands."""
    kept = []
    for cluster in clusters:
        cost = costs(cluster, kept) if kept else np.array([np.inf])
        if cost.min() > limit:
            kept.append(cluster)
            continue
        own = kept[int(cost.argmin())]
        if cluster.weight > own.weight:
            own.center = cluster.center
        join(own, cluster, center)
    return kept


def threshold_clusters(X, weight, threshold, max_clusters, center):
    """Labels, clusters and the threshold at the end."""
    clusters = []

    def founds(row):
        return not clusters or distances(row, clusters).min() > threshold

    for i in np.flatnonzero(weight):
        while founds(X[i]) and len(clusters) == max_clusters:
            threshold, clusters = grown(threshold, X[i], clusters, center)
        one = Cluster(X[i], weight[i] * X[i].astype(np.float64), weight[i], [i])
        if founds(X[i]):
            clusters.append(one)
        else:
            join(clusters[int(distances(X[i], clusters).argmin())], one, center)
    labels = np.array([distances(row, clusters).argmin() for row in X])
    for k, cluster in enumerate(clusters):
        labels[cluster.rows] = k
    return labels, clusters, threshold
