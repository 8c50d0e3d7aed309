"""The staged SVM as it is kept: which stage answers a row, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.cluster import RegionCodes
from localsvm.estimators._local import LocalModel
from localsvm.estimators._regional import (
    GradientMetric,
    RegionalModel,
    Regions,
    confidences,
)
from localsvm.estimators._staged.preparation import Preparation


@dataclass(frozen=True)
class SwitchModel:
    """Two stages behind one preparation of the rows.

    Attributes
    ----------
    preparation : Preparation
    regions : SoftRegions
        Regions of the first stage, among prepared rows.
    first : RegionalModel
    second : LocalModel or None
        None leaves every row to the first stage.
    threshold : float
        Confidence of the first stage up to which the second answers.
    """

    preparation: Preparation
    regions: Regions
    first: RegionalModel
    second: LocalModel | None
    threshold: float

    def decide(self, X: Any, n_jobs: int | None) -> NDArray[Any]:
        """Decisions of shape (n_samples, 1) for two classes, else (.., n_classes)."""
        return self._decide_prepared(self.preparation.apply(X, n_jobs), n_jobs)

    def stages(self, X: Any, n_jobs: int | None) -> NDArray[np.int64]:
        """Stage, 1 or 2, that answers each row."""
        Z = self.preparation.apply(X, n_jobs)
        hard = self._is_hard(self.first.decide(Z, self._codes(Z, n_jobs), n_jobs))
        return 1 + hard.astype(np.int64)

    def code(
        self, X: Any, n_jobs: int | None
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Regions of each row and their weights; a cell has all of the weight.

        Cells are numbered after the regions of the first stage.
        """
        Z = self.preparation.apply(X, n_jobs)
        codes = self._codes(Z, n_jobs)
        regions, weights = codes.regions.astype(np.int64), codes.weights
        hard = self._hard_rows(Z, codes, n_jobs)
        if hard.size:
            cells = self._cells.route(Z[hard], n_jobs)
            regions[hard] = self.first.n_regions + cells[:, np.newaxis]
            weights[hard] = np.eye(1, weights.shape[1])
        return regions, weights

    def local_coef(
        self, X: Any, n_jobs: int | None
    ) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Weights and intercept of the linear function that explains each decision."""
        Z = self.preparation.apply(X, n_jobs)
        codes = self._codes(Z, n_jobs)
        gradient, _ = self.first.blend(codes)
        hard = self._hard_rows(Z, codes, n_jobs)
        if hard.size:
            gradient[hard] = self._cells.gradients(Z[hard], n_jobs)
        coef = self.preparation.pull_back(gradient, X)
        return coef, self._decide_prepared(Z, n_jobs) - linear_part(coef, X)

    @property
    def metric(self) -> GradientMetric | None:
        """Metric of the prepared rows."""
        return self.preparation.metric

    @property
    def keeps_zeros(self) -> bool:
        """Whether sparse rows stay sparse."""
        return self.preparation.keeps_zeros

    @property
    def scaled_coef(self) -> NDArray[Any]:
        """Weights of the first stage's regions by scaled columns."""
        return self.preparation.pull_back_scaled(self.first.coef[:-1])

    @property
    def _cells(self) -> LocalModel:
        """The second stage, of a model that has one."""
        assert self.second is not None
        return self.second

    def _codes(self, Z: Any, n_jobs: int | None) -> RegionCodes:
        return self.regions.code(Z, n_jobs)

    def _hard_rows(
        self, Z: Any, codes: RegionCodes, n_jobs: int | None
    ) -> NDArray[np.intp]:
        return np.flatnonzero(self._is_hard(self.first.decide(Z, codes, n_jobs)))

    def _is_hard(self, first_decisions: NDArray[Any]) -> NDArray[np.bool_]:
        if self.second is None:
            return np.zeros(len(first_decisions), dtype=bool)
        return np.asarray(confidences(first_decisions) <= self.threshold)

    def _decide_prepared(self, Z: Any, n_jobs: int | None) -> NDArray[Any]:
        """Decide by the first stage, and by the second where the first is in doubt."""
        if np.isinf(self.threshold):
            return self._decide_hard(Z, n_jobs)
        decisions = self.first.decide(Z, self._codes(Z, n_jobs), n_jobs)
        hard = np.flatnonzero(self._is_hard(decisions))
        if hard.size:
            decisions[hard] = self._decide_hard(Z[hard], n_jobs)
        return decisions

    def _decide_hard(self, Z: Any, n_jobs: int | None) -> NDArray[Any]:
        """Decide by the second stage."""
        decisions = self._cells.decide(Z, n_jobs).astype(Z.dtype, copy=False)
        return scaled_votes(decisions)


def scaled_votes(decisions: NDArray[Any]) -> NDArray[Any]:
    """Decisions of kernel SVMs; the votes of several classes scaled to [-1, 1]."""
    if decisions.shape[1] == 1:
        return np.asarray(decisions)
    return np.asarray(2 * decisions / (decisions.shape[1] - 1) - 1)


def linear_part(coef: NDArray[Any], X: Any) -> NDArray[Any]:
    """Sum weights of the columns over a row; a missing value counts as zero."""
    dense = X.toarray() if sparse.issparse(X) else np.nan_to_num(X)
    return np.asarray(np.einsum("ipj,ij->ip", coef, dense))
