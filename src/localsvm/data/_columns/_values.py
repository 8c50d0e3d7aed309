"""The values of a column as numbers, days or labels; a wrong value is named.

Functions here take a pandas Series, or a numeric array in place of one.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Hashable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._extras import require

_DAY = np.timedelta64(1, "D")
_NUMBERS = frozenset(
    ["integer", "floating", "mixed-integer-float", "decimal", "boolean", "empty"]
)
_DATES = frozenset(["date", "datetime", "datetime64"])


def type_of(values: Any) -> str:
    """Type of the values in pandas' words, missing ones aside."""
    if isinstance(values, np.ndarray):
        return "boolean" if values.dtype == bool else "floating"
    if values.isna().all():
        return "empty"
    return str(_pandas().api.types.infer_dtype(values, skipna=True))


def as_numbers(name: str, values: Any) -> NDArray[np.float64]:
    """Numbers in float64, NaN where one is missing; durations in days."""
    if isinstance(values, np.ndarray):
        return np.asarray(values, dtype=np.float64)
    found = "integer" if values.dtype.kind in "biuf" else type_of(values)
    if found == "categorical":
        return as_numbers(name, values.astype(values.cat.categories.dtype))
    if found in _NUMBERS:
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    if found in ("timedelta", "timedelta64", "time"):
        if found == "time":
            values = values.map(str, na_action="ignore")
        durations = _pandas().to_timedelta(values).to_numpy()
        return np.asarray(durations / _DAY, dtype=np.float64)
    if found in _DATES:
        raise wrong_value(name, values, values.notna(), "numbers")
    return _parse(name, values, _numbers_of_strings, "numbers")


def as_days(name: str, values: Any) -> NDArray[np.float64]:
    """Days since 1970 in float64, NaN where a date is missing; zones become UTC."""
    if isinstance(values, np.ndarray):
        raise wrong_value(name, values, ~np.isnan(values), "dates")
    found = type_of(values)
    if found == "categorical":
        return as_days(name, values.astype(values.cat.categories.dtype))
    if found == "datetime64":
        return _days(values)
    if found in _NUMBERS and found != "empty":
        raise wrong_value(name, values, values.notna(), "dates")
    return _parse(name, values, days_of_strings, "dates such as 2024-12-31")


def days_of_strings(values: Any) -> NDArray[np.float64]:
    """Days since 1970 of strings in ISO 8601 or of date objects, else NaN."""
    pandas = _pandas()
    parsed = pandas.to_datetime(values, format="ISO8601", errors="coerce", utc=True)
    return _days(pandas.Series(parsed))


def factorize(name: str, values: Any) -> tuple[NDArray[np.intp], list[str]]:
    """Distinct values as labels in order of appearance, and which one a row has.

    A missing value has the code -1. An integer and the equal float have one label.
    """
    if isinstance(values, np.ndarray):
        values = _pandas().Series(values)
    codes, distinct = _distinct(name, values)
    labels = [label_of(value) for value in distinct]
    merged = {label: code for code, label in enumerate(dict.fromkeys(labels))}
    if len(merged) < len(labels):
        places = np.array([*(merged[label] for label in labels), -1], dtype=np.intp)
        codes = places[codes]
    return np.asarray(codes, dtype=np.intp), list(merged)


def label_of(value: Any) -> str:
    """Name of a category: the same for 1 and 1.0, whatever library made them."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    return str(value)


def wrong_value(name: str, values: Any, wrong: Any, expected: str) -> ValueError:
    """Error that names the column, the first wrong value and its row."""
    row = int(np.argmax(np.asarray(wrong)))
    value = values[row] if isinstance(values, np.ndarray) else values.iloc[row]
    value = value.item() if isinstance(value, np.generic) else value
    return ValueError(
        f"Column {name!r} has the value {value!r} in row {row} (the first is 0); "
        f"expected {expected}."
    )


def _parse(
    name: str,
    values: Any,
    parse: Callable[[Any], NDArray[np.float64]],
    expected: str,
) -> NDArray[np.float64]:
    """Numbers that ``parse`` makes of the distinct values."""
    pandas = _pandas()
    codes, distinct = _distinct(name, values)
    parsed = np.append(parse(pandas.Series(distinct)), np.nan)[codes]
    wrong = np.isnan(parsed) & (codes >= 0)
    if wrong.any():
        raise wrong_value(name, values, wrong, expected)
    return np.asarray(parsed, dtype=np.float64)


def _distinct(name: str, values: Any) -> tuple[NDArray[np.intp], Any]:
    try:
        codes, distinct = _pandas().factorize(values)
    except TypeError:
        nested = values.map(lambda value: not isinstance(value, Hashable))
        raise wrong_value(name, values, nested, "one value per row") from None
    return codes, distinct


def _numbers_of_strings(values: Any) -> NDArray[np.float64]:
    numbers = _pandas().to_numeric(values, errors="coerce")
    return np.asarray(numbers.to_numpy(dtype=np.float64, na_value=np.nan))


def _days(values: Any) -> NDArray[np.float64]:
    if values.dt.tz is not None:
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
    moments = values.to_numpy(dtype="datetime64[us]")
    days = (moments - np.datetime64(0, "us")) / _DAY
    return np.asarray(days, dtype=np.float64)


def _pandas() -> Any:
    return require("pandas", "cli", "Encoding a table")
