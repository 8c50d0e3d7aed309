"""Linear functions that touch the decisions of a classifier with gradients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.estimators._metric import in_columns


class TouchingMixin(ABC):
    """``local_coef`` of a classifier whose decisions bend; a method gives gradients."""

    _check_query_rows: Any
    _decide: Any
    n_features_in_: int

    @abstractmethod
    def _gradients(self, X: Any) -> NDArray[np.float64]:
        """Gradients of the decisions at rows, by the columns that the metric gives."""

    def local_coef(self, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weights of the linear function that touches each row's decision.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        coef : ndarray of shape (n_samples, n_tasks, n_features)
            The gradient of the decision at the row. Where the SVMs of pairs of classes
            vote, that of the mean of a class's decisions against the others; zero for
            classes that have none.
        intercept : ndarray of shape (n_samples, n_tasks)
            ``coef[i] @ X[i] + intercept[i]`` is the decision value of row i. With a
            metric this needs one that maps by ``X @ components_``.
        """
        X = self._check_query_rows(X)
        gradient = self._gradients(X)
        dense = X.toarray() if sparse.issparse(X) else X
        intercept = self._decide(X) - np.einsum("ipj,ij->ip", gradient, dense)
        metric = getattr(self, "metric_", None)
        return in_columns(metric, gradient, self.n_features_in_), intercept
