"""Tables of any library as columns with names."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from localsvm._extras import require


def as_frame(X: Any) -> Any:
    """Pandas frame of a table of pandas, polars, pyarrow or the like; else None."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return X
    if hasattr(X, "__arrow_c_stream__"):
        return frame_of_arrow(require("pyarrow", "cli", "Reading a table").table(X))
    return None


def frame_of_arrow(table: Any) -> Any:
    """Pandas frame of an arrow table, with the types that the encoder knows.

    Raises
    ------
    ValueError
        If a column holds lists, structures or bytes.
    """
    arrow = require("pyarrow", "cli", "Reading a table")
    require("pandas", "cli", "Reading a table")
    for position, field in enumerate(table.schema):
        plain = _plain_type(arrow, field)
        if plain is not None:
            column = table.column(position).cast(plain)
            table = table.set_column(position, field.name, column)
    return table.to_pandas(ignore_metadata=True, date_as_object=False)


def _plain_type(arrow: Any, field: Any) -> Any:
    """Type to which a column must be cast before pandas gets it, None if it fits."""
    kind, types = field.type, arrow.types
    if types.is_decimal(kind) or types.is_null(kind):
        return arrow.float64()
    if types.is_time(kind):
        return arrow.duration("us")
    if types.is_nested(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        raise ValueError(
            f"Column {field.name!r} holds values of type {kind}; expected one number, "
            "string, date or truth value per row. Leave the column out."
        )
    return None


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
    start = "has no column" if len(absent) == 1 else f"has no {len(absent)} columns"
    return f"{start} {named}; {'close names' if close else 'found'}: {listed}{more}."


def close_names(name: str, names: Sequence[str]) -> list[str]:
    """Names that a misspelt one may mean: without regard to case, best first."""
    by_key = {_key(each): each for each in reversed(names)}
    return [by_key[key] for key in get_close_matches(_key(name), list(by_key), n=3)]


def duplicates(names: Sequence[str]) -> list[str]:
    """Names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def _key(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")
