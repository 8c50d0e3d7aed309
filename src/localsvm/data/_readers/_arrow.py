"""Parquet, Arrow IPC and Feather files.

Tables are validated in full: offsets of a damaged file that point outside their
buffers would be followed otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from localsvm._extras import require
from localsvm.data._readers._options import Content, ReadOptions, arrow_errors

_INDEX_OF_PANDAS = "__index_level_"
_MAGIC_OF_FILES = (b"ARROW1", b"FEA1")


def read_parquet(path: Path, options: ReadOptions) -> Content:
    """Read a Parquet file."""
    parquet = require("pyarrow.parquet", "cli", "Reading a Parquet file")
    with arrow_errors("Parquet"):
        table = parquet.ParquetFile(path).read()
        table.validate(full=True)
    return _content(table)


def stream_parquet(path: Path, options: ReadOptions) -> Iterator[Any]:
    """Give arrow tables of the rows of a Parquet file, one after the other."""
    arrow = require("pyarrow", "cli", "Reading a Parquet file")
    parquet = require("pyarrow.parquet", "cli", "Reading a Parquet file")
    with arrow_errors("Parquet"), parquet.ParquetFile(path) as file:
        for batch in file.iter_batches():
            table = arrow.Table.from_batches([batch])
            table.validate(full=True)
            yield _content(table).rows


def read_arrow(path: Path, options: ReadOptions) -> Content:
    """Read an Arrow IPC file, an Arrow IPC stream or a Feather file."""
    arrow = require("pyarrow", "cli", "Reading an Arrow file")
    feather = require("pyarrow.feather", "cli", "Reading an Arrow file")
    with arrow_errors("Arrow or Feather"):
        with open(path, "rb") as file:
            start = file.read(8)
        if start.startswith(_MAGIC_OF_FILES):
            table = feather.read_table(path, memory_map=False)
        else:
            with arrow.input_stream(path, compression=None) as stream:
                table = arrow.ipc.open_stream(stream).read_all()
        table.validate(full=True)
    return _content(table)


def _content(table: Any) -> Content:
    index = [name for name in table.column_names if name.startswith(_INDEX_OF_PANDAS)]
    return Content(table.drop_columns(index))
