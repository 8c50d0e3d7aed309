"""Transformers: ours, and those of scikit-learn that map by public attributes."""

from __future__ import annotations

from collections.abc import Mapping
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
from localsvm.export._file._common import COLUMNS
from localsvm.export._file._fields import (
    Array,
    Maybe,
    Report,
    Told,
    Whole,
    doubles,
    floats,
)
from localsvm.export._file._specs import Fields, Spec
from localsvm.export._file._store import Dims


def _n_components(value: Any) -> int:
    return len(value.components_)


def _n_names(value: Any) -> int:
    return len(value.get_feature_names_out())


def _make_imputer(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    """Fit to a row, for the attributes that scikit-learn keeps to itself."""
    del dims
    if unfitted.add_indicator:
        raise ValueError("add_indicator=True is more than a model file can hold.")
    unfitted.fit(np.zeros((1, len(values["statistics_"])), values["statistics_"].dtype))
    vars(unfitted).update(values)
    return unfitted


def _scaler(cls: type, **fields: Any) -> Spec:
    return Spec(cls, "transformer", {**COLUMNS, **fields})


_FLOATS = (np.float64, np.float32)
_SEEN: Any = {"n_samples_seen_": Told()}
_COLUMN = floats("columns")
_PRINCIPAL: Fields = {
    **COLUMNS,
    "components_": floats("components", "columns"),
    "explained_variance_": floats("components"),
    "explained_variance_ratio_": floats("components"),
    "singular_values_": floats("components"),
}

SPECS = (
    Spec(
        GradientMetric,
        "transformer",
        {
            **COLUMNS,
            "components_": doubles("columns", "columns"),
            "importances_": doubles("columns", low=0),
            "fit_report_": Report(),
        },
    ),
    _scaler(
        StandardScaler,
        mean_=Maybe(_COLUMN),
        var_=Maybe(_COLUMN),
        scale_=Maybe(_COLUMN),
        **_SEEN,
    ),
    _scaler(
        MinMaxScaler,
        min_=_COLUMN,
        scale_=_COLUMN,
        data_min_=_COLUMN,
        data_max_=_COLUMN,
        data_range_=_COLUMN,
        **_SEEN,
    ),
    _scaler(MaxAbsScaler, scale_=_COLUMN, max_abs_=_COLUMN, **_SEEN),
    _scaler(RobustScaler, center_=Maybe(_COLUMN), scale_=Maybe(_COLUMN)),
    _scaler(Normalizer),
    Spec(
        PCA,
        "transformer",
        {
            **_PRINCIPAL,
            "mean_": floats("columns"),
            "n_components_": Whole(0, dim="components"),
            "n_samples_": Whole(1),
            "noise_variance_": Told(),
        },
        width=_n_components,
    ),
    Spec(
        SimpleImputer,
        "transformer",
        {**COLUMNS, "statistics_": Array(_FLOATS, "columns", finite=False)},
        make=_make_imputer,
        width=_n_names,
    ),
    Spec(TruncatedSVD, "transformer", _PRINCIPAL, width=_n_components),
)
