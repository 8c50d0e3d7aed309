"""Queries of a fitted staged SVM."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from localsvm._threads import single_threaded_libraries
from localsvm.estimators._base import BaseLocalClassifier
from localsvm.estimators._held_out import (
    Calibration,
    ClassMap,
    SignMap,
    identity_map,
)
from localsvm.estimators._staged.evaluation import Choice
from localsvm.estimators._staged.fit import hold_out
from localsvm.estimators._staged.setting import StageOptions
from localsvm.estimators._staged.sum.model import SumModel
from localsvm.estimators._staged.switch.model import SwitchModel
from localsvm.estimators._views import ColumnParts
from localsvm.exceptions import DataError
from localsvm.rows import Rows


def _is_switch(model: Any) -> bool:
    """Raise for a fitted sum, which has no stages."""
    fitted = getattr(model, "_model", None)
    if isinstance(fitted, SumModel):
        raise AttributeError(
            "stage needs a model that switches between two stages; this one adds "
            f"{', '.join(fitted.weights.of_terms)}. Fit with join='switch'."
        )
    return True


def _is_sum(model: Any) -> bool:
    """Raise for a fitted switch, which adds nothing."""
    if isinstance(getattr(model, "_model", None), SwitchModel):
        raise AttributeError(
            "parts needs a sum of terms; this model switches between two stages. Fit "
            "with join='sum'."
        )
    return True


class BaseStagedSVC(BaseLocalClassifier):
    """Decisions of two stages, which of them made them, and why."""

    _model: SwitchModel | SumModel

    _warns_of_scales = False
    _allows_nan = True

    @property
    def scaled_coef_(self) -> NDArray[np.float64]:
        """Weights of the regions' linear SVMs by scaled columns."""
        check_is_fitted(self)
        coef = self._model.scaled_coef
        if coef is None:
            raise AttributeError("scaled_coef_ needs regions; this model has none.")
        return coef

    @available_if(_is_switch)  # type: ignore[untyped-decorator]
    def stage(self, X: Any) -> NDArray[np.int64]:
        """Stage that answers each row, of a model that switches between two.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        stages : ndarray of shape (n_samples,)
            1 or 2.
        """
        X = self._check_query_rows(X)
        assert isinstance(self._model, SwitchModel)
        return self._model.stages(X, self.n_jobs)

    @available_if(_is_sum)  # type: ignore[untyped-decorator]
    def parts(self, X: Any) -> dict[str, NDArray[np.float64]]:
        """Decisions of each term, weighted, of a model that is a sum.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        parts : dict of str to ndarray of shape (n_samples, n_outputs)
            Decisions by term times their weights, and "bias"; they sum to the decision
            values. One output for two classes.
        """
        X = self._check_query_rows(X)
        assert isinstance(self._model, SumModel)
        return self._model.weighted_parts(X, self.n_jobs)

    @available_if(_is_sum)  # type: ignore[untyped-decorator]
    def contributions(self, X: Any) -> NDArray[np.float64]:
        """Return what each column adds to a decision on its own, of a sum.

        The additive term is such a sum, exactly. In the other terms columns act
        together: a column's part is the change of their decisions from a row that has
        the column's median or most frequent level instead. It costs a prediction per
        column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features) or (n_samples, n_features, n_classes)
        """
        X = self._check_query_rows(X)
        assert isinstance(self._model, SumModel)
        found = self._model.contributions(X, self.n_jobs)
        return found[..., 0] if found.shape[2] == 1 else found

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
            quantile scaling is linear between two quantiles, as ranks are. Of a sum the
            weighted sum of both; the additive term has steps, so no slope.
        intercept : ndarray of shape (n_samples, n_tasks)
            ``coef[i] @ X[i] + intercept[i]`` is the decision value of row i.
        """
        X = self._check_query_rows(X)
        return self._model.local_coef(X, self.n_jobs)

    def _check_query_rows(self, X: Any) -> Any:
        rows = super()._check_query_rows(X)
        if sparse.issparse(rows) and not self._model.keeps_zeros:
            return rows.toarray()
        return rows

    def _check_rows(self, X: Any, *y: Any, reset: bool = True) -> Any:
        checked = super()._check_rows(X, *y, reset=reset)
        rows = checked[0] if y else checked
        if sparse.issparse(rows) and np.isnan(rows.data.sum()):
            raise DataError(
                "Input X contains NaN and is sparse; missing values need dense rows. "
                "Use X.toarray()."
            )
        return checked

    def _column_parts(self, X: Any) -> ColumnParts:
        if isinstance(self._model, SumModel):
            return self._model.column_parts(self._check_query_rows(X), self.n_jobs)
        return super()._column_parts(X)

    def _is_linear_at(self, X: Any) -> NDArray[np.bool_]:
        return np.asarray(self.stage(X) == 1)

    def _splits_by(self) -> str:
        return "swap" if isinstance(self._model, SumModel) else "gradient"

    def _is_curved(self, region: int | None) -> bool:
        stages = self.region_stage_  # none of a sum of tables alone
        return bool(region is not None and region < len(stages) and stages[region] == 2)

    def _has_votes(self, region: int | None) -> bool:
        return len(self.classes_) > 2 and self._is_curved(region)

    def _region_stages(self) -> NDArray[Any]:
        return np.asarray(self.region_stage_)

    def _region_coef(self) -> NDArray[Any] | None:
        return getattr(self, "scaled_coef_", None)

    def _has_weights_of_columns(self) -> bool:
        is_sum = isinstance(self._model, SumModel)
        scaling = self.best_params_["scaling"]
        return not is_sum and scaling not in ("quantile", "ranks", "unit")

    def _calibrate(self, rows: Rows, choice: Choice, options: StageOptions) -> None:
        """Learn probabilities; a sum has them without a row that was held out."""
        held_out = choice.held_out
        if held_out is None:
            with options.clock.stage("calibrate"), single_threaded_libraries():
                held_out = hold_out(rows, choice.setting, options)
        given = self._given_map()
        if held_out is not None:
            self._keep_held_out(held_out)
        elif given is not None:
            self._calibration = Calibration(given)

    def _given_map(self) -> SignMap | ClassMap | None:
        # The weights and the bias of a sum make its decisions log odds.
        is_sum = isinstance(self._model, SumModel)
        return identity_map(len(self.classes_)) if is_sum else None

    def _find_regions(self, X: Any) -> NDArray[Any]:
        return self._model.code(X, self.n_jobs)[0][:, 0]

    def _decide(self, X: Any) -> NDArray[Any]:
        return self._model.decide(X, self.n_jobs)
