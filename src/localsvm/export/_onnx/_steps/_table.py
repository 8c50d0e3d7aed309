"""Raw columns of a table as inputs of a graph, encoded as TableEncoder does."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.data import (
    DAYS_OF_WEEK,
    DAYS_OF_YEAR,
    FIRST_WEEKDAY,
    MILLISECONDS_OF_DAY,
    MILLISECONDS_OF_HOUR,
    BooleanColumn,
    CalendarColumn,
    CategoryColumn,
    CodeColumn,
    DateColumn,
    NumberColumn,
    OrderedColumn,
    RawBooleanColumn,
    RawNumberColumn,
    TableEncoder,
)
from localsvm.export._onnx._graph import Graph
from localsvm.export._onnx._tensor import Tensor


def table_rows(graph: Graph, encoder: TableEncoder, dtype: str) -> Tensor:
    """Features of the encoder, from one input per column that gives any."""
    features: list[Tensor] = []
    for column in encoder.columns_:
        if type(column) in _ENCODERS:
            features += _ENCODERS[type(column)](graph, column, dtype)
        elif column.n_features:
            raise TypeError(
                f"Column {column.name!r} is {column.kind}, which cannot be exported to "
                "ONNX: hashing n-grams is no operator of it. Leave the column out with "
                f"kinds={{{column.name!r}: 'drop'}}."
            )
    return graph.concatenate([each.real() for each in features])


def _number(graph: Graph, column: NumberColumn, dtype: str) -> list[Tensor]:
    value = graph.column(column.name, column.kind, dtype).real()
    missing = _is_nan(value)
    scaled = (missing.where(column.fill, value) - column.center) / column.scale
    return [scaled, *[missing.real()] * column.indicator]


def _boolean(graph: Graph, column: BooleanColumn, dtype: str) -> list[Tensor]:
    value = graph.column(column.name, column.kind, dtype).real()
    missing = _is_nan(value)
    return [missing.where(0.5, value), *[missing.real()] * column.indicator]


def _category(graph: Graph, column: CategoryColumn, dtype: str) -> list[Tensor]:
    """One feature per category, after those one for what is missing and what is not.

    Strings cannot be missing: an empty one stands for that, unless it is a category.
    """
    label = graph.column(column.name, column.kind, object)
    other = column.n_features - 1 if column.pooled else -1
    places = {name: place for place, name in enumerate(column.categories)}
    places.setdefault("", len(column.categories) if column.missing else other)
    place = graph.apply(
        "LabelEncoder",
        label,
        dtype=np.int64,
        domain="ai.onnx.ml",
        keys_strings=tuple(places),
        values_int64s=tuple(places.values()),
        default_int64=other,
    )
    return [place.equals(np.arange(column.n_features, dtype=np.int64))]


def _date(graph: Graph, column: DateColumn, dtype: str) -> list[Tensor]:
    """Days since 1970, in float64: float32 would be minutes off."""
    kind = f"{column.kind}:{column.format}" if column.format else column.kind
    days = graph.column(column.name, kind, np.float64)
    missing = _is_nan(days)
    scaled = (missing.where(column.fill, days) - column.center) / column.scale
    # The cosine is a sine, too: onnxruntime 1.20 has no other in float64.
    waves = [
        missing.where(0.0, graph.apply("Sin", _angle(graph, days, cycle) + lead))
        for cycle in column.cycles
        for lead in (0.0, math.pi / 2)
    ]
    return [scaled, *waves, *[missing] * column.indicator]


def _angle(graph: Graph, days: Tensor, cycle: str) -> Tensor:
    return _phase(graph, days, cycle) * math.tau


def _phase(graph: Graph, days: Tensor, cycle: str) -> Tensor:
    if cycle == "year":
        return days / DAYS_OF_YEAR
    whole = graph.apply("Floor", days)
    if cycle == "day":
        return days - whole
    weeks = graph.apply("Floor", whole / float(DAYS_OF_WEEK))
    return (whole - weeks * float(DAYS_OF_WEEK)) / float(DAYS_OF_WEEK)


def _raw(
    graph: Graph, column: RawNumberColumn | RawBooleanColumn, dtype: str
) -> list[Tensor]:
    return [graph.column(column.name, column.kind, dtype)]


def _code(graph: Graph, column: CodeColumn, dtype: str) -> list[Tensor]:
    codes = np.arange(len(column.levels) + 1, dtype=np.float64)
    return [_looked_up(graph, column, codes)]


def _ordered(graph: Graph, column: OrderedColumn, dtype: str) -> list[Tensor]:
    """Numbers of the levels; no operator reads those of new ones, which are NaN."""
    return [_looked_up(graph, column, np.append(column.numbers, np.nan))]


def _looked_up(
    graph: Graph, column: CodeColumn | OrderedColumn, numbers: NDArray[np.float64]
) -> Tensor:
    """Look numbers of levels up; the last one is for new ones, NaN for empty ones."""
    n_levels = len(column.levels)
    places = {level: place for place, level in enumerate(column.levels)}
    places.setdefault("", n_levels + 1)
    place = graph.apply(
        "LabelEncoder",
        graph.column(column.name, column.kind, object),
        dtype=np.int64,
        domain="ai.onnx.ml",
        keys_strings=tuple(places),
        values_int64s=tuple(places.values()),
        default_int64=n_levels,
    )
    return graph.constant(np.append(numbers, np.nan), np.float64).take(place)


def _calendar(graph: Graph, column: CalendarColumn, dtype: str) -> list[Tensor]:
    """Parts of days since 1970, in float64: float32 would be minutes off."""
    kind = f"{column.kind}:{column.format}" if column.format else column.kind
    moments = graph.column(column.name, kind, np.float64)
    days = _floor(moments)
    parts = [days, _day_of_year(days), _remainder(days + FIRST_WEEKDAY, 7)]
    if column.has_time:
        whole = _floor((moments - days) * MILLISECONDS_OF_DAY + 0.5)
        parts.append(whole / MILLISECONDS_OF_HOUR)
    return parts


def _day_of_year(days: Tensor) -> Tensor:
    """Day of the year in the Gregorian calendar, from 1 on.

    Years begin in March, so that the leap day comes last, in cycles of 400 years from
    the year 0 on (Howard Hinnant's days_from_civil).
    """
    of_cycle = _remainder(days + 719_468.0, 146_097)
    leaps = [_floor(of_cycle / each) for each in (1460.0, 36_524.0, 146_096.0)]
    year = _floor((of_cycle - leaps[0] + leaps[1] - leaps[2]) / 365.0)
    centuries = _floor(year / 100.0)
    before = year * 365.0 + _floor(year / 4.0) - centuries
    since_march = of_cycle - before
    is_fourth = _remainder(year, 4).equals(0.0).cast(np.float64)
    is_century = _remainder(year, 100).equals(0.0).cast(np.float64)
    is_cycle = year.equals(0.0).cast(np.float64)
    leap = is_fourth - is_century + is_cycle
    return since_march.below(306.0).where(
        since_march + 60.0 + leap, since_march - 305.0
    )


def _remainder(value: Tensor, by: float) -> Tensor:
    return value - _floor(value / float(by)) * float(by)


def _floor(value: Tensor) -> Tensor:
    return value.graph.apply("Floor", value)


def _is_nan(value: Tensor) -> Tensor:
    return value.graph.apply("IsNaN", value, dtype=np.bool_)


_ENCODERS: dict[type, Callable[[Graph, Any, str], list[Tensor]]] = {
    NumberColumn: _number,
    BooleanColumn: _boolean,
    CategoryColumn: _category,
    DateColumn: _date,
    RawNumberColumn: _raw,
    RawBooleanColumn: _raw,
    CodeColumn: _code,
    OrderedColumn: _ordered,
    CalendarColumn: _calendar,
}
