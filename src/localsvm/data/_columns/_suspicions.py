"""Columns that are probably not what they were taken for."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from localsvm._checks import level_of_caller
from localsvm.data._columns._column import Column, DroppedColumn
from localsvm.data._columns._kinds import FEW_CATEGORIES, has_words
from localsvm.data._columns._values import factorize, type_of
from localsvm.exceptions import DataWarning

_FEWEST_ROWS = 20
# Of n integers drawn from a range of r, all differ with probability exp(-n^2 / (2 r)).
_LEAST_EXPONENT = 15
_FEWEST_STRINGS = 20
_MOST_OTHERS = 0.1
_NUMBER = re.compile(
    r"[-+]?[$€£]?\s?(?:\d+|\d{1,3}(?:[.,' ]\d{3})+)(?:[.,]\d+)?"
    r"(?:[eE][-+]?\d+)?\s?[%$€£]?"
)
_DATE = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(?:\s.*)?")


def with_doubts(values: Any, column: Column) -> Column:
    """Warn of a column whose kind was found, not given, if it is probably another one.

    A column that numbers or names its rows is dropped: integers that all differ though
    their range is so small that chance would repeat some, or more than 20 strings that
    all differ and have no blanks. A category or text column is kept if most of its
    values look like numbers or dates.
    """
    doubt, kept = None, column
    if isinstance(values, np.ndarray) or len(values) < _FEWEST_ROWS:
        return column
    if column.kind in ("category", "text"):
        doubt = _doubt_of_strings(factorize(column.name, values)[1], column)
    if doubt is None and _is_identifier(values, column):
        doubt, kept = _left_out(column), DroppedColumn(column.name, "identifier")
    elif _is_rare(column):
        doubt = _too_rare(column)
    if doubt is not None:
        warnings.warn(doubt, stacklevel=level_of_caller())
    return kept


def _is_identifier(values: Any, column: Column) -> bool:
    if column.kind == "text" or column.level_names or _is_rare(column):
        codes, labels = factorize(column.name, values)
        all_differ = len(labels) == len(codes) > FEW_CATEGORIES
        return all_differ and not any(map(has_words, labels))
    if column.kind != "number" or type_of(values) != "integer" or values.isna().any():
        return False
    span = int(values.max()) - int(values.min()) + 1
    dense = span == len(values) or len(values) ** 2 >= 2 * _LEAST_EXPONENT * span
    return dense and bool(values.is_unique)


def _is_rare(column: Column) -> bool:
    return isinstance(column, DroppedColumn) and column.reason == "rare"


def _too_rare(column: Column) -> DataWarning:
    return DataWarning(
        f"Column {column.name!r} has no value that occurs min_frequency times, and is "
        "left out: new rows will have new values. Keep it with {remedy}.",
        parameter="kinds",
        value={column.name: "text"},
    )


def _left_out(column: Column) -> DataWarning:
    return DataWarning(
        f"Column {column.name!r} has a different value in every row, as an identifier "
        "has, and is left out: new rows will have new values. Keep it with {remedy}.",
        parameter="kinds",
        value={column.name: "text" if _is_rare(column) else column.kind},
    )


def _doubt_of_strings(labels: Sequence[str], column: Column) -> DataWarning | None:
    if len(labels) <= _FEWEST_STRINGS:
        return None
    if (others := _others(labels, _NUMBER)) is not None:
        return DataWarning(
            f"{_taken(column, labels, 'numbers', others)}. Read the others as missing, "
            "or set the decimal point, e.g. {remedy}.",
            parameter="decimal",
            value=",",
        )
    if (others := _others(labels, _DATE)) is not None:
        return DataWarning(
            f"{_taken(column, labels, 'dates', others)}. Read them with {{remedy}}.",
            parameter="kinds",
            value=({column.name: "date"}, {column.name: "date:%d/%m/%y"}),
        )
    return None


def _others(labels: Sequence[str], look: re.Pattern[str]) -> list[str] | None:
    """Strings that do not look so; None if that holds for too many."""
    others = [label for label in labels if not look.fullmatch(label.strip())]
    return others if len(others) <= _MOST_OTHERS * len(labels) else None


def _taken(
    column: Column, labels: Sequence[str], what: str, others: Sequence[str]
) -> str:
    shown = f" (but {others[0]!r} does not)" if others else ""
    example = next(label for label in labels if label not in others)
    return (
        f"Column {column.name!r} is treated as {column.kind}, although its strings "
        f"look like {what}, such as {example!r}{shown}"
    )
