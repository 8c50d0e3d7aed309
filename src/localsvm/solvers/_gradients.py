"""Gradients of the decisions of local kernel SVMs."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.solvers._neighborhoods import LocalModels


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
        for output, weights in _class_weights(models, int(model), n_classes):
            gradients[rows, output] = kernel.weighted_gradient(
                X[rows], support, weights, float(models.gamma[model])
            )
    return gradients


def _class_weights(
    models: LocalModels, model: int, n_classes: int
) -> list[tuple[int, NDArray[np.float64]]]:
    """Weight of each support vector in the decision of each class."""
    first, last = models.pair_start[model : model + 2]
    pairs = models.pairs.reshape(-1, 2)[first:last]
    if not len(pairs):
        return []
    coef = models.coef[models.coef_start[model] : models.coef_start[model + 1]]
    coef = coef.reshape(len(pairs), -1)
    if n_classes == 2:
        return [(0, coef[0])]
    present = np.unique(pairs)
    return [
        (
            int(label),
            ((pairs[:, 1] == label).astype(float) - (pairs[:, 0] == label))
            @ coef
            / (len(present) - 1),
        )
        for label in present
    ]


def _dense(X: Any) -> NDArray[np.float64]:
    dense = X.toarray() if sparse.issparse(X) else X
    return np.asarray(dense, dtype=np.float64)
