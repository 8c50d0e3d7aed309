"""Text files line by line: what is wrong with them, and where."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from localsvm._extras import require

_LOOKED_AT = 4096
_MAGIC = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"FEA1": "a Feather file",
    b"\x1f\x8b": "compressed with gzip; its name should end in .gz",
    b"BZh": "compressed with bzip2; its name should end in .bz2",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; its name should end in .zst",
    b"PK\x03\x04": "a zip archive or a spreadsheet; save the table as CSV",
    b"\x89PNG": "a picture",
    b"%PDF": "a PDF document",
    b"SQLite": "a database",
}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def open_bytes(path: Path) -> Any:
    """Open a file whose name may end in .gz, .bz2, .zst, .lz4 or .br."""
    arrow = require("pyarrow", "cli", "Reading a table")
    return arrow.input_stream(str(path), compression="detect")


def open_text(path: Path, encoding: str) -> io.TextIOWrapper:
    """Open such a file as text, without the mark at its beginning."""
    name = "utf-8-sig" if encoding.lower().replace("_", "-") in _UTF8 else encoding
    return io.TextIOWrapper(open_bytes(path), encoding=name, newline="")


_UTF8 = ("utf8", "utf-8")


def check_text(path: Path, encoding: str) -> None:
    """Raise a ValueError if a file is empty or something else than text."""
    with open_bytes(path) as stream:
        try:
            start = stream.read(_LOOKED_AT)
        except OSError as error:
            raise ValueError(
                f"is damaged or not compressed as its name says: {error}."
            ) from error
    if not start.strip():
        raise ValueError("is empty.")
    for magic, what in _MAGIC.items():
        if start.startswith(magic):
            raise ValueError(f"is not text but {what}.")
    wide = "16" in encoding or "32" in encoding
    if start.startswith(_UTF16) and not wide:
        raise ValueError("is text in UTF-16; pass encoding='utf-16'.")
    if b"\0" in start and not wide:
        raise ValueError("is not text: it has bytes of value 0.")


def check_encoding(path: Path, table: Any) -> None:
    """Raise a ValueError if pyarrow took text for bytes, not being UTF-8."""
    types = require("pyarrow", "cli", "Reading a table").types
    wrong = [field.name for field in table.schema if types.is_binary(field.type)]
    if not wrong:
        return
    with open_bytes(path) as stream:
        for number, line in enumerate(io.BufferedReader(stream), 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                shown = line[:60].decode("latin-1").strip()
                raise ValueError(
                    f"is not UTF-8 in line {number}, column {wrong[0]!r}: {shown!r} if "
                    "it is latin-1; pass encoding='latin-1' or what it is."
                ) from None


def check_quotes(path: Path, table: Any, delimiter: str, encoding: str) -> None:
    """Raise a ValueError if a quote that is never closed swallowed the last lines."""
    last = table.column(table.num_columns - 1)[-1].as_py()
    if not isinstance(last, str) or "\n" not in last:
        return
    with open_text(path, encoding) as text:
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        line = 0
        try:
            for _ in reader:
                line = reader.line_num
        except csv.Error:
            raise ValueError(
                f"has a quoted field in line {line + 1} that never ends."
            ) from None


def find_ragged_line(path: Path, delimiter: str, encoding: str) -> str:
    """Sentence about the first line with more or fewer fields than the first; or ""."""
    with open_text(path, encoding) as text:
        reader = csv.reader(text, delimiter=delimiter)
        try:
            expected = len(next(reader, []))
            line = reader.line_num
            for row in reader:
                if row and len(row) != expected:
                    shown = delimiter.join(row)[:60]
                    return (
                        f"has {len(row)} fields in line {line + 1}, expected "
                        f"{expected} as in the first line: {shown!r}."
                    )
                line = reader.line_num
        except (csv.Error, UnicodeError, OSError):
            return ""
    return ""
