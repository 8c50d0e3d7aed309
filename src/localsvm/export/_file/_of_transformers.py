"""Transformers of scikit-learn that map by public attributes."""

from __future__ import annotations

from typing import Any

from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)

from localsvm.state import (
    COLUMNS,
    Fields,
    Maybe,
    Spec,
    Told,
    Whole,
    floats,
)


def _n_components(value: Any) -> int:
    return len(value.components_)


def _scaler(cls: type, **fields: Any) -> Spec:
    return Spec(cls, "transformer", {**COLUMNS, **fields})


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
    Spec(TruncatedSVD, "transformer", _PRINCIPAL, width=_n_components),
)
