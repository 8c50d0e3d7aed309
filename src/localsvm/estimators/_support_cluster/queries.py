"""What a fitted SVM of clusters answers besides the queries of every classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from localsvm.cluster import GaussianSummary
from localsvm.estimators._metric import TouchingMixin
from localsvm.estimators._support_cluster.model import ClusterMachine


class SupportClusterQueries(TouchingMixin):
    """Queries of clusters; the estimator fits them."""

    _machine: ClusterMachine | None
    classes_: NDArray[Any]
    multi_class: str
    n_jobs: int | None
    predict: Any
    region_class_counts_: NDArray[Any]
    summary_: GaussianSummary

    def region(self, X: Any, *, return_weights: bool = False) -> Any:
        """Cluster that speaks most for the predicted class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        return_weights : bool, default=False
            Whether to return all support clusters of a row with their shares.

        Returns
        -------
        clusters : ndarray of shape (n_samples,) or (n_samples, n_support)
            As indices into the clusters of ``summary_``. With ``return_weights`` all
            support clusters, the largest share first.
        weights : ndarray of shape (n_samples, n_support)
            Only with ``return_weights``: size of a cluster's dual times its kernel
            value, summed over the SVMs and divided by the sum of them all; negative for
            clusters of other classes than the predicted one.
        """
        predicted = self.predict(X)
        machine, rows = self._fitted_machine(), self._check_query_rows(X)
        regions, weights = machine.regions(rows, self.summary_, predicted)
        return (regions, weights) if return_weights else regions[:, 0]

    def _fitted_machine(self) -> ClusterMachine:
        """SVM of the clusters; raises before there is one."""
        check_is_fitted(self, "summary_")
        if self._machine is None:
            raise NotFittedError(
                f"This {type(self).__name__} has seen rows of one class "
                f"({self.classes_.tolist()[0]!r}) and nothing to tell it from. Call "
                "partial_fit with rows of another class, or give all classes to the "
                "first call."
            )
        return self._machine

    def _has_votes(self, region: int | None) -> bool:
        return len(self.classes_) > 2 and self.multi_class == "ovo"

    def _region_points(self) -> NDArray[Any]:
        return np.asarray(self.summary_.mean)

    def _region_centers(self) -> NDArray[Any]:
        return self._region_points()

    def _gradients(self, X: Any) -> NDArray[np.float64]:
        return self._fitted_machine().gradients(X, len(self.classes_))

    def _decide(self, X: Any) -> NDArray[Any]:
        machine = self._fitted_machine()
        first = int(self.region_class_counts_[0].argmax())
        return machine.class_scores(X, first, len(self.classes_), self.n_jobs)
