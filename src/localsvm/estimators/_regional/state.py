"""What a model file keeps of linear SVMs in regions."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from localsvm.cluster import HardRegions, LocalCoordinates, SoftRegions
from localsvm.estimators._held_out.state import MAPPED_HELD_OUT
from localsvm.estimators._regional import (
    ClusteredSVC,
    ClusteredSVCCV,
    LocallyLinearSVC,
    RegionalModel,
    RegionalSettings,
)
from localsvm.estimators._regional.gradient_metric import state as gradient_metric_state
from localsvm.estimators._regional.updates import (
    KeptRegional,
    measured,
    restore_regional,
)
from localsvm.state import (
    KEPT_ROWS,
    MAPPED_CLASSIFIER,
    REGIONS,
    SEARCHED,
    Dims,
    Either,
    Fields,
    Flag,
    Number,
    Part,
    Record,
    Rows,
    Sometimes,
    Spec,
    Whole,
    Word,
    doubles,
    floats,
    indices,
    kept_row_values,
    read_kept_rows,
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


_KEPT = Record(
    SimpleNamespace,
    **KEPT_ROWS,
    X=Rows("kept", "mapped_columns"),
    C=Number(0.0),
    constant=Number(),
    global_reg=Number(0.0, finite=False),
    loss=Word("hinge", "squared_hinge"),
    joint=Flag(),
    duals=doubles("tasks", "kept"),
    masses=doubles("regions", low=0),
)
# Duals round to sums that differ from their bounds.
_ROUNDING = 1e-9


def _take_updatable(values: dict[str, Any]) -> dict[str, Any]:
    values = _take(values)
    if "_kept" not in values:
        return values
    kept: KeptRegional = values["_kept"].compacted()
    rows, settings = kept.rows, kept.settings
    plain = SimpleNamespace(
        **kept_row_values(rows),
        X=rows.X.values,
        class_weight=kept.class_weight,
        C=settings.C,
        constant=settings.constant,
        global_reg=settings.global_reg,
        loss=settings.loss,
        joint=settings.joint,
        duals=kept.duals,
        masses=kept.masses,
    )
    return values | {"_kept": plain}


def _make_updatable(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    fitted = _make(unfitted, values, dims)
    if "_kept" in values:
        fitted._kept = _restore(fitted, values["_kept"])
    return fitted


def _restore(fitted: ClusteredSVC, plain: SimpleNamespace) -> KeptRegional:
    """Rebuild what is kept; its certificates are computed anew, not believed."""
    settings = RegionalSettings(
        C=plain.C,
        n_nearest=fitted.regions_.n_nearest,
        global_reg=plain.global_reg,
        loss=plain.loss,
        joint=plain.joint,
        constant=plain.constant,
    )
    rows = read_kept_rows(plain, plain.X)
    kept = restore_regional(
        settings,
        fitted.regions_,
        plain.class_weight,
        rows,
        plain.duals,
        plain.masses,
        fitted.n_jobs,
    )
    _check_duals(kept)
    return measured(kept)


def _check_duals(kept: KeptRegional) -> None:
    """Raise a ValueError for duals that prove nothing."""
    duals, bounds = kept.duals, kept.bounds()
    slack = _ROUNDING * (bounds + 1)
    if not kept.settings.joint:
        if (duals < 0).any() or (duals[:, bounds == 0] != 0).any():
            raise ValueError("its kept rows have duals outside their bounds.")
        return
    own = duals[kept.rows.class_index, np.arange(duals.shape[1])]
    others = duals.copy()
    others[kept.rows.class_index, np.arange(duals.shape[1])] = 0.0
    if (
        (np.abs(duals.sum(axis=0)) > slack).any()
        or (own > bounds + slack).any()
        or (others > slack).any()
    ):
        raise ValueError("its kept rows have duals outside their bounds.")


_CLUSTERED: Fields = {
    **_REGIONAL,
    "regions_": Either(hard=(HardRegions, _HARD), soft=(SoftRegions, _SOFT)),
}
SPECS = (
    *gradient_metric_state.SPECS,
    Spec(
        ClusteredSVC,
        "classifier",
        {**_CLUSTERED, "_kept": Sometimes(_KEPT)},
        left_out=frozenset({"update_report_"}),
        take=_take_updatable,
        make=_make_updatable,
    ),
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
