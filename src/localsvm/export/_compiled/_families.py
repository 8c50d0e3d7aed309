"""Which estimators can be compiled, and how each of them is."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from localsvm.estimators import (
    AdditiveModel,
    AdditiveSVC,
    BaseLocalSVC,
    BaseRegionalSVC,
    GradientMetric,
    MixtureSVC,
    ReducedSVC,
    RegionAnswer,
    StagedSVC,
    SumModel,
    SwitchModel,
)
from localsvm.export._compiled._cells import cell_rows, reduced_rows, rows_maker
from localsvm.export._compiled._preparation import linear_map, prepared_rows
from localsvm.export._compiled._regions import mixture_rows, region_rows


def model_rows(estimator: Any, dtype: Any) -> Any:
    """Give a fitted estimator as the core takes it, for rows of a type.

    Raises
    ------
    TypeError
        If it cannot be compiled.
    """
    made = _own_rows(estimator, dtype)
    metric = getattr(estimator, "metric_", None)
    if metric is None:
        return made
    if not isinstance(metric, GradientMetric):
        raise TypeError(
            f"metric={type(metric).__name__} cannot be compiled; expected a "
            "GradientMetric or none."
        )
    components = np.asarray(metric.components_).T
    offset = np.zeros(len(components))
    way = linear_map(components, offset, dtype, n_columns=estimator.n_features_in_)
    return rows_maker("sum_rows", dtype)(
        n_cols=estimator.n_features_in_,
        preparations=[way],
        models=[made],
        seen=[0],
        weights=[1.0],
        bias=[0.0] * made.n_outputs,
    )


def score_type(estimator: Any, dtype: Any) -> Any:
    """Type of the decisions that an estimator gives for rows of a type."""
    if isinstance(estimator, AdditiveSVC):
        return np.dtype(np.float64)
    if isinstance(estimator, BaseLocalSVC):
        return estimator._model.support_rows.dtype
    if isinstance(estimator, MixtureSVC):
        return np.dtype(estimator._model.dtype)
    return np.dtype(dtype)


def _own_rows(estimator: Any, dtype: Any) -> Any:
    """Rows as the metric maps them, by the family of the estimator."""
    if isinstance(estimator, Pipeline):
        raise TypeError(
            "A Pipeline cannot be compiled; expected an estimator alone. Compile its "
            "last step, model[-1], and give it rows that model[:-1] has transformed."
        )
    check_is_fitted(estimator)
    if isinstance(estimator, AdditiveSVC):
        return _additive_rows(estimator._model, dtype)
    if isinstance(estimator, BaseRegionalSVC):
        return region_rows(estimator.regions_, estimator._model, dtype)
    if isinstance(estimator, BaseLocalSVC):
        return cell_rows(estimator._model, dtype)
    if isinstance(estimator, MixtureSVC):
        return mixture_rows(estimator._model, dtype)
    if isinstance(estimator, ReducedSVC):
        return reduced_rows(estimator._model, dtype)
    if isinstance(estimator, StagedSVC):
        return _staged_rows(estimator, dtype)
    raise TypeError(
        f"{type(estimator).__name__} cannot be compiled; expected AdditiveSVC, "
        "ClusteredSVC, LocalSVC, LocallyLinearSVC, MixtureSVC, ReducedSVC or StagedSVC."
    )


def _additive_rows(model: AdditiveModel, dtype: Any) -> Any:
    bins = model.bins
    return rows_maker("additive_rows", dtype)(
        is_category=bins.is_category.astype(np.uint8),
        n_bins=bins.n_bins,
        start=bins.cut_start,
        cuts=bins.cuts,
        cut_bin=bins.cut_bin,
        table=model.tables,
        bias=model.bias,
    )


def _staged_rows(estimator: StagedSVC, dtype: Any) -> Any:
    model, n_columns = estimator._model, estimator.n_features_in_
    if isinstance(model, SumModel):
        return _sum_rows(model, n_columns, dtype)
    return _switch_rows(model, n_columns, dtype)


def _sum_rows(model: SumModel, n_columns: int, dtype: Any) -> Any:
    """Weighted terms; those of one preparation share it."""
    models: list[Any] = []
    seen: list[int] = []
    ways: list[Any] = []
    places: dict[int, int] = {}
    for name in model.weights.of_terms:
        if name == "additive":
            assert model.additive is not None
            models.append(_additive_rows(model.additive, dtype))
            seen.append(-1)
            continue
        term = model.terms[name]
        if id(term.preparation) not in places:
            places[id(term.preparation)] = len(ways)
            ways.append(prepared_rows(term.preparation, n_columns, dtype))
        seen.append(places[id(term.preparation)])
        models.append(_term_rows(term.model, dtype))
    return rows_maker("sum_rows", dtype)(
        n_cols=n_columns,
        preparations=ways,
        models=models,
        seen=seen,
        weights=list(model.weights.of_terms.values()),
        bias=list(model.weights.bias),
    )


def _term_rows(model: Any, dtype: Any) -> Any:
    if isinstance(model, RegionAnswer):
        return region_rows(model.regions, model.linear, dtype)
    return cell_rows(model, dtype)


def _switch_rows(model: SwitchModel, n_columns: int, dtype: Any) -> Any:
    return rows_maker("switch_rows", dtype)(
        preparation=prepared_rows(model.preparation, n_columns, dtype),
        first=region_rows(model.regions, model.first, dtype),
        second=None if model.second is None else cell_rows(model.second, dtype),
        threshold=model.threshold,
    )
