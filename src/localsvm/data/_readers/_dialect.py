"""What ends the fields of a CSV file, and how it writes its numbers."""

from __future__ import annotations

import csv
from itertools import islice
from pathlib import Path
from typing import Any

from localsvm._extras import require
from localsvm.data._readers._lines import open_text
from localsvm.data._readers._options import ReadOptions
from localsvm.exceptions import DataError

_DELIMITERS = (",", ";", "\t", "|")
_LINES_LOOKED_AT = 200
# Whole numbers, or ones with a decimal comma; points may part the thousands.
_WITH_COMMA = r"^\s*[-+]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?\s*$"
_OF_THOUSANDS = r"^\s*[-+]?[1-9]\d{0,2}(,\d{3})?\s*$"


def find_delimiter(path: Path, options: ReadOptions, usual: str) -> str:
    """Delimiter as given, or as the first lines of the file show it.

    One that cuts these lines into the same number of fields, two or more, is possible.
    If several are, a DataError requests one. If none is, it is the usual one, or the
    one that cuts the first line most if the usual one does not.
    """
    if options.delimiter is not None:
        return _checked(options.delimiter)
    sizes = {each: _fields(path, each, options.encoding) for each in _DELIMITERS}
    possible = [
        each for each, found in sizes.items() if found[0] > 1 and len(set(found)) == 1
    ]
    if not possible:
        widest = max(_DELIMITERS, key=lambda each: sizes[each][0])
        return usual if sizes[usual][0] > 1 or sizes[widest][0] < 2 else widest
    if len(possible) == 1:
        return possible[0]
    if usual == "\t" and usual in possible:  # the name of the file says so
        return usual
    found = " or ".join(f"{sizes[each][0]} fields by {each!r}" for each in possible)
    raise DataError(
        f"has {found} in each of its first lines; pass {{remedy}}.",
        parameter="delimiter",
        value=tuple(possible),
    )


def _checked(delimiter: str) -> str:
    if len(delimiter) != 1 or not delimiter.isascii():
        raise DataError(
            "cannot be read with {remedy}; expected one character, for instance ';' or "
            "'\\t'.",
            parameter="delimiter",
            value=delimiter,
        )
    return delimiter


def _fields(path: Path, delimiter: str, encoding: str) -> list[int]:
    """Count the fields of each of the first lines; 0 if they cannot be parsed."""
    with open_text(path, encoding, errors="replace") as text:
        rows = csv.reader(text, delimiter=delimiter)
        try:
            return [len(row) for row in islice(rows, _LINES_LOOKED_AT) if row] or [0]
        except (csv.Error, UnicodeError, OSError):
            return [0]


def comma_columns(table: Any, options: ReadOptions, delimiter: str) -> list[str]:
    """Names of string columns that are numbers with a decimal comma.

    There are none where commas end the fields, or where the decimal point is given:
    "1,234" is a thousand there. It may be one, too, if all numbers with commas are
    like it and other columns have decimal points.
    """
    if options.decimal == "." or (options.decimal is None and delimiter == ","):
        return []
    found = [
        name
        for name, field in zip(table.column_names, table.schema, strict=True)
        if name.strip() not in options.strings and _has_commas(field, table[name])
    ]
    clear = options.decimal is not None or any(
        not _all_match(table[name], _OF_THOUSANDS) for name in found
    )
    types = require("pyarrow", "tables", "Reading a CSV file").types
    return found if clear or not any(map(types.is_floating, table.schema.types)) else []


def without_commas(table: Any, names: list[str]) -> Any:
    """Turn columns of numbers with a decimal comma into numbers."""
    arrow = require("pyarrow", "tables", "Reading a CSV file")
    compute = require("pyarrow.compute", "tables", "Reading a CSV file")
    for name in names:
        strings = compute.utf8_trim_whitespace(table[name])
        strings = compute.replace_substring(strings, ".", "")
        strings = compute.replace_substring(strings, ",", ".")
        strings = compute.replace_substring_regex(strings, r"^\+", "")
        numbers = strings.cast(arrow.float64())
        table = table.set_column(table.column_names.index(name), name, numbers)
    return table


def _has_commas(field: Any, values: Any) -> bool:
    arrow = require("pyarrow", "tables", "Reading a CSV file")
    compute = require("pyarrow.compute", "tables", "Reading a CSV file")
    if not arrow.types.is_string(field.type):
        return False
    if not all(_all_match(each, _WITH_COMMA) for each in (values[:1000], values)):
        return False
    return bool(compute.any(compute.match_substring(values, ",")).as_py())


def _all_match(values: Any, pattern: str) -> bool:
    """Whether all values that are there match."""
    compute = require("pyarrow.compute", "tables", "Reading a CSV file")
    return (
        compute.all(compute.match_substring_regex(values, pattern)).as_py() is not False
    )
