"""Queries of a fitted staged SVM."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from localsvm.estimators._base import BaseLocalClassifier
from localsvm.estimators._staged.model import StagedModel


class BaseStagedSVC(BaseLocalClassifier):
    """Decisions of two stages, which of them made them, and why."""

    _model: StagedModel

    _warns_of_scales = False

    @property
    def scaled_coef_(self) -> NDArray[np.float64]:
        """Weights of the first stage's regions by scaled columns."""
        check_is_fitted(self)
        return self._model.scaled_coef

    def stage(self, X: Any) -> NDArray[np.int64]:
        """Stage that answers each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        stages : ndarray of shape (n_samples,)
            1 or 2.
        """
        X = self._check_query_rows(X)
        return self._model.stages(X, self.n_jobs)

    def region(self, X: Any, *, return_weights: bool = False) -> Any:
        """Region or cell that answers each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        return_weights : bool, default=False
            Whether to return all regions of a row with their weights.

        Returns
        -------
        regions : ndarray of shape (n_samples,) or (n_samples, n_nearest)
            Of the first stage below ``first_stage_.n_regions_``, of the second from
            there on; see ``region_stage_``. With ``return_weights`` all regions of a
            row, nearest first.
        weights : ndarray of shape (n_samples, n_nearest)
            Only with ``return_weights``; of unit l2 norm in each row.
        """
        X = self._check_query_rows(X)
        regions, weights = self._model.code(X, self.n_jobs)
        return (regions, weights) if return_weights else regions[:, 0]

    def local_coef(self, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weights of the linear function that explains each decision.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        coef : ndarray of shape (n_samples, n_tasks, n_features)
            First stage: the blend of the weights of the row's regions. Second stage:
            the gradient of the kernel decision at the row; for several classes of the
            mean of the class's decisions against the others. Both by the columns of X;
            quantile scaling is linear between two quantiles, as ranks are.
        intercept : ndarray of shape (n_samples, n_tasks)
            ``coef[i] @ X[i] + intercept[i]`` is the decision value of row i.
        """
        X = self._check_query_rows(X)
        return self._model.local_coef(X, self.n_jobs)

    def _check_query_rows(self, X: Any) -> Any:
        rows = super()._check_query_rows(X)
        if sparse.issparse(rows) and not self._model.preparation.keeps_zeros:
            return rows.toarray()
        return rows

    def _is_curved(self, region: int | None) -> bool:
        return bool(self.region_stage_[region] == 2)

    def _has_votes(self, region: int | None) -> bool:
        return len(self.classes_) > 2 and self._is_curved(region)

    def _region_stages(self) -> NDArray[Any]:
        return np.asarray(self.region_stage_)

    def _region_coef(self) -> NDArray[Any] | None:
        return getattr(self, "scaled_coef_", None)

    def _has_weights_of_columns(self) -> bool:
        return self.best_params_["scaling"] not in ("quantile", "ranks", "unit")

    def _decide(self, X: Any) -> NDArray[Any]:
        return self._model.decide(X, self.n_jobs)
