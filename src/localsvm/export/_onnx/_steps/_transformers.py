"""Transformers of numeric rows as graphs: scalers, linear maps, imputation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)

from localsvm.estimators import GradientMetric
from localsvm.export._onnx._graph import Graph
from localsvm.export._onnx._tensor import Tensor

Step = Callable[[Graph, Tensor, Any], Tensor]


def can_transform(transformer: Any) -> bool:
    """Whether this module knows the transformer."""
    return type(transformer) in STEPS


def transform(graph: Graph, rows: Tensor, transformer: Any) -> Tensor:
    """Rows as a fitted transformer maps them."""
    return STEPS[type(transformer)](graph, rows, transformer)


def map_by_metric(graph: Graph, rows: Tensor, metric: Any) -> Tensor:
    """Rows as the metric of an estimator maps them; None leaves them as they are."""
    if metric is None:
        return rows
    if not can_transform(metric):
        names = ", ".join(sorted(each.__name__ for each in STEPS))
        raise TypeError(
            f"metric={type(metric).__name__} cannot be exported to ONNX; expected None "
            f"or one of {names}."
        )
    return transform(graph, rows, metric)


def unit_rows(rows: Tensor, norm: str = "l2") -> Tensor:
    """Rows divided by their norm; those of norm zero stay."""
    if norm == "l2":
        size = (rows * rows).sum(1, keep=True).sqrt()
    elif norm == "l1":
        size = rows.absolute().sum(1, keep=True)
    else:
        size = rows.absolute().max(1, keep=True)
    return rows / size.above(0.0).where(size, 1.0)


def _gradient_metric(graph: Graph, rows: Tensor, metric: GradientMetric) -> Tensor:
    components = np.asarray(metric.components_)
    if metric.diagonal:
        return rows * graph.weight(np.diagonal(components), graph.rows_dtype)
    return rows @ graph.weight(components, graph.rows_dtype)


def _standard_scaler(graph: Graph, rows: Tensor, scaler: StandardScaler) -> Tensor:
    return _shift_and_divide(
        rows,
        scaler.mean_ if scaler.with_mean else None,
        scaler.scale_ if scaler.with_std else None,
    )


def _robust_scaler(graph: Graph, rows: Tensor, scaler: RobustScaler) -> Tensor:
    return _shift_and_divide(
        rows,
        scaler.center_ if scaler.with_centering else None,
        scaler.scale_ if scaler.with_scaling else None,
    )


def _max_abs_scaler(graph: Graph, rows: Tensor, scaler: MaxAbsScaler) -> Tensor:
    scaled = _shift_and_divide(rows, None, scaler.scale_)
    if getattr(scaler, "clip", False):
        scaled = scaled.at_least(-1.0).at_most(1.0)
    return scaled


def _min_max_scaler(graph: Graph, rows: Tensor, scaler: MinMaxScaler) -> Tensor:
    scaled = rows * graph.weight(scaler.scale_) + graph.weight(scaler.min_)
    if scaler.clip:
        low, high = scaler.feature_range
        scaled = scaled.at_least(low).at_most(high)
    return scaled


def _normalizer(graph: Graph, rows: Tensor, normalizer: Normalizer) -> Tensor:
    return unit_rows(rows, normalizer.norm)


def _pca(graph: Graph, rows: Tensor, pca: PCA) -> Tensor:
    axes = pca.components_.T
    if pca.whiten:
        axes = axes / np.sqrt(pca.explained_variance_)
    return (rows - graph.weight(pca.mean_)) @ graph.weight(axes)


def _truncated_svd(graph: Graph, rows: Tensor, svd: TruncatedSVD) -> Tensor:
    return rows @ graph.weight(svd.components_.T)


def _simple_imputer(graph: Graph, rows: Tensor, imputer: SimpleImputer) -> Tensor:
    try:
        fill = np.asarray(imputer.statistics_, dtype=np.float64)
    except ValueError:
        raise TypeError(
            "SimpleImputer of strings cannot be exported to ONNX, which has no missing "
            "strings; a TableEncoder can."
        ) from None
    unknown = graph.apply("IsNaN", rows, dtype=np.bool_)
    if not np.isnan(imputer.missing_values):
        unknown = rows.equals(float(imputer.missing_values))
    filled = unknown.where(fill, rows)
    # Columns without any known value are dropped.
    kept = np.flatnonzero(~np.isnan(fill))
    if len(kept) < len(fill):
        filled = filled.take(kept, axis=1)
    if imputer.indicator_ is None:
        return filled
    told = unknown.take(imputer.indicator_.features_, axis=1)
    return graph.concatenate([filled, told.real()])


def _shift_and_divide(rows: Tensor, shift: Any, scale: Any) -> Tensor:
    if shift is not None:
        rows = rows - np.asarray(shift, dtype=np.float64)
    return rows if scale is None else rows / np.asarray(scale, dtype=np.float64)


STEPS: dict[type, Step] = {
    GradientMetric: _gradient_metric,
    StandardScaler: _standard_scaler,
    RobustScaler: _robust_scaler,
    MaxAbsScaler: _max_abs_scaler,
    MinMaxScaler: _min_max_scaler,
    Normalizer: _normalizer,
    PCA: _pca,
    TruncatedSVD: _truncated_svd,
    SimpleImputer: _simple_imputer,
}
