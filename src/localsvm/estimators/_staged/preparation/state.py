"""What a model file keeps of the preparation of rows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from localsvm.estimators._staged.preparation.model import Preparation, QuantileMap
from localsvm.state import (
    Dims,
    Field,
    Flag,
    Maybe,
    Part,
    Record,
    Sink,
    Source,
    check_starts,
    doubles,
    indices,
)


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


PREPARATION = Record(
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


def check_preparation(preparation: Preparation, dims: Dims) -> None:
    """Raise unless the arrays of a preparation fit together."""
    if preparation.components.ndim == 1:
        dims.bind("prepared", dims["columns"], "_preparation.offset")
    if preparation.quantiles is not None:
        _check_quantiles(preparation.quantiles)


def _check_quantiles(quantiles: QuantileMap) -> None:
    for values, scores in zip(quantiles.values, quantiles.scores, strict=True):
        if not len(values) == len(scores) >= 1 or (values[1:] <= values[:-1]).any():
            raise ValueError("_preparation.quantiles has knots that do not ascend.")
