"""CSV, TSV and the like, plain or compressed."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from localsvm._checks import level_of_caller
from localsvm._extras import require
from localsvm.data._frames import duplicates
from localsvm.data._readers._lines import (
    check_quotes,
    check_text,
    open_bytes,
    what_is_wrong,
)
from localsvm.data._readers._options import Content, ReadOptions, arrow_errors

_BLOCK_BYTES = 2**23
_OTHER_DELIMITERS = {",": "','", ";": "';'", "\t": "'\\t'", "|": "'|'"}


def read_csv(path: Path, options: ReadOptions) -> Content:
    """Read fields between commas, or another delimiter."""
    return Content(
        _read(path, options, "," if options.delimiter is None else options.delimiter)
    )


def read_tsv(path: Path, options: ReadOptions) -> Content:
    """Read fields between tabs, or another delimiter."""
    return Content(
        _read(path, options, "\t" if options.delimiter is None else options.delimiter)
    )


def _read(path: Path, options: ReadOptions, delimiter: str) -> Any:
    _check_delimiter(delimiter)
    check_text(path, options.encoding)
    table = _parse(path, options, delimiter)
    if not table.num_rows:
        raise ValueError("has no rows, only the line of names.")
    table = table.rename_columns(_names(table.column_names, options.header))
    _check_names(table.column_names, delimiter)
    check_quotes(path, table, delimiter, options.encoding)
    return _without_blanks(table)


def _parse(path: Path, options: ReadOptions, delimiter: str) -> Any:
    csv = require("pyarrow.csv", "cli", "Reading a CSV file")
    arrow = require("pyarrow", "cli", "Reading a CSV file")
    reading = csv.ReadOptions(
        block_size=_BLOCK_BYTES,
        encoding=options.encoding,
        autogenerate_column_names=not options.header,
    )
    parsing = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    markers = [*csv.ConvertOptions().null_values, *options.missing]
    # Some files have a blank after each comma, and pyarrow compares the whole field.
    converting = csv.ConvertOptions(
        strings_can_be_null=True,
        null_values=[*markers, *(f" {marker}" for marker in markers)],
        column_types=dict.fromkeys(options.strings, arrow.string()),
        decimal_point=options.decimal,
    )
    with arrow_errors("CSV"), open_bytes(path) as stream:
        try:
            table = csv.read_csv(stream, reading, parsing, converting)
            _check_strings(table)
        except (arrow.ArrowInvalid, UnicodeError) as error:
            wrong = what_is_wrong(path, delimiter, options.encoding)
            if wrong:
                raise ValueError(wrong) from error
            raise
    return table


def _check_strings(table: Any) -> None:
    """Raise a UnicodeError where pyarrow keeps what is not UTF-8 as bytes."""
    types = require("pyarrow", "cli", "Reading a CSV file").types
    wrong = [field.name for field in table.schema if types.is_binary(field.type)]
    if wrong:
        raise UnicodeError(f"column {wrong[0]!r} is not UTF-8")


def _check_delimiter(delimiter: str) -> None:
    if len(delimiter) != 1 or not delimiter.isascii():
        raise ValueError(
            f"cannot be read with delimiter={delimiter!r}; expected one character, for "
            "instance ';' or '\\t'."
        )


def _names(names: list[str], header: bool) -> list[str]:
    """Names without blanks around them; a column without a name gets its number."""
    if not header:
        return [f"x{position}" for position in range(len(names))]
    return [
        name.strip() or f"column_{position}" for position, name in enumerate(names, 1)
    ]


def _check_names(names: list[str], delimiter: str) -> None:
    twice = duplicates(names)
    if twice:
        raise ValueError(
            f"has several columns named {', '.join(map(repr, twice[:5]))}; expected "
            "names that differ."
        )
    if len(names) == 1:
        _check_single_name(names[0], delimiter)
    numbers = [name for name in names if _is_number(name)]
    if len(numbers) == len(names) or any("." in name for name in numbers):
        warnings.warn(
            f"The first line looks like data, not names: {', '.join(names[:5])}. "
            "Pass header=False if the file has no line of names.",
            UserWarning,
            stacklevel=level_of_caller(),
        )


def _check_single_name(name: str, delimiter: str) -> None:
    for other, shown in _OTHER_DELIMITERS.items():
        if other != delimiter and other in name:
            raise ValueError(
                f"has the single column {name!r} if {delimiter!r} ends a field; pass "
                f"delimiter={shown} if that does."
            )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _without_blanks(table: Any) -> Any:
    """Strip the strings, as pyarrow does with numbers."""
    compute = require("pyarrow.compute", "cli", "Reading a CSV file")
    types = require("pyarrow", "cli", "Reading a CSV file").types
    for position, field in enumerate(table.schema):
        if types.is_string(field.type):
            column = compute.utf8_trim_whitespace(table.column(position))
            table = table.set_column(position, field.name, column)
    return table
