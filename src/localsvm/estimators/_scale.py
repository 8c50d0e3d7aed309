"""Penalty and constant column that follow the scale of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.estimators._base import TrainingRows

# The penalty C="scale", times the mean squared norm of the rows.
SCALED_C = 10.0


def intercept_constant(estimator: Any, mean_squared: float) -> float:
    """Constant appended to the rows; 0 without intercept."""
    if not estimator.fit_intercept:
        return 0.0
    if estimator.intercept_scaling == "scale":
        return float(np.sqrt(mean_squared))
    return float(estimator.intercept_scaling)


def mean_squared_norm(rows: TrainingRows) -> float:
    """Weighted mean of the rows' squared norms; 1 if that is zero or overflows."""
    mean = float(np.average(squared_norms(rows.X), weights=rows.sample_weight))
    return mean if 0 < mean < np.inf else 1.0


def squared_norms(X: Any) -> NDArray[np.float64]:
    """Squared norm of each row."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X, dtype=np.float64))
