"""What a fitted mixture answers besides the queries of every classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from localsvm.engine import is_in_blocks, is_lazy
from localsvm.estimators._metric import TouchingMixin, in_columns
from localsvm.estimators._mixture.model import MixtureModel


class MixtureQueries(TouchingMixin):
    """Attributes and queries that only a mixture has; the estimator fits it."""

    _model: MixtureModel
    _answer_blocks: Any
    classes_: NDArray[Any]
    metric_: Any
    n_jobs: int | None

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of each component, of shape (n_regions, n_tasks, n_features)."""
        coef = self._fitted_model().coef
        return in_columns(self.metric_, coef, self.n_features_in_)

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercept of each component, of shape (n_regions, n_tasks)."""
        return self._fitted_model().intercept

    @property
    def gate_coef_(self) -> NDArray[np.float64]:
        """Slopes of the gate's logits; of two levels, those of the groups first."""
        coef = self._fitted_model().gate.coef
        return in_columns(self.metric_, coef, self.n_features_in_)

    @property
    def gate_intercept_(self) -> NDArray[np.float64]:
        """Intercepts of the gate's logits."""
        return self._fitted_model().gate.intercept

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class by the mixture's own definition, normalised.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or blocks
            Parquet and batches as in ``predict``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            The largest one belongs to the class that ``predict`` gives.

        Notes
        -----
        Eq. 6 divided by its sum over the classes. It is a model of the margin, not
        calibrated; :class:`~sklearn.calibration.CalibratedClassifierCV` is.
        """
        if is_in_blocks(X) and not is_lazy(X):
            return np.asarray(self._answer_blocks("predict_proba", X))
        X = self._check_query_rows(X)
        return self._fitted_model().probabilities(X, self.n_jobs)

    def _probabilities_of(self, X: Any, decisions: NDArray[Any]) -> NDArray[np.float64]:
        del decisions  # of the same sums
        return self._fitted_model().probabilities(X, self.n_jobs)

    def _find_regions(self, X: Any) -> NDArray[Any]:
        return np.asarray(self._fitted_model().shares(X, self.n_jobs).argmax(axis=1))

    def gates(self, X: Any) -> NDArray[Any]:
        """Share of each component in each row, by the gate alone.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        shares : ndarray of shape (n_samples, n_regions)
            Rows sum to one.
        """
        X = self._check_query_rows(X)
        return self._fitted_model().shares(X, self.n_jobs)

    def responsibilities(self, X: Any, y: Any = None) -> NDArray[Any]:
        """Responsibility of each component for each row (Eq. 11).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
            Labels of the rows. Without them the responsibilities are averaged over the
            classes, each with its probability.

        Returns
        -------
        responsibilities : ndarray of shape (n_samples, n_regions)
            Rows sum to one.
        """
        X = self._check_query_rows(X)
        index = None if y is None else self._class_index(X, y)
        return self._fitted_model().responsibilities(X, index, self.n_jobs)

    def region(self, X: Any, *, return_weights: bool = False) -> Any:
        """Component with the largest share in each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        return_weights : bool, default=False
            Whether to return all components of a row with their shares.

        Returns
        -------
        components : ndarray of shape (n_samples,) or (n_samples, n_regions)
            With ``return_weights`` all of them, the largest share first.
        weights : ndarray of shape (n_samples, n_regions)
            Only with ``return_weights``: their shares.
        """
        if not return_weights:
            return self.gates(X).argmax(axis=1)
        X = self._check_query_rows(X)
        return self._fitted_model().regions(X, self.n_jobs)

    def _fitted_model(self) -> MixtureModel:
        check_is_fitted(self)
        model: MixtureModel = self._model
        return model

    def _is_curved(self, region: int | None) -> bool:
        return True

    def _gradients(self, X: Any) -> NDArray[np.float64]:
        return self._fitted_model().slopes(X)

    def _decide(self, X: Any) -> NDArray[Any]:
        return self._fitted_model().decide(X, self.n_jobs)

    def _class_index(self, X: Any, y: Any) -> NDArray[np.intp]:
        labels = np.asarray(y)
        check_consistent_length(X, labels)
        unknown = ~np.isin(labels, self.classes_)
        if unknown.any():
            raise ValueError(
                f"y contains the label {labels[unknown][0]!r}; expected labels of the "
                f"fitted classes {self.classes_.tolist()}."
            )
        return np.searchsorted(self.classes_, labels)
