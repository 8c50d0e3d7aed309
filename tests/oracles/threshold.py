"""Threshold order-dependent clustering (Friedman and Kandel 1999), row by row."""

import numpy as np


class Cluster:
    """Rows with a centre; the sum and the weight are those of the rows."""

    def __init__(self, center, sum_, weight, rows):
        self.center, self.sum, self.weight, self.rows = center, sum_, weight, rows


def distances(center, clusters):
    wide = center.astype(np.float64)
    return np.array([np.linalg.norm(wide - other.center) for other in clusters])


def costs(one, clusters):
    """Ward's distance: that of single rows, more where clusters are heavy."""
    weights = np.array([other.weight for other in clusters], dtype=np.float64)
    return distances(one.center, clusters) * np.sqrt(2 / (1 / one.weight + 1 / weights))


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
    if distance <= min(gaps):
        return distance, clusters
    threshold = max(threshold, sorted(gaps)[int(0.15 * (len(gaps) - 1))])
    return threshold, merged(clusters, threshold, center)


def merged(clusters, threshold, center):
    """Each cluster joins the cheapest before it, or stands."""
    kept = []
    for cluster in clusters:
        cost = costs(cluster, kept) if kept else np.array([np.inf])
        if cost.min() > threshold:
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
