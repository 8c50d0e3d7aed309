"""Columns that are probably not what they were taken for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from localsvm.data._columns._column import Column
from localsvm.data._columns._values import factorize, type_of

_FEWEST_ROWS = 20
_FEWEST_STRINGS = 20
_MOST_OTHERS = 0.1
_NUMBER = re.compile(
    r"[-+]?[$€£]?\s?(?:\d+|\d{1,3}(?:[.,' ]\d{3})+)(?:[.,]\d+)?"
    r"(?:[eE][-+]?\d+)?\s?[%$€£]?"
)
_DATE = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(?:\s.*)?")


def suspicion(values: Any, column: Column) -> str:
    """Sentence about a column whose kind was found, not given; "" if all is well.

    A column that numbers or names its rows: consecutive integers in any order, or
    strings that all differ and have no blanks. A category or text column most of whose
    values look like numbers, or like dates that are not in ISO 8601.
    """
    if isinstance(values, np.ndarray) or len(values) < _FEWEST_ROWS:
        return ""
    if column.kind == "number":
        return _numbered_rows(values, column.name)
    if column.kind in ("category", "text"):
        codes, labels = factorize(column.name, values)
        return _strings(labels, column) or _named_rows(codes, labels, column)
    return ""


def _numbered_rows(values: Any, name: str) -> str:
    if type_of(values) != "integer" or values.isna().any():
        return ""
    if int(values.max()) - int(values.min()) + 1 != len(values):
        return ""
    return _of_rows(name) if values.is_unique else ""


def _named_rows(codes: Any, labels: Sequence[str], column: Column) -> str:
    if column.kind != "text" or len(labels) < len(codes):
        return ""
    words = any(len(label.split()) > 1 for label in labels)
    return "" if words else _of_rows(column.name)


def _of_rows(name: str) -> str:
    return (
        f"Column {name!r} has another value in every row, as if it numbered or named "
        f"the rows: new rows will have new values. Leave it out with kinds={{{name!r}: "
        "'drop'}, or give its kind to keep it."
    )


def _strings(labels: Sequence[str], column: Column) -> str:
    if len(labels) <= _FEWEST_STRINGS:
        return ""
    for look, what, remedy in (
        (_NUMBER, "numbers", "read the others as missing, or set its decimal point"),
        (_DATE, "dates", "write them as 2024-12-31"),
    ):
        others = [label for label in labels if not look.fullmatch(label.strip())]
        if len(others) <= _MOST_OTHERS * len(labels):
            shown = f", but for instance not {others[0]!r}" if others else ""
            return (
                f"Column {column.name!r} is taken for {column.kind}, though its "
                f"strings look like {what}, such as {labels[0]!r}{shown}. Convert it "
                f"({remedy}), or give its kind."
            )
    return ""
