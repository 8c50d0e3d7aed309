"""What a model file keeps of tables: of each column, and of the rows of the fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from localsvm.data import (
    KINDS,
    MOST_BYTES,
    MOST_PROBES,
    BooleanColumn,
    CalendarColumn,
    CategoryColumn,
    CodeColumn,
    DateColumn,
    DroppedColumn,
    NumberColumn,
    OrderedColumn,
    RawBooleanColumn,
    RawNumberColumn,
    RowSketch,
    TableEncoder,
    TextColumn,
)
from localsvm.state import (
    COLUMNS,
    Array,
    Dims,
    Either,
    Field,
    Flag,
    Maybe,
    Number,
    Record,
    Several,
    Sometimes,
    Spec,
    Text,
    Whole,
    Word,
    doubles,
)

_LONGEST_N_GRAM = 100
_SCALED: dict[str, Field] = {
    "fill": Number(),
    "center": Number(),
    "scale": Number(0.0, above=True),
}


def _column(cls: type, **fields: Field | Sometimes) -> tuple[type, Field]:
    return cls, Record(cls, name=Text(), **fields)


_COLUMN = Either(
    number=_column(
        NumberColumn,
        **_SCALED,
        indicator=Flag(),
        # Files of earlier versions have none of these.
        low=Sometimes(Maybe(Number())),
        high=Sometimes(Maybe(Number())),
        whole=Sometimes(Flag()),
    ),
    boolean=_column(BooleanColumn, indicator=Flag()),
    category=_column(
        CategoryColumn, categories=Several(Text()), missing=Flag(), pooled=Flag()
    ),
    date=_column(
        DateColumn,
        **_SCALED,
        cycles=Several(Word("year", "week", "day")),
        indicator=Flag(),
        format=Sometimes(Text()),  # files of earlier versions have none
    ),
    text=_column(
        TextColumn,
        shortest=Whole(1, _LONGEST_N_GRAM),
        longest=Whole(1, _LONGEST_N_GRAM),
        components=Array((np.float32,), "components", "buckets"),
        center=doubles("components"),
        scale=Number(0.0, above=True),
        indicator=Flag(),
    ),
    drop=_column(
        DroppedColumn,
        reason=Word("asked", "constant", "empty", "identifier", "rare"),
    ),
    raw_number=_column(
        RawNumberColumn,
        median=Number(),
        deviation=Number(0.0, above=True),
        low=Number(),
        high=Number(),
        whole=Flag(),
    ),
    raw_boolean=_column(RawBooleanColumn),
    code=_column(CodeColumn, levels=Several(Text())),
    ordered=_column(
        OrderedColumn,
        levels=Several(Text()),
        numbers=Several(Number()),
        deviation=Number(0.0, above=True),
    ),
    calendar=_column(CalendarColumn, median=Number(), has_time=Flag(), format=Text()),
)


def _check(model: Any, values: Mapping[str, Any], dims: Dims) -> None:
    columns = values["columns_"]
    dims.bind("columns", len(columns), "columns_")
    if not any(column.n_features for column in columns):
        raise ValueError("columns_ gives no features.")
    for column in columns:
        if type(column) not in KINDS[model.encoding].values():
            raise ValueError(
                f"columns_ has a {type(column).__name__} for {column.name!r:.60}; "
                f"encoding={model.encoding!r} has none."
            )
        is_number = isinstance(column, NumberColumn | RawNumberColumn)
        if is_number and not _has_range(column):
            raise ValueError(
                f"columns_ has the range {column.low} to {column.high} for "
                f"{column.name!r:.60}; expected both ends in ascending order, or none."
            )
        if isinstance(column, OrderedColumn) and not _is_in_order(column):
            raise ValueError(
                f"columns_ has {len(column.numbers)} numbers of {len(column.levels)} "
                f"levels for {column.name!r:.60}; expected as many, ascending."
            )


def _is_in_order(column: OrderedColumn) -> bool:
    in_order = list(column.numbers) == sorted(column.numbers)
    return in_order and len(column.numbers) == len(column.levels)


def _has_range(column: NumberColumn | RawNumberColumn) -> bool:
    """Whether the ends are in order, or both not known."""
    if column.low is None or column.high is None:
        return column.low is column.high
    return column.low <= column.high


def _make(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    vars(unfitted).update(values)
    unfitted._set_columns(values["columns_"])
    return unfitted


def _width(encoder: Any) -> int:
    return len(encoder.column_of_feature_)


def _make_sketch(**values: Any) -> RowSketch:
    sketch = RowSketch(**values)
    if not 1 <= len(sketch.bits) <= MOST_BYTES:
        raise ValueError(
            f"fitted_rows.bits has {len(sketch.bits)} bytes; expected 1 to "
            f"{MOST_BYTES}."
        )
    if sketch.n_repeated > sketch.n_rows:
        raise ValueError(
            f"fitted_rows.n_repeated is {sketch.n_repeated}; expected at most "
            f"{sketch.n_rows}, the number of rows."
        )
    return sketch


ROW_SKETCH = Record(
    _make_sketch,
    bits=Array((np.uint8,), "bytes"),
    n_rows=Whole(1),
    n_repeated=Whole(0),
    n_probes=Whole(1, MOST_PROBES),
    salt=Whole(0, 2**63 - 1),
)
SPECS = (
    Spec(
        TableEncoder,
        "transformer",
        {**COLUMNS, "columns_": Several(_COLUMN)},
        left_out=frozenset({"column_of_feature_", "categorical_features_"}),
        check=_check,
        make=_make,
        width=_width,
    ),
)
