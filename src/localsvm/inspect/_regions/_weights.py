"""Weights of the features in each region."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.inspect._local_view import LocalView

Floats = NDArray[np.float64]
# Rows whose gradients stand for those of a region.
_ROWS_PER_REGION = 20
_BLOCK_VALUES = 1 << 22


def region_weights(view: LocalView, X: Any = None) -> Floats:
    """Weights of the features in each region: (n_regions, n_tasks, n_features).

    Those of linear SVMs; gradients at the centre of clusters; elsewhere the mean
    gradient of the first twenty rows of X in a region. NaN where nothing of this is
    known.
    """
    points = view.estimator._region_points()
    if points is not None:
        return _gradients(view, points)
    weights = np.full(_shape(view), np.nan)
    fitted = _fitted_weights(view)
    weights[: len(fitted)] = fitted
    if X is not None:
        _fill_by_rows(weights, view, X)
    return weights


def _fitted_weights(view: LocalView) -> Floats:
    """Weights of the first regions, as the fit left them; none where there are none."""
    found = view.estimator._region_coef()
    if found is None:  # of kernel SVMs, or in a metric that is no matrix
        return np.empty((0, *_shape(view)[1:]))
    return np.asarray(found, dtype=np.float64)


def _fill_by_rows(weights: Floats, view: LocalView, X: Any) -> None:
    """Put mean gradients where there are no weights, or weights of scaled columns."""
    regions = view.regions(X)
    open_regions = np.isnan(weights[:, 0, 0])
    open_regions |= not view.estimator._has_weights_of_columns()
    for region in np.unique(regions):
        if region < len(weights) and open_regions[region]:
            rows = np.flatnonzero(regions == region)[:_ROWS_PER_REGION]
            weights[region] = _gradients(view, X[rows]).mean(axis=0)


def _gradients(view: LocalView, points: Any) -> Floats:
    """Weights at points, of shape (n_points, n_tasks, n_features)."""
    _, n_tasks, n_features = _shape(view)
    step = max(1, _BLOCK_VALUES // (n_tasks * n_features))
    parts = [
        view.estimator.local_coef(points[i : i + step])[0]
        for i in range(0, points.shape[0], step)
    ]
    return np.concatenate(parts).astype(np.float64)


def _shape(view: LocalView) -> tuple[int, int, int]:
    n_classes = len(view.classes)
    n_tasks = 1 if n_classes == 2 else n_classes
    return view.estimator.n_regions_, n_tasks, view.estimator.n_features_in_
