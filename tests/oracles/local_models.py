"""Local kernel SVMs with random duals, and what they decide."""

from itertools import combinations

import numpy as np

from localsvm.solvers import LocalModels
from oracles.kernel_svm import kernel_matrix


def make_models(n_rows, sizes, classes, seed=0):
    """Models of given numbers of support vectors and of classes that they hold."""
    rng = np.random.default_rng(seed)
    pairs = [list(combinations(present, 2)) for present in classes]
    sizes = [size if between else 0 for size, between in zip(sizes, pairs, strict=True)]
    n_coef = [size * len(between) for size, between in zip(sizes, pairs, strict=True)]
    n_pairs = [len(between) for between in pairs]
    n_models = len(sizes)
    return LocalModels(
        support_start=starts(sizes),
        support=np.concatenate(
            [rng.permutation(n_rows)[:size] for size in sizes]
        ).astype(np.int32),
        pair_start=starts(n_pairs),
        pairs=np.array([c for between in pairs for p in between for c in p], np.int32),
        intercept=rng.uniform(-0.5, 0.5, sum(n_pairs)),
        coef_start=starts(n_coef),
        coef=np.concatenate([rng.uniform(-1, 1, n) / np.sqrt(n + 1) for n in n_coef]),
        only_class=np.array([c[0] if len(c) == 1 else -1 for c in classes], np.int32),
        gamma=rng.uniform(0.2, 0.8, n_models),
        C=np.ones(n_models),
        n_iter=np.zeros(n_models, dtype=np.int64),
        violation=np.zeros(n_models),
        relative_gap=np.zeros(n_models),
        status=np.zeros(n_models, dtype=np.int32),
    )


def starts(sizes):
    """Where parts of given sizes begin, and the last one ends."""
    return np.cumsum([0, *sizes]).astype(np.int64)


def pair_decisions(models, model, kernel, support_rows, X):
    """Decisions of each pair of classes of one model, positive for the second."""
    part = slice(*models.support_start[model : model + 2])
    values = kernel_matrix(kernel, X, support_rows[models.support[part]])
    decisions = {}
    coef_at = models.coef_start[model]
    for pair in range(*models.pair_start[model : model + 2]):
        negative, positive = models.pairs[2 * pair : 2 * pair + 2].tolist()
        coef = models.coef[coef_at : coef_at + values.shape[1]]
        decisions[negative, positive] = values @ coef + models.intercept[pair]
        coef_at += values.shape[1]
    return decisions


def mean_decisions(decisions, n_rows, n_classes):
    """Mean of a class's decisions against each other one; zero if it has none."""
    means = np.zeros((n_rows, n_classes))
    for label in range(n_classes):
        own = [d if label == p[1] else -d for p, d in decisions.items() if label in p]
        if own:
            means[:, label] = np.mean(own, axis=0)
    return means


def numeric_gradients(function, X, step=1e-5):
    """Central differences of a function of rows; the last axis is the columns."""
    shifts = step * np.eye(X.shape[1])
    return np.stack(
        [(function(X + s) - function(X - s)) / (2 * step) for s in shifts], axis=-1
    )
