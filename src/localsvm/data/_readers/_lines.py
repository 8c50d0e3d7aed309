"""Text files line by line: what is wrong with them, and where."""

from __future__ import annotations

import codecs
import csv
import io
from pathlib import Path
from typing import Any

from localsvm._extras import require
from localsvm.exceptions import DataError

_LOOKED_AT = 4096
_SHOWN = 60
_MAGIC = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"FEA1": "a Feather file",
    b"\x1f\x8b": "compressed with gzip; its name should end in .gz",
    b"BZh": "compressed with bzip2; its name should end in .bz2",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; its name should end in .zst",
    b"PK\x03\x04": "a zip archive or a spreadsheet; save the table as CSV",
    b"\xd0\xcf\x11\xe0": "a spreadsheet; save the table as CSV",
    b"\x93NUMPY": "an array of NumPy; its name should end in .npy",
    b"\x89PNG": "a picture",
    b"%PDF": "a PDF document",
    b"SQLite": "a database",
    b"<!": "HTML",
    b"<html": "HTML",
    b"<?xml": "XML",
    b'{"': "JSON",
    b"{\n": "JSON",
    b"[{": "JSON",
}
_WIDE = ("utf-16", "utf-32")
_MARKS_OF_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def open_bytes(path: Path) -> Any:
    """Open a file whose name may end in .gz, .bz2, .zst, .lz4 or .br."""
    arrow = require("pyarrow", "tables", "Reading a table")
    return arrow.input_stream(str(path), compression="detect")


def open_text(path: Path, encoding: str, *, errors: str = "strict") -> io.TextIOWrapper:
    """Open such a file as text, without the mark at its beginning."""
    name = codecs.lookup(encoding).name
    name = "utf-8-sig" if name == "utf-8" else name
    return io.TextIOWrapper(open_bytes(path), name, errors, newline="")


def check_text(path: Path, encoding: str) -> None:
    """Raise a DataError if a file is empty or something else than text."""
    with open_bytes(path) as stream:
        try:
            start = stream.read(_LOOKED_AT)
        except OSError as error:
            raise DataError(
                f"is damaged or not compressed as its name says: {error}."
            ) from error
    if not start.strip():
        raise DataError("is empty.")
    for magic, what in _MAGIC.items():
        if start.startswith(magic):
            raise DataError(f"is not a table of text but {what}.")
    if _is_wide(encoding):
        return
    if start.startswith(_MARKS_OF_UTF16):
        raise DataError(
            "is text in UTF-16; pass {remedy}.", parameter="encoding", value="utf-16"
        )
    if b"\0" in start:
        raise DataError("is not text: it has bytes of value 0.")


def what_is_wrong(path: Path, delimiter: str, encoding: str) -> DataError | None:
    """Error about the first line that cannot be read; None if all can."""
    try:
        return _wrong_encoding(path, encoding) or _ragged_line(
            path, delimiter, encoding
        )
    except (csv.Error, UnicodeError, OSError):
        return None


def check_quotes(path: Path, table: Any, delimiter: str, encoding: str) -> None:
    """Raise a DataError if a quote that is never closed swallowed the last lines."""
    last = table.column(table.num_columns - 1)[-1].as_py()
    if not isinstance(last, str) or "\n" not in last:
        return
    with open_text(path, encoding) as text:
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        line = 0
        try:
            for _ in reader:
                line = reader.line_num
        except csv.Error as error:
            if "end of data" in str(error):
                raise DataError(
                    f"has a quoted field in line {line + 1} that never ends."
                ) from None


def _is_wide(encoding: str) -> bool:
    return codecs.lookup(encoding).name.startswith(_WIDE)


def _wrong_encoding(path: Path, encoding: str) -> DataError | None:
    if _is_wide(encoding):
        return None
    with open_bytes(path) as stream:
        for number, line in enumerate(io.BufferedReader(stream), 1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError as error:
                other = (
                    "latin-1" if codecs.lookup(encoding).name == "utf-8" else "utf-8"
                )
                shown = line[max(0, error.start - 20) :][:_SHOWN].decode(
                    other, "replace"
                )
                return DataError(
                    f"is not {encoding} in line {number}; pass {{remedy}} if "
                    f"{shown.strip()!r} is right.",
                    parameter="encoding",
                    value=other,
                )
    return None


def _ragged_line(path: Path, delimiter: str, encoding: str) -> DataError | None:
    with open_text(path, encoding) as text:
        reader = csv.reader(text, delimiter=delimiter)
        expected = len(next((row for row in reader if row), []))
        line = reader.line_num
        for row in reader:
            if row and len(row) != expected:
                shown = delimiter.join(row)[:_SHOWN]
                fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
                return DataError(
                    f"has {fields} in line {line + 1}, expected {expected} as in the "
                    f"first line: {shown!r}."
                )
            line = reader.line_num
    return None
