"""The transformer that an estimator may learn first: fitted, applied, undone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import has_fit_parameter

from localsvm._checks import check_mapped_rows, one_of, with_methods

METRICS = one_of(None) | with_methods("fit", "transform")


def fit_metric(
    metric: Any, X: Any, y: NDArray[Any], weight: NDArray[np.float64]
) -> Any:
    """Fit the metric to the rows of positive weight."""
    # Weights of one round differently from none in the sums of some transformers.
    if has_fit_parameter(metric, "sample_weight") and not (weight == 1).all():
        return metric.fit(X, y, sample_weight=weight)
    present = weight > 0
    return metric.fit(X[present], y[present])


def map_rows(metric: Any, X: Any) -> Any:
    """Rows as the fitted metric sees them; None leaves them as they are."""
    return X if metric is None else check_mapped_rows(metric.transform(X))


def in_columns(metric: Any, coef: NDArray[Any], n_features: int) -> NDArray[Any]:
    """Turn weights of mapped columns into weights of the columns of X."""
    if metric is None:
        return coef
    components = getattr(metric, "components_", None)
    if components is None or not _maps_by(metric, np.asarray(components), n_features):
        raise AttributeError(
            "Weights of the columns of X need a metric that maps by X @ components_, "
            f"such as GradientMetric; got {type(metric).__name__}."
        )
    return np.asarray(coef @ components.T.astype(coef.dtype))


def _maps_by(metric: Any, components: NDArray[Any], n_features: int) -> bool:
    """Whether the metric maps some rows by ``components``, without an offset."""
    if components.ndim != 2 or components.shape[0] != n_features:
        return False
    rows = np.random.default_rng(0).standard_normal((3, n_features))
    mapped, expected = map_rows(metric, rows), rows @ components
    return mapped.shape == expected.shape and np.allclose(mapped, expected)


def require_no_metric(estimator: Any) -> None:
    """Refuse a metric for rows in blocks."""
    if estimator.metric is not None:
        raise ValueError(
            "metric must be None for rows in blocks; found "
            f"{type(estimator.metric).__name__}. Map the rows before, e.g. with "
            "map_blocks, or fit to rows in memory."
        )


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
