"""Kernel SVMs on the explicit kernel matrix, by steps on two rows at a time."""

from dataclasses import replace
from itertools import combinations

import numpy as np

from localsvm.kernels import Kernel


def kernel_matrix(kernel, X, Z):
    """Kernel values by the formulas of the kernels."""
    if kernel.name == "rbf":
        return np.exp(-kernel.gamma * ((X[:, None] - Z) ** 2).sum(axis=2))
    if kernel.name == "laplace":
        distance = np.abs(X[:, None] - Z).sum(axis=2)
        return sum(np.exp(-kernel.gamma * 2**s * distance) for s in range(7)) / 7
    if kernel.name == "linear":
        return X @ Z.T
    return (kernel.gamma * (X @ Z.T) + kernel.coef0) ** kernel.degree


def as_svc(setting):
    """Parameters of SVC, which knows kernels of its own by name and others by call."""
    if setting["kernel"] != "laplace":
        return setting
    kernel = Kernel("laplace", setting["gamma"])
    return {"kernel": lambda X, Z: kernel_matrix(kernel, X, Z), "C": setting["C"]}


def minimized(beta, K, target):
    """What the dual problem minimises."""
    return beta @ K @ beta / 2 - target @ beta


def primal(beta, intercept, K, sign, bounds):
    """Primal objective of the SVM with signed duals beta."""
    slack = np.maximum(0, 1 - sign * (K @ beta + intercept))
    return beta @ K @ beta / 2 + bounds @ slack


def solve(K, lower, upper, target, tol=1e-10):
    """Signed duals: steps on two rows, until no two of them gain anything.

    The first row is the one that wants to rise most, the second that with which the
    objective falls most.
    """
    diagonal = np.diag(K)
    curvature = np.maximum(diagonal[:, None] + diagonal - 2 * K, 1e-12)
    beta, gradient = np.zeros(len(K)), -target.astype(np.float64)
    while (beta < upper).any():
        i = np.where(beta < upper, gradient, np.inf).argmin()
        violation = np.where(beta > lower, gradient - gradient[i], 0.0)
        if violation.max() <= tol:
            break
        j = (np.maximum(violation, 0) ** 2 / curvature[i]).argmax()
        room_up, room_down = upper[i] - beta[i], beta[j] - lower[j]
        step = min(violation[j] / curvature[i, j], room_up, room_down)
        beta[i] = upper[i] if step == room_up else beta[i] + step
        beta[j] = lower[j] if step == room_down else beta[j] - step
        gradient += step * (K[i] - K[j])
    return beta


def intercept(beta, K, lower, upper, target):
    """Mean of what the free rows ask for; without any, the middle of the others."""
    wanted = target - K @ beta
    free = (beta > lower) & (beta < upper)
    if free.any():
        return wanted[free].mean()
    rises = np.sort(wanted[beta < upper])[::-1]
    falls = np.sort(wanted[beta > lower])
    ends = [*rises[:1], *falls[:1]]
    return np.mean(ends) if ends else 0.0


def pair_prior(prior, pair):
    """Share of a pair in decisions known beforehand, one column per output."""
    if prior is None:
        return 0.0
    if prior.shape[1] == 1:
        return prior[:, 0]
    return (prior[:, pair[1]] - prior[:, pair[0]]) / 2


def pair_decisions(kernel, X, label, bounds, queries, prior=None, query_prior=None):
    """Decisions of the SVM of each pair of the classes that have rows with a bound."""
    classes = np.unique(label[bounds > 0])
    decisions = {}
    for negative, positive in combinations(classes.tolist(), 2):
        part = np.isin(label, [negative, positive])
        sign = np.where(label[part] == positive, 1.0, -1.0)
        box = sign * bounds[part]
        lower, upper = np.minimum(box, 0), np.maximum(box, 0)
        K = kernel_matrix(kernel, X[part], X[part])
        pair = negative, positive
        target = sign - pair_prior(None if prior is None else prior[part], pair)
        beta = solve(K, lower, upper, target)
        b = intercept(beta, K, lower, upper, target)
        decisions[pair] = (
            kernel_matrix(kernel, queries, X[part]) @ beta
            + b
            + pair_prior(query_prior, pair)
        )
    return decisions


def one_vs_one(decisions, n_classes):
    """One score per class: votes, then the sum of decisions squeezed to a third."""
    if n_classes == 2:
        return decisions[0, 1][:, None]
    n_queries = len(next(iter(decisions.values())))
    scores = np.full((n_queries, n_classes), -1.0)
    for label in {label for pair in decisions for label in pair}:
        votes, total = np.zeros(n_queries), np.zeros(n_queries)
        for (negative, positive), decision in decisions.items():
            if label == positive:
                votes += decision > 0
                total += decision
            elif label == negative:
                votes += decision <= 0
                total -= decision
        scores[:, label] = votes + total / (3 * (np.abs(total) + 1))
    return scores


def constant(only, n_queries, n_classes):
    """Scores where all training rows have one class."""
    if n_classes == 2:
        return np.full((n_queries, 1), 1.0 if only == 1 else -1.0)
    scores = np.full((n_queries, n_classes), -1.0)
    scores[:, only] = 1
    return scores


def scores(kernel, X, label, bounds, n_classes, queries, prior=None, query_prior=None):
    """Scores of queries by the SVMs of all pairs of classes; zero without rows."""
    classes = np.unique(label[bounds > 0])
    if len(classes) == 0:
        return np.zeros((len(queries), 1 if n_classes == 2 else n_classes))
    if len(classes) == 1:
        return constant(classes[0], len(queries), n_classes)
    decisions = pair_decisions(kernel, X, label, bounds, queries, prior, query_prior)
    return one_vs_one(decisions, n_classes)


def local_gamma(X, name="rbf"):
    """1 / median squared distance to the first row, of the distances above zero.

    For the Laplace kernel a tenth, and of absolute distances.
    """
    laplace = name == "laplace"
    steps = np.abs(X - X[0]) if laplace else (X - X[0]) ** 2
    distances = np.sort(steps.sum(axis=1))
    distances = distances[distances > 0]
    if not len(distances):
        return 1.0
    return (0.1 if laplace else 1) / distances[len(distances) // 2]


def validation_loss(kernel, X, label, bounds, weight, n_classes, n_folds):
    """Errors and hinge losses of every n-th row, trained on the others."""
    errors = hinge = 0.0
    for fold in range(n_folds):
        held = np.arange(len(X)) % n_folds == fold
        train = X[~held], label[~held], bounds[~held]
        value = scores(kernel, *train, n_classes, X[held])
        predicted = (
            (value[:, 0] > 0).astype(int) if n_classes == 2 else value.argmax(axis=1)
        )
        errors += weight[held] @ (predicted != label[held])
        for pair, decision in pair_decisions(kernel, *train, X[held]).items():
            for sign, own in zip((-1, 1), pair, strict=True):
                loss = np.maximum(0, 1 - sign * decision) * (label[held] == own)
                hinge += weight[held] @ loss
    return errors, hinge


def choose_factors(kernel, C, X, label, weight, n_classes, grid, n_folds):
    """Factors of C and gamma with the fewest errors, then the smallest hinge loss."""
    best, chosen = (np.inf, np.inf), None
    for gamma_factor in grid["gamma"]:
        for C_factor in grid["C"]:
            loss = validation_loss(
                replace(kernel, gamma=kernel.gamma * gamma_factor),
                X,
                label,
                C * C_factor * weight,
                weight,
                n_classes,
                n_folds,
            )
            if loss < best:
                best, chosen = loss, (C_factor, gamma_factor)
    return chosen
