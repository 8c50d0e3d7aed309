"""The staged SVM: preparation, first and second stage."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from localsvm.estimators import (
    ClusteredSVC,
    LocalSVC,
    Preparation,
    QuantileMap,
    StagedModel,
    StagedSVC,
)
from localsvm.export._file._common import CLASSIFIER, REGIONS
from localsvm.export._file._fields import (
    Field,
    Flag,
    Maybe,
    Number,
    Report,
    Whole,
    check_starts,
    doubles,
    indices,
)
from localsvm.export._file._objects import Part
from localsvm.export._file._specs import Record, Spec
from localsvm.export._file._store import Dims, Sink, Source


class _Knots(Field):
    """Arrays of several lengths, one per mapped column, end to end."""

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write all numbers and where each array begins."""
        start = np.cumsum([0, *map(len, value)])
        flat = np.concatenate([np.zeros(0), *value])
        parts = {"start": start, "flat": flat}
        return {
            name: field.write(parts[name], f"{place}.{name}", sink, dims)
            for name, field in self._fields().items()
        }

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Cut the numbers."""
        if not isinstance(plain, dict) or set(plain) != {"start", "flat"}:
            raise ValueError(f"{place} is {plain!r:.60}; expected start and flat.")
        start, flat = (
            field.read(plain[name], f"{place}.{name}", source, dims)
            for name, field in self._fields().items()
        )
        check_starts(start, len(flat), f"{place}.start")
        return [flat[a:b] for a, b in itertools.pairwise(start)]

    def _fields(self) -> dict[str, Field]:
        return {"start": indices("mapped+1"), "flat": doubles("knots")}


class _Components(Field):
    """A matrix, or its diagonal."""

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write the array."""
        return self._kind(value.ndim).write(value, place, sink, dims)

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Read the array."""
        ndim = source.take(plain, place).ndim
        return self._kind(ndim).read(plain, place, source, dims)

    def _kind(self, ndim: int) -> Field:
        return doubles("columns") if ndim == 1 else doubles("columns", "prepared")


_PREPARATION = Record(
    Preparation,
    quantiles=Maybe(
        Record(
            QuantileMap,
            columns=indices("mapped", below="columns"),
            values=_Knots(),
            scores=_Knots(),
        )
    ),
    unit_rows=Flag(),
    components=_Components(),
    offset=doubles("prepared"),
    metric=Maybe(Part("transformer")),
)


def _check(model: Any, values: Mapping[str, Any], dims: Dims) -> None:
    del model
    preparation = values["_preparation"]
    if preparation.components.ndim == 1:
        dims.bind("prepared", dims["columns"], "_preparation.offset")
    if preparation.quantiles is not None:
        _check_quantiles(preparation.quantiles)
    for name, cls in (("first_stage_", ClusteredSVC), ("second_stage_", LocalSVC)):
        stage = values[name]
        if stage is None:
            continue
        if type(stage) is not cls:
            raise ValueError(f"{name} is a {type(stage).__name__}.")
        if stage.metric_ is not None:
            raise ValueError(f"{name} has a metric of its own.")
        if not np.array_equal(stage.classes_, values["classes_"]):
            raise ValueError(f"{name} has other classes.")
    if (values["second_stage_"] is None) != (values["_threshold"] == 0):
        raise ValueError("second_stage_ and _threshold do not fit together.")


def _check_quantiles(quantiles: QuantileMap) -> None:
    for values, scores in zip(quantiles.values, quantiles.scores, strict=True):
        if not len(values) == len(scores) >= 1 or (values[1:] <= values[:-1]).any():
            raise ValueError("_preparation.quantiles has knots that do not ascend.")


def _take(values: dict[str, Any]) -> dict[str, Any]:
    """Write of the model what its two stages do not hold."""
    model = values["_model"]
    own = {"_preparation": model.preparation, "_threshold": model.threshold}
    return {name: each for name, each in values.items() if name != "_model"} | own


def _make(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    del dims
    kept = dict(values)
    preparation, threshold = kept.pop("_preparation"), kept.pop("_threshold")
    first, second = values["first_stage_"], values["second_stage_"]
    vars(unfitted).update(kept)
    unfitted.gradient_metric_ = preparation.metric
    unfitted._model = StagedModel(
        preparation,
        first.regions_,
        first._model,
        None if second is None else second._model,
        threshold,
    )
    return unfitted


SPECS = (
    Spec(
        StagedSVC,
        "classifier",
        {
            **CLASSIFIER,
            **REGIONS,
            "_preparation": _PREPARATION,
            "first_stage_": Part("classifier", columns="prepared"),
            "second_stage_": Maybe(Part("classifier", columns="prepared")),
            "_threshold": Number(0.0, finite=False),
            "n_hard_": Whole(0),
            "stage_": indices("training_rows", low=0, below=3),
            "stage_shares_": doubles(2, low=0),
            "region_stage_": indices("regions", low=1, below=3),
            "C_": Number(0.0),
            "n_support_": indices("classes"),
            "duality_gap_": Number(finite=False),
            "n_iter_": Whole(1),
            "best_params_": Report(),
            "selection_": Report(),
        },
        left_out=frozenset({"gradient_metric_", "_model"}),
        take=_take,
        check=_check,
        make=_make,
    ),
)
