"""Which kind of column the values of a table are."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from localsvm.data._columns._booleans import BooleanColumn
from localsvm.data._columns._categories import CategoryColumn
from localsvm.data._columns._codes._categories import CodeColumn
from localsvm.data._columns._codes._dates import CalendarColumn
from localsvm.data._columns._codes._numbers import RawBooleanColumn, RawNumberColumn
from localsvm.data._columns._codes._ordered import OrderedColumn, are_ordered
from localsvm.data._columns._column import DroppedColumn, LearningOptions
from localsvm.data._columns._dates import DateColumn
from localsvm.data._columns._numbers import NumberColumn
from localsvm.data._columns._text import TextColumn
from localsvm.data._columns._values import days_of_strings, factorize, type_of
from localsvm.exceptions import DataError

_FEATURES: tuple[Any, ...] = (
    NumberColumn,
    BooleanColumn,
    CategoryColumn,
    DateColumn,
    TextColumn,
    DroppedColumn,
)
_CODES: tuple[Any, ...] = (
    RawNumberColumn,
    RawBooleanColumn,
    CodeColumn,
    OrderedColumn,
    CalendarColumn,
    TextColumn,
    DroppedColumn,
)
KINDS: Mapping[str, Mapping[str, Any]] = {
    "features": {each.kind: each for each in _FEATURES},
    "codes": {each.kind: each for each in _CODES},
}
"""The class of each kind, by encoding; its method ``learn`` makes a column."""

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
FEW_CATEGORIES = 20
_ROWS_PER_CATEGORY = 5
_MOST_WITH_WORDS = 0.5
_DATE = r"\s*(?:\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4})(?:[T ]\d{2}:\d{2}.*)?\s*"


_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)


def split_kind(text: str, encoding: str = "codes") -> tuple[str, str]:
    """Kind and date format of a text such as ``"number"`` or ``"date:%d/%m/%Y"``.

    The encoding "codes" has all kinds.

    Raises
    ------
    DataError
        If the encoding has no such kind, or there is no such format.
    """
    kind, _, format = text.partition(":")
    known = KINDS[encoding]
    if kind not in known or (format and kind != DateColumn.kind):
        raise DataError(f"expected one of {', '.join(known)}")
    try:
        datetime.strptime(_SOME_DAY.strftime(format), format)
    except ValueError as error:
        raise DataError(f"expected a format such as date:%d/%m/%Y; {error}") from None
    return kind, format


def find_kind(name: str, values: Any, options: LearningOptions) -> str:
    """Kind of a column by its type, and for strings by their look and number.

    Strings are dates if all begin like ``2024-12-31`` or ``31.12.2024``. Otherwise
    values repeat if there are at most 20 distinct ones, or if they occur five times
    each on average.

    As features, strings that repeat are categories, but for more than
    ``max_categories``; others are text. As codes, strings and categories that repeat
    are ordered if each begins with a number of its own. Strings that do not repeat are
    text if most of them are several words; all others are categories.
    """
    found = type_of(values)
    if found == "categorical" and options.encoding == "codes":
        repeat, labels = _repeat(name, values)
        return "ordered" if repeat and are_ordered(labels) else "category"
    if found in _KIND_OF_TYPE:
        return _KIND_OF_TYPE[found]
    if found not in _TYPES_WITH_STRINGS:
        raise DataError(
            f"Column {name!r} holds values of type {found}; expected numbers, strings, "
            "dates or booleans. Leave it out with {remedy}.",
            parameter="kinds",
            value={name: "drop"},
        )
    return _kind_of_strings(name, values, options)


def _kind_of_strings(name: str, values: Any, options: LearningOptions) -> str:
    repeat, labels = _repeat(name, values)
    distinct = type(values)(labels)
    if distinct.str.fullmatch(_DATE).all() and _are_dates(distinct):
        return "date"
    if options.encoding == "codes":
        if repeat:
            return "ordered" if are_ordered(labels) else "category"
        with_words = sum(map(has_words, labels))
        return "text" if with_words > _MOST_WITH_WORDS * len(labels) else "category"
    few = len(labels) <= max(FEW_CATEGORIES, options.max_categories)
    return "category" if repeat and few else "text"


def _repeat(name: str, values: Any) -> tuple[bool, list[str]]:
    """Whether values occur often or are few, and the distinct ones."""
    codes, labels = factorize(name, values)
    often = int((codes >= 0).sum()) >= _ROWS_PER_CATEGORY * len(labels)
    return often or len(labels) <= FEW_CATEGORIES, labels


def has_words(label: str) -> bool:
    """Whether a string has several words."""
    return len(label.split()) > 1


def _are_dates(distinct: Any) -> bool:
    return not np.isnan(days_of_strings(distinct)).any()
