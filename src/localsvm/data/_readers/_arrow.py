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
from localsvm.exceptions import DataError

_INDEX_OF_PANDAS = "__index_level_"
_ENDINGS_OF_PARQUET = (".parquet", ".pq")
_MOST_BYTES_OF_FOLDER = 2**31
_MAGIC_OF_FILES = (b"ARROW1", b"FEA1")


def read_parquet(path: Path, options: ReadOptions) -> Content:
    """Read a Parquet file."""
    parquet = require("pyarrow.parquet", "tables", "Reading a Parquet file")
    with arrow_errors("Parquet"):
        table = parquet.ParquetFile(path).read()
        table.validate(full=True)
    return _content(table)


def read_parquet_folder(path: Path, options: ReadOptions) -> Content:
    """Read the Parquet files of a folder, in the order of their names, as one table."""
    arrow = require("pyarrow", "tables", "Reading a Parquet file")
    files = [each for each in path.iterdir() if each.suffix in _ENDINGS_OF_PARQUET]
    files.sort()
    if not files:
        raise IsADirectoryError(
            f"{path} is a folder without Parquet files; expected a file, or a folder "
            "of .parquet files."
        )
    size = sum(each.stat().st_size for each in files)
    if size > _MOST_BYTES_OF_FOLDER:
        raise DataError(
            f"is a folder of {size / 2**30:.3g} GiB of Parquet files; up to "
            f"{_MOST_BYTES_OF_FOLDER / 2**30:.3g} GiB are read into memory. Fit it "
            "without reading it at once in Python, e.g. SupportClusterSVC().fit("
            f"{str(path)!r}, 'label')."
        )
    tables: list[Any] = []
    for file in files:
        try:
            tables.append(read_parquet(file, options).rows)
        except DataError as error:
            raise error.about(f"holds {file.name}, which") from error
        _check_same_columns(tables[0].schema, tables[-1].schema, files[0], file)
    return Content(arrow.concat_tables(tables))


def _check_same_columns(first: Any, other: Any, of_first: Path, of_other: Path) -> None:
    columns = [{field.name: field.type for field in each} for each in (first, other)]
    for name in dict.fromkeys([*first.names, *other.names]):
        expected, found = (str(each.get(name, "no column")) for each in columns)
        if found != expected:
            raise DataError(
                f"holds files of other columns: {name!r} is {found} in "
                f"{of_other.name}, but {expected} in {of_first.name}."
            )
    if first.names != other.names:
        raise DataError(
            f"has the columns of {of_other.name} in another order than those of "
            f"{of_first.name}."
        )


def stream_parquet(path: Path, options: ReadOptions) -> Iterator[Any]:
    """Give arrow tables of the rows of a Parquet file, one after the other."""
    arrow = require("pyarrow", "tables", "Reading a Parquet file")
    parquet = require("pyarrow.parquet", "tables", "Reading a Parquet file")
    with arrow_errors("Parquet"), parquet.ParquetFile(path) as file:
        for batch in file.iter_batches():
            table = arrow.Table.from_batches([batch])
            table.validate(full=True)
            yield _content(table).rows


def read_arrow(path: Path, options: ReadOptions) -> Content:
    """Read an Arrow IPC file, an Arrow IPC stream or a Feather file."""
    arrow = require("pyarrow", "tables", "Reading an Arrow file")
    feather = require("pyarrow.feather", "tables", "Reading an Arrow file")
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
