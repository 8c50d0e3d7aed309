"""Tables written batch by batch, so that they may be longer than memory."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import typer

from localsvm._extras import require
from localsvm._replaced_file import replacing_file
from localsvm._text import printable
from localsvm.cli._files._outputs import check_output
from localsvm.cli._group import misuse

STANDARD_OUTPUT = Path("-")
_SEPARATORS = {".csv": ",", ".tsv": "\t"}

WriteBatch = Callable[[Any], None]


def check_table_output(path: Path, *, force: bool) -> None:
    """Refuse a table that cannot be written, before the work begins."""
    if path == STANDARD_OUTPUT:
        return
    if path.suffix != ".parquet" and _text_suffix(path) not in _SEPARATORS:
        misuse(
            f"{path}: unknown kind of table; expected a name that ends in .csv, .tsv, "
            ".csv.gz, .tsv.gz or .parquet, or - for standard output."
        )
    check_output(path, force=force)


@contextmanager
def table_writer(path: Path) -> Iterator[WriteBatch]:
    """Give a function that writes a pandas frame below those before it.

    The file gets its name when the block ends, and vanishes if it fails. Standard
    output is CSV.
    """
    with ExitStack() as stack:
        if path == STANDARD_OUTPUT:
            yield _csv_writer(typer.get_binary_stream("stdout"), ",")
            return
        file: Any = stack.enter_context(replacing_file(path))
        if path.suffix == ".parquet":
            yield stack.enter_context(_parquet_writer(file))
            return
        if path.suffix == ".gz":
            file = stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb", mtime=0))
        yield _csv_writer(file, _SEPARATORS[_text_suffix(path)])


def _text_suffix(path: Path) -> str:
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


def _csv_writer(file: BinaryIO, separator: str) -> WriteBatch:
    has_header = False

    def write(frame: Any) -> None:
        nonlocal has_header
        text = frame.to_csv(index=False, header=not has_header, sep=separator)
        if file.isatty():  # what a program reads stays as it is
            text = printable(text)
        file.write(text.encode())
        file.flush()
        has_header = True

    return write


@contextmanager
def _parquet_writer(file: BinaryIO) -> Iterator[WriteBatch]:
    arrow = require("pyarrow", "cli", "A Parquet file")
    parquet = require("pyarrow.parquet", "cli", "A Parquet file")
    with ExitStack() as stack:
        writer: Any = None

        def write(frame: Any) -> None:
            nonlocal writer
            schema = None if writer is None else writer.schema
            table = arrow.Table.from_pandas(frame, schema=schema, preserve_index=False)
            if writer is None:
                writer = parquet.ParquetWriter(file, table.schema)
                stack.enter_context(writer)
            writer.write_table(table)

        yield write
