"""What a model wants to know of a row: its columns, their kinds and usual values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from localsvm.data import (
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

_DATATYPES = {"number": "FP64", "boolean": "BOOL"}


@dataclass(frozen=True)
class InputColumn:
    """A column that a row has to have.

    Parameters
    ----------
    name : str
    kind : {"number", "boolean", "category", "ordered", "date", "text"}
    usual : value
        To begin with on the page; None if there is none.
    categories : tuple of str
        Those that the model knows; of "category" and "ordered" only.
    """

    name: str
    kind: str
    usual: Any = None
    categories: tuple[str, ...] = ()

    @property
    def datatype(self) -> str:
        """Datatype of its tensor."""
        return _DATATYPES.get(self.kind, "BYTES")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for the page."""
        return asdict(self)


def encoder_of(model: Any) -> TableEncoder | None:
    """Find the table encoder that a pipeline begins with."""
    first = model.steps[0][1] if isinstance(model, Pipeline) else None
    return first if isinstance(first, TableEncoder) else None


def columns_of(model: Any) -> tuple[InputColumn, ...]:
    """Columns that a model needs, in order; those that it drops are left out."""
    encoder = encoder_of(model)
    if encoder is not None:
        return tuple(
            _of_encoder(column) for column in encoder.columns_ if column.n_features
        )
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"x{number}" for number in range(model.n_features_in_)]
    usual = _usual_numbers(model)
    return tuple(
        InputColumn(str(name), "number", _short(value))
        for name, value in zip(names, usual, strict=True)
    )


def _of_encoder(column: Any) -> InputColumn:
    if isinstance(column, NumberColumn):
        return InputColumn(column.name, column.kind, _short(column.fill))
    if isinstance(column, RawNumberColumn):
        return InputColumn(column.name, column.kind, _short(column.median))
    if isinstance(column, DateColumn):
        return InputColumn(column.name, column.kind, _day(column.fill))
    if isinstance(column, CalendarColumn):
        return InputColumn(column.name, column.kind, _day(column.median))
    if isinstance(column, CodeColumn | OrderedColumn):
        usual = column.levels[0] if column.levels else None
        return InputColumn(column.name, column.kind, usual, column.levels)
    if isinstance(column, CategoryColumn):
        categories = column.categories
        usual = categories[0] if categories else None
        return InputColumn(column.name, column.kind, usual, categories)
    if isinstance(column, BooleanColumn | RawBooleanColumn):
        return InputColumn(column.name, column.kind, False)
    return InputColumn(column.name, column.kind, "")


def _day(days: float) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=round(days))
    return moment.date().isoformat()


def _usual_numbers(model: Any) -> Any:
    """Means of the training rows where a scaler knows them, else zeros."""
    first = model.steps[0][1] if isinstance(model, Pipeline) else None
    for name in ("mean_", "data_min_", "center_"):
        known = getattr(first, name, None)
        if known is not None:
            return known
    return np.zeros(model.n_features_in_)


def _short(value: float) -> float:
    return float(f"{float(value):.6g}")
