"""Columns that are probably not what they were taken for."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from localsvm._checks import level_of_caller
from localsvm.data._columns._column import Column, DroppedColumn
from localsvm.data._columns._values import factorize, type_of

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
    their range is so small that chance would repeat some, or strings that all differ
    and have no blanks. A category or text column is kept if most of its values look
    like numbers or dates.
    """
    doubt, kept = "", column
    if isinstance(values, np.ndarray) or len(values) < _FEWEST_ROWS:
        return column
    if column.kind in ("category", "text"):
        doubt = _doubt_of_strings(factorize(column.name, values)[1], column)
    if not doubt and _is_identifier(values, column):
        doubt, kept = _left_out(column), DroppedColumn(column.name, "identifier")
    if doubt:
        warnings.warn(doubt, UserWarning, stacklevel=level_of_caller())
    return kept


def _is_identifier(values: Any, column: Column) -> bool:
    if column.kind == "text":
        codes, labels = factorize(column.name, values)
        return len(labels) == len(codes) and not any(map(_has_words, labels))
    if column.kind != "number" or type_of(values) != "integer" or values.isna().any():
        return False
    span = int(values.max()) - int(values.min()) + 1
    dense = span == len(values) or len(values) ** 2 >= 2 * _LEAST_EXPONENT * span
    return dense and bool(values.is_unique)


def _has_words(label: str) -> bool:
    return len(label.split()) > 1


def _left_out(column: Column) -> str:
    return (
        f"Column {column.name!r} has another value in every row, as if it numbered or "
        "named the rows, and is left out: new rows will have new values. Keep it with "
        f"kinds={{{column.name!r}: {column.kind!r}}}."
    )


def _doubt_of_strings(labels: Sequence[str], column: Column) -> str:
    if len(labels) <= _FEWEST_STRINGS:
        return ""
    for look, what, remedy in (
        (
            _NUMBER,
            "numbers",
            "Read the others as missing, or set its decimal point, e.g. decimal=','",
        ),
        (
            _DATE,
            "dates",
            f"Read them with kinds={{{column.name!r}: 'date'}} or with a format, e.g. "
            f"kinds={{{column.name!r}: 'date:%d/%m/%y'}}",
        ),
    ):
        others = [label for label in labels if not look.fullmatch(label.strip())]
        if len(others) <= _MOST_OTHERS * len(labels):
            shown = f", but for instance not {others[0]!r}" if others else ""
            return (
                f"Column {column.name!r} is taken for {column.kind}, though its "
                f"strings look like {what}, such as {labels[0]!r}{shown}. "
                f"{remedy}, or give its kind."
            )
    return ""
