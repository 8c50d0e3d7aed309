"""What a model file keeps of linear SVMs in regions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from localsvm.cluster import HardRegions, LocalCoordinates, SoftRegions
from localsvm.estimators._held_out import MAPPED_HELD_OUT
from localsvm.estimators._regional import (
    ClusteredSVC,
    ClusteredSVCCV,
    LocallyLinearSVC,
    RegionalModel,
)
from localsvm.estimators._regional.gradient_metric import state as gradient_metric_state
from localsvm.state import (
    MAPPED_CLASSIFIER,
    REGIONS,
    SEARCHED,
    Dims,
    Either,
    Fields,
    Number,
    Part,
    Record,
    Sometimes,
    Spec,
    Whole,
    Word,
    floats,
    indices,
)


def _hard(clusterer: Any, n_regions: int) -> HardRegions:
    regions = HardRegions(clusterer)
    regions.n_regions = n_regions
    return regions


def _soft(
    centers: Any,
    n_regions: int,
    n_nearest: int,
    sharpness: float,
    tau: float,
    cut: float = 0.0,
) -> SoftRegions:
    del n_regions
    regions = SoftRegions(centers, n_nearest=n_nearest, sharpness=sharpness, cut=cut)
    regions.tau = tau
    return regions


def _coordinates(
    centers: Any, n_regions: int, n_nearest: int, coding: str
) -> LocalCoordinates:
    del n_regions
    return LocalCoordinates(centers, n_nearest=n_nearest, coding=coding)


_CENTERS: Any = {
    "n_regions": Whole(1, dim="regions"),
    "centers": floats("regions", "mapped_columns"),
    "n_nearest": Whole(1),
}
_HARD = Record(
    _hard,
    n_regions=Whole(1, dim="regions"),
    clusterer=Part("clusterer", columns="mapped_columns"),
)
_SOFT = Record(
    _soft,
    **_CENTERS,
    sharpness=Number(0.0),
    tau=Number(0.0),
    # Files of old have codes without a cut.
    cut=Sometimes(Number(0.0)),
)
_COORDINATES = Record(
    _coordinates, **_CENTERS, coding=Word("inverse_distance", "local_coordinates")
)
_REGIONAL: Fields = {
    **MAPPED_CLASSIFIER,
    **MAPPED_HELD_OUT,
    **REGIONS,
    # That of hard regions is theirs.
    "clusterer_": Sometimes(
        Part("clusterer", columns="mapped_columns", known_only=True)
    ),
    "_model": Record(
        RegionalModel,
        coef=floats("regions+1", "tasks", "mapped_columns", by_rows=True),
        intercept=floats("regions+1", "tasks"),
    ),
    "C_": Number(0.0),
    "intercept_scaling_": Number(),
    "duality_gap_": Number(finite=False),
    "n_iter_": Whole(1),
    "n_support_": indices("classes"),
}


def _take(values: dict[str, Any]) -> dict[str, Any]:
    if isinstance(values.get("regions_"), HardRegions):
        return {name: each for name, each in values.items() if name != "clusterer_"}
    return values


def _make(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    del dims
    vars(unfitted).update(values)
    if isinstance(values["regions_"], HardRegions):
        unfitted.clusterer_ = values["regions_"].clusterer
    return unfitted


_CLUSTERED: Fields = {
    **_REGIONAL,
    "regions_": Either(hard=(HardRegions, _HARD), soft=(SoftRegions, _SOFT)),
}
SPECS = (
    *gradient_metric_state.SPECS,
    Spec(ClusteredSVC, "classifier", _CLUSTERED, take=_take, make=_make),
    Spec(
        ClusteredSVCCV,
        "classifier",
        {
            **_CLUSTERED,
            **SEARCHED,
            "global_reg_": Number(0.0, finite=False),
        },
        take=_take,
        make=_make,
    ),
    Spec(
        LocallyLinearSVC,
        "classifier",
        {**_REGIONAL, "regions_": _COORDINATES},
        make=_make,
    ),
)
