"""The steps of the metric: the moment of the gradients, and the map that it gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from localsvm._clock import StageClock
from localsvm._threads import map_row_blocks, single_threaded_libraries
from localsvm.cluster import RegionCodes
from localsvm.estimators._regional.model import RegionalModel
from localsvm.rows import Rows

_LEAST_EIGENVALUE = 1e-6


@dataclass(frozen=True)
class MetricSettings:
    """What the metric is made of: power, whether diagonal, how often learned anew."""

    power: float = 0.5
    diagonal: bool = False
    n_steps: int = 2


@dataclass(frozen=True)
class MetricFit:
    """The map, and the share of each column in the squared gradient.

    Attributes
    ----------
    components : ndarray of shape (n_features, n_features)
    importances : ndarray of shape (n_features,)
    """

    components: NDArray[np.float64]
    importances: NDArray[np.float64]


def learn_metric(
    rows: Rows,
    settings: MetricSettings,
    moment_of: Callable[[Any], NDArray[np.float64]],
    clock: StageClock,
    n_jobs: int | None = None,
    first: NDArray[np.float64] | None = None,
) -> MetricFit:
    """Learn the map of a metric, step by step.

    Parameters
    ----------
    rows : Rows
        Distinct.
    settings : MetricSettings
    moment_of : callable
        Fits a model to the rows as they are mapped so far; returns the mean of g g'.
    clock : StageClock
        Past its limit only the first step is made.
    n_jobs : int or None, default=None
    first : ndarray of shape (n_features, n_features) or None, default=None
        Moment of the rows as they are, where it is known.
    """
    variances = _variances(rows.X, rows.sample_weight)
    components, mapped = np.eye(rows.X.shape[1]), rows.X
    for step in range(settings.n_steps):
        if step and clock.remaining() == 0:
            break
        if step or first is None:
            with clock.stage("fit"):
                moment = moment_of(mapped)
        else:
            moment = first
        with clock.stage("map"), single_threaded_libraries():
            importances = _importances(moment, components, variances)
            components = components @ _root(moment, settings.power, settings.diagonal)
            mapped = map_rows(rows.X, components, settings.diagonal, n_jobs)
            spread = _variances(mapped, rows.sample_weight).sum()
            if spread > 0:
                scale = float(np.sqrt(variances.sum() / spread))
                components, mapped = components * scale, mapped * scale
    return MetricFit(components, importances)


def map_rows(
    X: Any, components: NDArray[np.float64], diagonal: bool, n_jobs: int | None
) -> Any:
    """Map rows by ``components``, in their dtype; sparse ones stay so if diagonal."""
    components = components.astype(X.dtype, copy=False)
    if diagonal:
        return _scale_columns(X, np.diagonal(components))
    out = np.empty(X.shape, dtype=X.dtype)

    def map_block(block: slice) -> None:
        out[block] = X[block] @ components

    map_row_blocks(map_block, X.shape[0], n_jobs)
    return out


def gradient_second_moment(
    model: RegionalModel, codes: RegionCodes, weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weighted mean of g g' over rows, g being the gradient of the decision.

    Parameters
    ----------
    model : RegionalModel
    codes : RegionCodes
        Of the rows; held fixed, as if the regions did not change with x.
    weight : ndarray of shape (n_samples,)

    Returns
    -------
    moment : ndarray of shape (n_features, n_features)
        Summed over the tasks.

    Notes
    -----
    O(n m² + k² d + k d²) for m regions per row and k regions in all.
    """
    nodes, coefficients = model.node_codes(codes)
    n_rows, width = nodes.shape
    start = np.arange(n_rows + 1) * width
    shape = (n_rows, len(model.coef))
    values = coefficients.astype(np.float64).ravel()
    C = sparse.csr_array((values, nodes.ravel(), start), shape=shape)
    share = np.repeat(weight / weight.sum(), width)
    weighted = sparse.csr_array((values * share, nodes.ravel(), start), shape=shape)
    S = (C.T @ weighted).toarray()
    W = model.coef.astype(np.float64).swapaxes(0, 1)
    moment: NDArray[np.float64] = sum(task.T @ (S @ task) for task in W)
    return (moment + moment.T) / 2


def _root(
    moment: NDArray[np.float64], power: float, diagonal: bool
) -> NDArray[np.float64]:
    """(M / largest eigenvalue)^(power / 2); the identity without any gradient."""
    if diagonal:
        values, vectors = np.diagonal(moment), np.eye(len(moment))
    else:
        values, vectors = np.linalg.eigh(moment)
    largest = values.max()
    if not largest > 0:
        return np.eye(len(moment))
    scales = np.maximum(values / largest, _LEAST_EIGENVALUE) ** (power / 2)
    return np.asarray((vectors * scales) @ vectors.T)


def _importances(
    moment: NDArray[np.float64],
    components: NDArray[np.float64],
    variances: NDArray[np.float64],
) -> NDArray[np.float64]:
    squared = np.einsum("ij,jk,ik->i", components, moment, components, optimize=True)
    importances = np.maximum(squared, 0) * variances
    total = importances.sum()
    if not total > 0:
        return np.full(len(variances), 1 / len(variances))
    return np.asarray(importances / total)


def _variances(X: Any, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted variance of each column."""
    if sparse.issparse(X):
        wide = X.astype(np.float64, copy=False)
        return np.asarray(mean_variance_axis(wide, axis=0, weights=weight)[1])
    mean = np.average(X, axis=0, weights=weight)
    return np.asarray(np.average((X - mean) ** 2, axis=0, weights=weight))


def _scale_columns(X: Any, scale: NDArray[Any]) -> Any:
    if not sparse.issparse(X):
        return X * scale
    scaled = X.copy()
    scaled.data *= scale[X.indices]
    return scaled
