"""What a fitted staged SVM answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from localsvm.estimators._base import BaseLocalClassifier
from localsvm.estimators._local import LocalSVC
from localsvm.estimators._regional import ClusteredSVC, confidences
from localsvm.estimators._staged.preparation import Preparation


class BaseStagedSVC(BaseLocalClassifier):
    """Decisions of two stages, who made them, and why."""

    first_stage_: ClusteredSVC
    second_stage_: LocalSVC | None
    _preparation: Preparation
    _threshold: float

    _warns_of_scales = False

    @property
    def scaled_coef_(self) -> NDArray[np.float64]:
        """Weights of the first stage's regions by scaled columns."""
        check_is_fitted(self)
        return self._preparation.pull_back_scaled(self.first_stage_.coef_)

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
        return self._find_stages(self._prepare(self._check_query_rows(X)))

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
        Z = self._prepare(self._check_query_rows(X))
        codes = self.first_stage_.regions_.code(Z, self.n_jobs)
        regions, weights = codes.regions.astype(np.int64), codes.weights
        hard = np.flatnonzero(self._is_hard(self.first_stage_._decide(Z)))
        if hard.size:
            cells = self._second()._find_regions(Z[hard])
            regions[hard] = self.first_stage_.n_regions_ + cells[:, np.newaxis]
            weights[hard] = np.eye(1, weights.shape[1])
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
            quantile scaling is linear between two quantiles.
        intercept : ndarray of shape (n_samples, n_tasks)
            ``coef[i] @ X[i] + intercept[i]`` is the decision value of row i.
        """
        X = self._check_query_rows(X)
        Z = self._prepare(X)
        codes = self.first_stage_.regions_.code(Z, self.n_jobs)
        gradient, _ = self.first_stage_._fitted_model().blend(codes)
        hard = np.flatnonzero(self._is_hard(self.first_stage_._decide(Z)))
        if hard.size:
            gradient[hard] = self._second()._gradients(Z[hard])
        coef = self._preparation.pull_back(gradient, X)
        dense = X.toarray() if sparse.issparse(X) else X
        linear = np.einsum("ipj,ij->ip", coef, dense)
        return coef, self._decide_prepared(Z) - linear

    def _find_stages(self, Z: Any) -> NDArray[np.int64]:
        return 1 + self._is_hard(self.first_stage_._decide(Z)).astype(np.int64)

    def _check_query_rows(self, X: Any) -> Any:
        rows = super()._check_query_rows(X)
        if sparse.issparse(rows) and not self._preparation.keeps_zeros:
            return rows.toarray()
        return rows

    def _prepare(self, X: Any) -> Any:
        return self._preparation.apply(X, self.n_jobs)

    def _is_hard(self, first_decisions: NDArray[Any]) -> NDArray[np.bool_]:
        if self.second_stage_ is None:
            return np.zeros(len(first_decisions), dtype=bool)
        return np.asarray(confidences(first_decisions) <= self._threshold)

    def _second(self) -> LocalSVC:
        """Give the second stage, for rows that are hard."""
        assert self.second_stage_ is not None
        return self.second_stage_

    def _is_curved(self, region: int | None) -> bool:
        return bool(self.region_stage_[region] == 2)

    def _has_votes(self, region: int | None) -> bool:
        return len(self.classes_) > 2 and self._is_curved(region)

    def _region_stages(self) -> NDArray[Any]:
        return np.asarray(self.region_stage_)

    def _region_coef(self) -> NDArray[Any] | None:
        return getattr(self, "scaled_coef_", None)

    def _has_weights_of_columns(self) -> bool:
        return self.best_params_["scaling"] not in ("quantile", "unit")

    def _decide(self, X: Any) -> NDArray[Any]:
        return self._decide_prepared(self._prepare(X))

    def _decide_prepared(self, Z: Any) -> NDArray[Any]:
        """Take step 4."""
        if np.isinf(self._threshold):
            return self._decide_hard(Z)
        decisions = self.first_stage_._decide(Z)
        hard = np.flatnonzero(self._is_hard(decisions))
        if hard.size:
            decisions[hard] = self._decide_hard(Z[hard])
        return decisions

    def _decide_hard(self, Z: Any) -> NDArray[Any]:
        decisions = self._second()._decide(Z).astype(Z.dtype, copy=False)
        if decisions.shape[1] == 1:
            return np.asarray(decisions)
        return np.asarray(2 * decisions / (decisions.shape[1] - 1) - 1)
