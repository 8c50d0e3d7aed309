"""What a model file keeps of the preparation of rows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from localsvm.estimators._staged.preparation.columns import ColumnCode
from localsvm.estimators._staged.preparation.model import Preparation, QuantileMap
from localsvm.state import (
    Array,
    Dims,
    Field,
    Flag,
    Maybe,
    Part,
    Record,
    Sink,
    Source,
    Whole,
    check_starts,
    doubles,
    indices,
)


class _Lists(Field):
    """Arrays of several lengths, end to end.

    Parameters
    ----------
    count : str
        Name of the number of arrays.
    total : str
        Name of the sum of their lengths.
    """

    def __init__(self, count: str, total: str) -> None:
        self._count, self._total = count, total

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
        return {"start": indices(f"{self._count}+1"), "flat": doubles(self._total)}


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
        return doubles("coded") if ndim == 1 else doubles("coded", "prepared")


PREPARATION = Record(
    Preparation,
    components=_Components(),
    offset=doubles("prepared"),
    quantiles=Maybe(
        Record(
            QuantileMap,
            columns=indices("mapped", below="coded"),
            values=_Lists("mapped", "knots"),
            scores=_Lists("mapped", "knots"),
        )
    ),
    unit_rows=Flag(),
    metric=Maybe(Part("transformer")),
    columns=Maybe(
        Record(
            ColumnCode,
            n_columns=Whole(1, dim="columns"),
            numbers=indices("numbers", below="columns"),
            medians=doubles("numbers"),
            flagged=indices("flagged", below="columns"),
            categories=indices("categories", below="columns"),
            levels=_Lists("categories", "levels"),
            missing_levels=Array((np.bool_,), "categories"),
        )
    ),
)


def check_preparation(preparation: Preparation, dims: Dims) -> None:
    """Raise unless the arrays of a preparation fit together."""
    coded = dims["columns"]
    if preparation.columns is not None:
        _check_columns(preparation.columns)
        coded = preparation.columns.n_features
    width = len(preparation.components)
    if width != coded:
        raise ValueError(f"_preparation has {width} components; expected {coded}.")
    if preparation.components.ndim == 1 and len(preparation.offset) != coded:
        raise ValueError("_preparation.offset does not fit the components.")
    if preparation.quantiles is not None:
        _check_quantiles(preparation.quantiles)


def _check_columns(columns: ColumnCode) -> None:
    kept = np.sort(np.concatenate([columns.numbers, columns.categories]))
    if not np.array_equal(kept, np.arange(columns.n_columns)):
        raise ValueError("_preparation.columns does not name each column once.")
    if not np.isin(columns.flagged, columns.numbers).all():
        raise ValueError("_preparation.columns.flagged has a category.")
    if any((np.diff(levels) <= 0).any() for levels in columns.levels):
        raise ValueError("_preparation.columns has levels that do not ascend.")


def _check_quantiles(quantiles: QuantileMap) -> None:
    for values, scores in zip(quantiles.values, quantiles.scores, strict=True):
        if not len(values) == len(scores) >= 1 or (values[1:] <= values[:-1]).any():
            raise ValueError("_preparation.quantiles has knots that do not ascend.")
