"""CSV, TSV and the like, plain or compressed."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from localsvm._checks import level_of_caller
from localsvm._extras import require
from localsvm.data._frames import duplicates
from localsvm.data._readers._dialect import (
    comma_columns,
    find_delimiter,
    without_commas,
)
from localsvm.data._readers._lines import (
    check_quotes,
    check_text,
    open_bytes,
    what_is_wrong,
)
from localsvm.data._readers._options import Content, ReadOptions, arrow_errors
from localsvm.exceptions import DataError, DataWarning

_BLOCK_BYTES = 2**23
_ZERO_LED = r"^\s*0\d"
_SIGNED = r"^\s*[-+]"


def read_csv(path: Path, options: ReadOptions) -> Content:
    """Read fields between commas, or another delimiter."""
    return Content(_read(path, options, ","))


def read_tsv(path: Path, options: ReadOptions) -> Content:
    """Read fields between tabs, or another delimiter."""
    return Content(_read(path, options, "\t"))


def stream_csv(path: Path, options: ReadOptions) -> Iterator[Any]:
    """Give arrow tables of the rows of a CSV file, one after the other."""
    return _stream(path, options, ",")


def stream_tsv(path: Path, options: ReadOptions) -> Iterator[Any]:
    """Give arrow tables of the rows of a TSV file, one after the other."""
    return _stream(path, options, "\t")


def _read(path: Path, options: ReadOptions, usual: str) -> Any:
    check_text(path, options.encoding)
    delimiter = find_delimiter(path, options, usual)
    table = _parse(path, options, delimiter, options.strings)
    if not table.num_rows:
        raise DataError("has no rows, only the line of names.")
    names = _names(table.column_names, options.header)
    _check_names(names)
    codes = _codes(path, options, delimiter, table.schema)
    if codes:
        table = _parse(path, options, delimiter, [*options.strings, *codes])
    table = table.rename_columns(names)
    check_quotes(path, table, delimiter, options.encoding)
    table = without_commas(table, comma_columns(table, options, delimiter))
    return _without_blanks(table)


def _stream(path: Path, options: ReadOptions, usual: str) -> Iterator[Any]:
    check_text(path, options.encoding)
    delimiter = find_delimiter(path, options, usual)
    arrow = require("pyarrow", "tables", "Reading a CSV file")
    types = _steady_types(path, options, delimiter)
    names: list[str] = []
    with _csv_errors(path, options, delimiter), open_bytes(path) as stream:
        for batch in _open(stream, options, delimiter, types):
            table = arrow.Table.from_batches([batch])
            _check_strings(table)
            if not names:
                names = _names(table.column_names, options.header)
                table = table.rename_columns(names)
                commas = comma_columns(table, options, delimiter)
            table = without_commas(table.rename_columns(names), commas)
            yield _without_blanks(table)


def _steady_types(path: Path, options: ReadOptions, delimiter: str) -> dict[str, Any]:
    """Types of the columns in the first block that those of later ones will fit.

    Fractions may follow whole numbers, and anything may follow missing values. Codes
    are looked for in all blocks.
    """
    arrow = require("pyarrow", "tables", "Reading a CSV file")
    with _csv_errors(path, options, delimiter), open_bytes(path) as stream:
        schema = _open(stream, options, delimiter, {}).schema
    names = _names(schema.names, options.header)
    _check_names(names)
    codes = _codes(path, options, delimiter, schema)
    steady = {}
    for field, name in zip(schema, names, strict=True):
        known = name in options.strings or field.name in codes
        if known or arrow.types.is_null(field.type):
            steady[field.name] = arrow.string()
        elif arrow.types.is_integer(field.type):
            steady[field.name] = arrow.float64()
        else:
            steady[field.name] = field.type
    return steady


def _codes(path: Path, options: ReadOptions, delimiter: str, schema: Any) -> set[str]:
    """Columns of integers that have leading zeros somewhere and no sign anywhere.

    Such digits are names, like postal codes: as numbers they would lose the zeros.
    """
    arrow = require("pyarrow", "tables", "Reading a CSV file")
    compute = require("pyarrow.compute", "tables", "Reading a CSV file")
    whole = [field.name for field in schema if arrow.types.is_integer(field.type)]
    found: dict[str, set[str]] = {_ZERO_LED: set(), _SIGNED: set()}
    if not whole:
        return set()
    types = dict.fromkeys(whole, arrow.string())
    # What is damaged is reported with its place when the rows are read.
    with suppress(arrow.ArrowInvalid), open_bytes(path) as stream:
        for batch in _open(stream, options, delimiter, types, only=whole):
            for name in whole:
                for pattern, names in found.items():
                    matches = compute.match_substring_regex(batch[name], pattern)
                    if compute.any(matches).as_py():
                        names.add(name)
    return found[_ZERO_LED] - found[_SIGNED]


def _open(
    stream: Any,
    options: ReadOptions,
    delimiter: str,
    types: dict[str, Any],
    only: Sequence[str] = (),
) -> Any:
    csv = require("pyarrow.csv", "tables", "Reading a CSV file")
    return csv.open_csv(stream, *_settings(options, delimiter, types, only))


def _parse(
    path: Path, options: ReadOptions, delimiter: str, strings: Iterable[str]
) -> Any:
    csv = require("pyarrow.csv", "tables", "Reading a CSV file")
    arrow = require("pyarrow", "tables", "Reading a CSV file")
    types = dict.fromkeys(strings, arrow.string())
    with _csv_errors(path, options, delimiter), open_bytes(path) as stream:
        table = csv.read_csv(stream, *_settings(options, delimiter, types))
        _check_strings(table)
    return table


def _settings(
    options: ReadOptions,
    delimiter: str,
    types: dict[str, Any],
    only: Sequence[str] = (),
) -> tuple[Any, Any, Any]:
    """Options of pyarrow for reading, parsing and converting."""
    csv = require("pyarrow.csv", "tables", "Reading a CSV file")
    markers = [*csv.ConvertOptions().null_values, *options.missing]
    return (
        csv.ReadOptions(
            block_size=_BLOCK_BYTES,
            encoding=options.encoding,
            autogenerate_column_names=not options.header,
        ),
        csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        # Some files have a blank after each comma, and pyarrow compares whole fields.
        csv.ConvertOptions(
            strings_can_be_null=True,
            null_values=[*markers, *(f" {marker}" for marker in markers)],
            column_types=types,
            include_columns=list(only),
            decimal_point=options.decimal or ".",
        ),
    )


@contextmanager
def _csv_errors(path: Path, options: ReadOptions, delimiter: str) -> Iterator[None]:
    """Turn an error of pyarrow into one that names the line, where that is known."""
    arrow = require("pyarrow", "tables", "Reading a CSV file")
    with arrow_errors("CSV"):
        try:
            yield
        except (arrow.ArrowInvalid, UnicodeError) as error:
            wrong = what_is_wrong(path, delimiter, options.encoding)
            if wrong:
                raise wrong from error
            raise


def _check_strings(table: Any) -> None:
    """Raise a UnicodeError where pyarrow keeps what is not UTF-8 as bytes."""
    types = require("pyarrow", "tables", "Reading a CSV file").types
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        if types.is_binary(kind):
            raise UnicodeError(f"column {name!r} is not UTF-8")


def _names(names: list[str], header: bool) -> list[str]:
    """Names without blanks around them; a column without a name gets its number."""
    if not header:
        return [f"x{position}" for position in range(len(names))]
    return [
        name.strip() or f"column_{position}" for position, name in enumerate(names, 1)
    ]


def _check_names(names: list[str]) -> None:
    twice = duplicates(names)
    if twice:
        raise DataError(
            f"has several columns named {', '.join(map(repr, twice[:5]))}; expected "
            "names that differ."
        )
    numbers = [name for name in names if _is_number(name)]
    if len(numbers) == len(names) or any("." in name for name in numbers):
        warnings.warn(
            DataWarning(
                f"The first line looks like data, not names: {', '.join(names[:5])}. "
                "Pass {remedy} if the file has no line of names.",
                parameter="header",
                value=False,
            ),
            stacklevel=level_of_caller(),
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _without_blanks(table: Any) -> Any:
    """Strip the strings, as pyarrow does with numbers."""
    compute = require("pyarrow.compute", "tables", "Reading a CSV file")
    types = require("pyarrow", "tables", "Reading a CSV file").types
    for position, field in enumerate(table.schema):
        if types.is_string(field.type):
            column = compute.utf8_trim_whitespace(table.column(position))
            table = table.set_column(position, field.name, column)
    return table
