"""What the clusterers share: checked rows in, labels out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from localsvm._checks import check_rows, check_sample_weight, unchanged_on_failure
from localsvm.cluster._centers import NearestCenters
from localsvm.exceptions import DataError


class BaseClusterer(ClusterMixin, BaseEstimator, ABC):
    """Template of a clusterer: validate and cluster; change nothing if that fails.

    A clusterer implements ``_check_parameters`` and ``_fit``; one whose labels are not
    those of the nearest ``cluster_centers_`` also ``_assign``.
    """

    n_jobs: int | None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
            If fitting fails or is interrupted, the clusterer is left as it was.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            X = check_rows(self, X)
            self._fit(X, check_sample_weight(sample_weight, X))
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Cluster of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._assign(check_rows(self, X, reset=False))

    @abstractmethod
    def _check_parameters(self) -> None: ...

    @abstractmethod
    def _fit(self, X: Any, weight: NDArray[np.float64]) -> None: ...

    def _assign(self, X: Any) -> NDArray[np.int32]:
        """Nearest centre of each row."""
        search = NearestCenters(self.cluster_centers_, X.dtype, self.n_jobs)
        return search.search(X, 1)[0].ravel()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags = None
        return tags


def check_enough_rows(X: Any, n_clusters: int) -> None:
    """Refuse fewer rows than clusters."""
    if X.shape[0] < n_clusters:
        raise DataError(f"n_samples={X.shape[0]} should be >= n_clusters={n_clusters}.")
