"""The values of a column as numbers, days or labels; a wrong value is named.

Functions here take a pandas Series, or a numeric array in place of one; where only
labels count, also an array of strings and None.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Hashable
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._extras import require
from localsvm.exceptions import DataError

_DAY = np.timedelta64(1, "D")
_NUMBERS = frozenset(
    ["integer", "floating", "mixed-integer-float", "decimal", "boolean", "empty"]
)
_WITH_STRINGS = frozenset(["string", "mixed", "categorical"])
_DATES = frozenset(["date", "datetime", "datetime64"])
# Where dots part a date, the day comes first.
_WITH_DOTS = re.compile(r"\s*(\d{1,2})\.(\d{1,2})\.(\d{4})(.*?)\s*", re.DOTALL)
_WITH_SLASHES = re.compile(r"\s*\d{1,2}/\d{1,2}/\d{4}\s*")
_ORDERS = ("%d/%m/%Y", "%m/%d/%Y")


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


def as_days(name: str, values: Any, format: str = "") -> NDArray[np.float64]:
    """Days since 1970 in float64, NaN where a date is missing; zones become UTC.

    ``format`` is that of the strings, for instance ``"%d/%m/%Y"``.
    """
    if isinstance(values, np.ndarray):
        raise wrong_value(name, values, ~np.isnan(values), "dates")
    found = type_of(values)
    if found == "categorical":
        return as_days(name, values.astype(values.cat.categories.dtype), format)
    if found == "datetime64":
        return _days(values)
    if found in _NUMBERS and found != "empty" and not format:
        raise wrong_value(name, values, values.notna(), "dates")
    expected = f"dates such as 2024-12-31 or {format or '31.12.2024'}"
    if not format:
        expected += f", or a format as in kinds={{{name!r}: 'date:%d.%m.%y'}}"
    return _parse(name, values, partial(days_of_strings, format=format), expected)


def days_of_strings(values: Any, format: str = "") -> NDArray[np.float64]:
    """Days since 1970 of strings, or of date objects; NaN for what is neither.

    Strings are in ``format`` or in ISO 8601; without a format, also 31.12.2024.
    """
    if not format:
        return _days_of(values.map(_as_iso), "ISO8601")
    values = values.map(label_of)
    days = _days_of(values, format)
    return np.where(np.isnan(days), _days_of(values, "ISO8601"), days)


def find_date_format(name: str, values: Any) -> str:
    """Order of day and month in dates such as 31/12/2024; "" if there are none."""
    if isinstance(values, np.ndarray) or type_of(values) not in _WITH_STRINGS:
        return ""
    labels = [
        each for each in factorize(name, values)[1] if _WITH_SLASHES.fullmatch(each)
    ]
    distinct = _pandas().Series(labels, dtype=object)
    orders = [each for each in _ORDERS if not np.isnan(_days_of(distinct, each)).any()]
    if labels and len(orders) == len(_ORDERS):
        raise DataError(
            f"Column {name!r} has dates such as {labels[0]!r} whose first number can "
            "be the day or the month; pass {remedy}.",
            parameter="kinds",
            value=tuple({name: f"date:{each}"} for each in orders),
        )
    return orders[0] if labels and orders else ""


def _as_iso(value: Any) -> Any:
    found = _WITH_DOTS.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return value
    day, month, year, time = found.groups()
    return f"{year}-{int(month):02}-{int(day):02}{time}"


def _days_of(values: Any, format: str) -> NDArray[np.float64]:
    pandas = _pandas()
    parsed = pandas.to_datetime(values, format=format, errors="coerce", utc=True)
    return _days(pandas.Series(parsed))


def factorize(name: str, values: Any) -> tuple[NDArray[np.intp], list[str]]:
    """Distinct values as labels in order of appearance, and which one a row has.

    A missing value has the code -1. An integer and the equal float have one label.
    """
    if isinstance(values, np.ndarray):
        if values.dtype == object:
            return _factorize_strings(values)
        values = _pandas().Series(values)
    codes, distinct = _distinct(name, values)
    labels = [label_of(value) for value in distinct]
    merged = {label: code for code, label in enumerate(dict.fromkeys(labels))}
    if len(merged) < len(labels):
        places = np.array([*(merged[label] for label in labels), -1], dtype=np.intp)
        codes = places[codes]
    return np.asarray(codes, dtype=np.intp), list(merged)


def _factorize_strings(values: NDArray[Any]) -> tuple[NDArray[np.intp], list[str]]:
    """Factorize strings and None, of which few rows have no use for pandas."""
    place: dict[str, int] = {}
    codes = [
        -1 if value is None else place.setdefault(value, len(place)) for value in values
    ]
    return np.array(codes, dtype=np.intp), list(place)


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


def wrong_value(name: str, values: Any, wrong: Any, expected: str) -> DataError:
    """Error that names the column, the first wrong value and its row."""
    row = int(np.argmax(np.asarray(wrong)))
    value = values[row] if isinstance(values, np.ndarray) else values.iloc[row]
    value = value.item() if isinstance(value, np.generic) else value
    return DataError(
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
    return require("pandas", "tables", "Encoding a table")
