"""The metric from the gradients of a clustered SVM, one row at a time."""

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone


class Slices(ClusterMixin, BaseEstimator):
    """Centres that follow the rows: neither roundings nor their order matter."""

    def fit(self, X):
        X = X.toarray() if hasattr(X, "toarray") else X
        parts = np.array_split(X[np.argsort(X.sum(axis=1))], 5)
        self.cluster_centers_ = np.array([part.mean(axis=0) for part in parts])
        return self

    def predict(self, X):
        return ((X[:, None] - self.cluster_centers_) ** 2).sum(axis=2).argmin(axis=1)


def numeric_gradients(model, X, codes, step=1e-3):
    """Central differences of the decision, the codes held fixed."""
    columns = []
    for j in range(X.shape[1]):
        shift = step * np.eye(X.shape[1])[j]
        above, below = (model.decide(X + s, codes, None) for s in (shift, -shift))
        columns.append((above - below) / (2 * step))
    return np.stack(columns, axis=2)


def second_moment(gradients, weight):
    """Mean of g g' over rows, summed over tasks."""
    moment = np.zeros((gradients.shape[2],) * 2)
    for row, share in zip(gradients, weight / weight.sum(), strict=True):
        for g in row:
            moment += share * np.outer(g, g)
    return moment


def rms(X, weight):
    """Root mean squared norm of the centred rows."""
    centred = X - np.average(X, axis=0, weights=weight)
    return np.sqrt(np.average((centred**2).sum(axis=1), weights=weight))


def learn(estimator, X, y, weight, power, diagonal, n_steps):
    """The map, and the mean squared gradient in the columns of X before it."""
    T = np.eye(X.shape[1])
    for _ in range(n_steps):
        model = clone(estimator).fit(X @ T, y, weight)
        coef, _ = model.local_coef(X @ T)
        moment = second_moment(coef, weight)
        squared = np.diag(T @ moment @ T.T)
        if diagonal:
            moment = np.diag(np.diag(moment))
        values, vectors = np.linalg.eigh(moment / np.linalg.norm(moment, 2))
        T = T @ (vectors * np.maximum(values, 1e-6) ** (power / 2)) @ vectors.T
        T *= rms(X, weight) / rms(X @ T, weight)
    return T, squared
