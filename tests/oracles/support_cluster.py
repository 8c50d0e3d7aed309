"""The Support Cluster Machine on explicit matrices, as its paper's formulas say."""

from itertools import combinations

import numpy as np

from oracles.kernel_svm import intercept, one_vs_one, solve
from oracles.probability_product import as_matrix, eq_6, eq_12


def spread(covariance, k, extra, d):
    own = np.zeros((d, d)) if covariance is None else as_matrix(covariance[k])
    return own + extra * np.eye(d)


def product(gamma, clusters, other):
    """Eq. 6 of Gaussians that are all smoothed by 1 / (4 gamma)."""
    (mean, covariance), (mean_2, covariance_2) = clusters, other
    d, smoothing = mean.shape[1], 1 / (4 * gamma)
    return np.array(
        [
            [
                eq_6(
                    mean[k],
                    spread(covariance, k, smoothing, d),
                    mean_2[m],
                    spread(covariance_2, m, smoothing, d),
                )
                for m in range(len(mean_2))
            ]
            for k in range(len(mean))
        ]
    )


def density(gamma, clusters, queries):
    """Eq. 12: clusters are smoothed, queries are not."""
    (mean, covariance), d = clusters, queries.shape[1]
    spreads = [spread(covariance, k, 1 / (4 * gamma), d) for k in range(len(mean))]
    return np.array(
        [[eq_12(m, S, x) for x in queries] for m, S in zip(mean, spreads, strict=True)]
    )


def pair_decisions(model, queries):
    """Decisions of every pair of classes by Eq. 3, 7 and 11, from the clusters."""
    summary, form, gamma = model.summary_, model.kernel_form, model.gamma_
    clusters = summary.mean, summary.covariance
    prior = summary.weight / summary.weight.sum()
    K = product(gamma, clusters, clusters)
    if form == "paper":
        K = prior[:, None] * prior * K
        test = prior[:, None] * density(gamma, clusters, queries)
        scale = K.max()
    else:
        test = product(gamma, clusters, (queries, None))
        scale = (np.pi / gamma) ** (-queries.shape[1] / 2)
    decisions = {}
    for negative, positive in combinations(range(len(model.classes_)), 2):
        names = model.classes_[[negative, positive]]
        part = np.flatnonzero(np.isin(summary.label, names))
        sign = np.where(summary.label[part] == names[1], 1.0, -1.0)
        box = sign * model.C_ * summary.weight[part] / summary.weight.mean()
        lower, upper = np.minimum(box, 0), np.maximum(box, 0)
        gram = K[np.ix_(part, part)] / scale
        beta = solve(gram, lower, upper, sign)
        b = intercept(beta, gram, lower, upper, sign)
        decisions[negative, positive] = beta @ test[part] / scale + b
    return decisions


def scores(model, queries):
    """Scores of the classes."""
    return one_vs_one(pair_decisions(model, queries), len(model.classes_)).squeeze()
