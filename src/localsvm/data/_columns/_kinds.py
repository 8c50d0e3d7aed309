"""Which kind of column the values of a table are."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from localsvm.data._columns._booleans import BooleanColumn
from localsvm.data._columns._categories import CategoryColumn
from localsvm.data._columns._column import DroppedColumn
from localsvm.data._columns._dates import DateColumn
from localsvm.data._columns._numbers import NumberColumn
from localsvm.data._columns._text import TextColumn
from localsvm.data._columns._values import days_of_strings, factorize, type_of
from localsvm.exceptions import DataError

_CLASSES: tuple[Any, ...] = (
    NumberColumn,
    BooleanColumn,
    CategoryColumn,
    DateColumn,
    TextColumn,
    DroppedColumn,
)
KINDS: Mapping[str, Any] = {each.kind: each for each in _CLASSES}
"""The class of each kind; its method ``learn`` makes a column."""

_KIND_OF_TYPE = {
    **dict.fromkeys(
        ["integer", "floating", "mixed-integer-float", "decimal"], "number"
    ),
    **dict.fromkeys(["timedelta", "timedelta64", "time", "empty"], "number"),
    **dict.fromkeys(["date", "datetime", "datetime64"], "date"),
    "boolean": "boolean",
    "categorical": "category",
}
_TYPES_WITH_STRINGS = frozenset(["string", "mixed", "mixed-integer"])
_FEW_CATEGORIES = 20
_ROWS_PER_CATEGORY = 5
_DATE = r"\s*(?:\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4})(?:[T ]\d{2}:\d{2}.*)?\s*"


_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)


def split_kind(text: str) -> tuple[str, str]:
    """Kind and date format of a text such as ``"number"`` or ``"date:%d/%m/%Y"``.

    Raises
    ------
    DataError
        If there is no such kind or format.
    """
    kind, _, format = text.partition(":")
    if kind not in KINDS or (format and kind != DateColumn.kind):
        raise DataError(f"expected one of {', '.join(KINDS)}")
    try:
        datetime.strptime(_SOME_DAY.strftime(format), format)
    except ValueError as error:
        raise DataError(f"expected a format such as date:%d/%m/%Y; {error}") from None
    return kind, format


def find_kind(name: str, values: Any, max_categories: int) -> str:
    """Kind of a column by its type, and for strings by their look and number.

    Strings are dates if all begin like ``2024-12-31`` or ``31.12.2024``. They
    are categories if there are at most 20 distinct ones, or at most ``max_categories``
    that occur five times each on average; otherwise they are text.
    """
    found = type_of(values)
    if found in _KIND_OF_TYPE:
        return _KIND_OF_TYPE[found]
    if found not in _TYPES_WITH_STRINGS:
        raise DataError(
            f"Column {name!r} holds values of type {found}; expected numbers, strings, "
            "dates or booleans. Leave it out with {remedy}.",
            parameter="kinds",
            value={name: "drop"},
        )
    return _kind_of_strings(name, values, max_categories)


def _kind_of_strings(name: str, values: Any, max_categories: int) -> str:
    codes, labels = factorize(name, values)
    distinct = type(values)(labels)
    if distinct.str.fullmatch(_DATE).all() and _are_dates(distinct):
        return "date"
    n_rows = int((codes >= 0).sum())
    often = n_rows >= _ROWS_PER_CATEGORY * len(labels)
    if len(labels) <= _FEW_CATEGORIES or (len(labels) <= max_categories and often):
        return "category"
    return "text"


def _are_dates(distinct: Any) -> bool:
    return not np.isnan(days_of_strings(distinct)).any()
