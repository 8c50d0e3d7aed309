"""Tables of any library as columns with names."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._extras import require
from localsvm.exceptions import DataError


def as_frame(X: Any) -> Any:
    """Pandas frame of a table of pandas, polars, pyarrow or the like; else None.

    Raises
    ------
    DataError
        If a column of an arrow table holds lists, structures or bytes.
    """
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return X
    if hasattr(X, "__arrow_c_stream__"):
        return _frame_of_arrow(require("pyarrow", "tables", "Reading a table").table(X))
    return None


def _frame_of_arrow(table: Any) -> Any:
    arrow = require("pyarrow", "tables", "Reading a table")
    require("pandas", "tables", "Reading a table")
    try:
        for position, field in enumerate(table.schema):
            column = _plain(arrow, field, table.column(position))
            table = table.set_column(position, field.name, column)
        return table.to_pandas(ignore_metadata=True, date_as_object=False)
    except arrow.ArrowInvalid as error:  # for instance a date in the year 300,000
        raise DataError(f"has a value that cannot be converted: {error}") from error


def _plain(arrow: Any, field: Any, column: Any) -> Any:
    """Column of a type that pandas and the encoder know."""
    kind, types = field.type, arrow.types
    if types.is_decimal(kind) or types.is_null(kind):
        return column.cast(arrow.float64())
    if types.is_time(kind):
        moments = column.cast(arrow.time64("us")).cast(arrow.int64())
        return moments.cast(arrow.duration("us"))
    if types.is_dictionary(kind) and types.is_unsigned_integer(kind.index_type):
        return column.cast(arrow.dictionary(arrow.int64(), kind.value_type))
    if types.is_nested(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        raise DataError(
            f"has values of type {kind} in column {field.name!r}; expected one number, "
            "string, date or boolean per row. Leave the column out."
        )
    return column


def absent_columns(wanted: Sequence[str], names: Sequence[str]) -> str:
    """Sentence about columns that are not there, with names like theirs; or ""."""
    there = set(names)
    absent = [name for name in wanted if name not in there]
    if not absent:
        return ""
    close = [match for name in absent[:5] for match in close_names(name, names)]
    named = ", ".join(map(repr, absent[:5])) + (", ..." if len(absent) > 5 else "")
    found = close or list(names)
    listed = ", ".join(map(repr, dict.fromkeys(found[:10])))
    more = ", ..." if len(found) > 10 else ""
    start = "has no column" if len(absent) == 1 else "has no columns"
    return f"{start} {named}; {'close names' if close else 'found'}: {listed}{more}."


def close_names(name: str, names: Sequence[str]) -> list[str]:
    """Names that a misspelt one may mean: without regard to case, best first."""
    by_key = {_key(each): each for each in reversed(names)}
    return [by_key[key] for key in get_close_matches(_key(name), list(by_key), n=3)]


def duplicates(names: Sequence[str]) -> list[str]:
    """Names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def check_distinct(names: list[Any]) -> None:
    """Raise a DataError if names occur more than once."""
    twice = duplicates(names)
    if twice:
        raise DataError(
            f"The table has several columns named {', '.join(map(repr, twice[:5]))}; "
            "expected names that differ. Rename or drop them."
        )


def distinct_names(names: list[str]) -> NDArray[Any]:
    """Names with a number after those that occurred before."""
    counts: Counter[str] = Counter()
    taken = set(names)
    for place, name in enumerate(names):
        counts[name] += 1
        if counts[name] > 1:
            while (other := f"{name}#{counts[name]}") in taken:
                counts[name] += 1
            taken.add(other)
            names[place] = other
    return np.array(names, dtype=object)


def _key(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")
