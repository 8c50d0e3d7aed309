"""Gradients of the decisions of local kernel SVMs."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.solvers._local_models import LocalModels


class DifferentiableKernel(Protocol):
    """A kernel that knows its gradient."""

    def weighted_gradient(
        self, X: Any, Z: Any, weights: NDArray[np.float64], gamma: float
    ) -> NDArray[np.float64]: ...


def local_gradients(
    models: LocalModels,
    support_rows: Any,
    kernel: DifferentiableKernel,
    n_classes: int,
    X: Any,
    route: NDArray[np.int64],
    prior: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Gradient of each row's decision by the model that it is routed to.

    Parameters
    ----------
    models : LocalModels
    support_rows : ndarray or CSR
        The rows that the models' ``support`` points to.
    kernel : localsvm.kernels.Kernel
    n_classes : int
    X : ndarray or CSR of shape (n_samples, n_features)
    route : ndarray of shape (n_samples,)
    prior : ndarray of shape (n_samples, n_outputs, n_features) or None
        Gradients of the prior of the rows; of several classes a pair gets half the
        difference of its two.

    Returns
    -------
    gradients : ndarray of shape (n_samples, n_outputs, n_features)
        For two classes of the decision. For more, of the mean of a class's decisions
        against the other classes of its neighbourhood; votes have no gradient.

    Notes
    -----
    O(n s d) for s support vectors of a neighbourhood and each class in it.
    """
    X = _dense(X)
    n_outputs = 1 if n_classes == 2 else n_classes
    gradients = np.zeros((X.shape[0], n_outputs, X.shape[1]))
    for model in np.unique(route):
        rows = np.flatnonzero(route == model)
        start, end = models.support_start[model : model + 2]
        support = _dense(support_rows[models.support[start:end]])
        pairs, coef = _pairs_of(models, int(model))
        for output, shares in pair_shares(pairs, n_classes):
            gradients[rows, output] = kernel.weighted_gradient(
                X[rows], support, shares @ coef, float(models.gamma[model])
            )
            if prior is not None:
                between = _between(prior[rows], pairs, n_classes)
                gradients[rows, output] += np.einsum("p,ipj->ij", shares, between)
    return gradients


def _pairs_of(
    models: LocalModels, model: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Pairs of classes of a model, and their weights of the support vectors."""
    first, last = models.pair_start[model : model + 2]
    pairs = models.pairs.reshape(-1, 2)[first:last]
    coef = models.coef[models.coef_start[model] : models.coef_start[model + 1]]
    return pairs, coef.reshape(len(pairs), -1) if len(pairs) else coef


def pair_shares(
    pairs: NDArray[np.int32], n_classes: int
) -> list[tuple[int, NDArray[np.float64]]]:
    """Share of each pair in the mean decision of each class that is there.

    Parameters
    ----------
    pairs : ndarray of shape (n_pairs, 2)
        Negative and positive class.
    n_classes : int

    Returns
    -------
    list of (output, shares)
        Column of the class, and an array of shape (n_pairs,); of two classes there is
        one column.
    """
    if not len(pairs):
        return []
    if n_classes == 2:
        return [(0, np.ones(1))]
    present = np.unique(pairs)
    return [
        (
            int(label),
            ((pairs[:, 1] == label).astype(float) - (pairs[:, 0] == label))
            / (len(present) - 1),
        )
        for label in present
    ]


def _between(
    prior: NDArray[np.float64], pairs: NDArray[np.int32], n_classes: int
) -> NDArray[np.float64]:
    """Share of each pair in the prior, of shape (n_samples, n_pairs, n_features)."""
    if n_classes == 2:
        return prior
    return (prior[:, pairs[:, 1]] - prior[:, pairs[:, 0]]) / 2


def _dense(X: Any) -> NDArray[np.float64]:
    dense = X.toarray() if sparse.issparse(X) else X
    return np.asarray(dense, dtype=np.float64)
