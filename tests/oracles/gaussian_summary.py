"""Weight, mean and covariance of each cluster, one cluster at a time."""

import numpy as np


def moments(X, share, covariance):
    """Of rows with shares; the covariance divides by the weight."""
    weight = share.sum()
    mean = (share[:, None] * X).sum(axis=0) / weight
    away = X - mean
    full = sum(s * np.outer(a, a) for s, a in zip(share, away, strict=True)) / weight
    return weight, mean, {"full": full, "diag": np.diag(full), "none": None}[covariance]


def summarize(X, memberships, covariance):
    """Moments of every column of memberships that has weight."""
    parts = [moments(X, m, covariance) for m in memberships.T if m.any()]
    weight, mean, spread = (list(each) for each in zip(*parts, strict=True))
    return np.array(weight), np.array(mean), None if covariance == "none" else spread
