"""Linear SVMs in regions, and mixtures of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm import _core
from localsvm.cluster import (
    CLOSE,
    RIDGE,
    HardRegions,
    LocalCoordinates,
    SoftRegions,
)
from localsvm.estimators import CenterGate, MixtureModel, RegionalModel, TwoLevelGate
from localsvm.export._compiled._cells import as_dtype, rows_maker
from localsvm.export._onnx._families._centers import predicts_nearest

_CODINGS = {
    "inverse_distance": _core.RegionCoding.inverse_distance,
    "local_coordinates": _core.RegionCoding.local_coordinates,
}


def region_rows(regions: Any, linear: RegionalModel, dtype: Any) -> Any:
    """Linear SVMs of the nearest regions."""
    coding, softness = _coding(regions)
    centers = np.ascontiguousarray(regions.centers, dtype=np.float64)
    n_nodes = len(centers) + 1
    return rows_maker("region_rows", dtype)(
        coding=coding,
        n_nearest=regions.n_nearest,
        constants=[*softness, RIDGE, CLOSE],
        centers=centers,
        coef=_nodes(linear.coef, n_nodes, dtype),
        intercept=_nodes(linear.intercept, n_nodes, dtype),
    )


def _nodes(values: NDArray[Any], n_nodes: int, dtype: Any) -> NDArray[Any]:
    """Values of each region; those without rows have the global ones, the last."""
    filled = np.empty((n_nodes, *values.shape[1:]), dtype=dtype)
    filled[:] = values[-1]
    filled[: len(values) - 1] = values[:-1]
    return filled


def _coding(regions: Any) -> tuple[Any, tuple[float, float]]:
    """Code of the regions, and the sharpness and the cut of a soft one."""
    if isinstance(regions, SoftRegions):
        return _core.RegionCoding.softmax, (regions.tau, regions.cut)
    if isinstance(regions, LocalCoordinates):
        return _CODINGS[regions.coding], (1.0, 0.0)
    assert isinstance(regions, HardRegions)
    if regions.centers is None or not predicts_nearest(
        regions.clusterer, np.asarray(regions.centers)
    ):
        raise TypeError(
            f"clusterer={type(regions.clusterer).__name__} cannot be compiled: its "
            "predict is not the nearest of cluster_centers_. Use a clusterer whose is, "
            "such as KMeans or SampledKMeans, or n_nearest above 1."
        )
    return _core.RegionCoding.hard, (1.0, 0.0)


def mixture_rows(model: MixtureModel, dtype: Any) -> Any:
    """Logarithms of the classes' sums over the components."""
    gates: list[Any] = [model.gate]
    if isinstance(model.gate, TwoLevelGate):
        gates = [model.gate.top, *model.gate.groups]
    slope, offset = model.stacked
    priors = [
        np.log(gate.prior) if isinstance(gate, CenterGate) else np.zeros(len(gate.coef))
        for gate in gates
    ]
    made = rows_maker("mixture_rows", model.dtype)(
        sizes=[gate.n_components for gate in gates],
        log_prior=np.concatenate(priors).astype(model.dtype),
        n_tasks=model.n_tasks,
        slope=np.ascontiguousarray(slope.T),
        offset=offset,
    )
    return as_dtype(made, model.dtype, dtype)
