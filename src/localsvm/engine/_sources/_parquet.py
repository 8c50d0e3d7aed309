"""Parquet files as blocks of row groups."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._extras import require
from localsvm.engine._sources._block import Block, make_block
from localsvm.engine._sources._columns import (
    Columns,
    FileSchema,
    choose_columns,
    kind_of,
    missing_column,
    number_type,
)
from localsvm.engine._sources._source import Part, Source
from localsvm.exceptions import NotEnoughMemoryError, UnreadableBlockError

_MAGIC_BYTES = 4
_LENGTH_BYTES = 4


@dataclass(frozen=True)
class _File:
    """A Parquet file."""

    fragment: Any

    @property
    def path(self) -> str:
        return str(self.fragment.path)

    @cached_property
    def schema(self) -> FileSchema:
        with _named_errors(self.path):
            return FileSchema(self.path, self.fragment.physical_schema)

    @cached_property
    def stamp(self) -> bytes | None:
        """Digest of size, times and footer, which change when the file is written.

        None where the file system knows no times.
        """
        fs = require("pyarrow.fs", "dask", "A Parquet file")
        system = self.fragment.filesystem
        with _named_errors(self.path):
            info = system.get_file_info(self.path)
            if info.mtime_ns is None:
                return None
            found = [str(info.size), str(info.mtime_ns)]
            if isinstance(system, fs.LocalFileSystem):
                # The one that nobody can set back.
                found.append(str(os.stat(self.path).st_ctime_ns))
            with system.open_input_file(self.path) as file:
                footer = _read_footer(file, info.size)
        return hashlib.sha256("\n".join(found).encode() + footer).digest()

    def gathered(self, rows: int) -> Iterator[list[tuple[int, int]]]:
        """Row groups with their row numbers, a few at a time."""
        together: list[tuple[int, int]] = []
        with _named_errors(self.path):
            groups = [(group.id, group.num_rows) for group in self.fragment.row_groups]
        for number, count in groups:
            if count == 0:
                continue
            if together and sum(size for _, size in together) + count > rows:
                yield together
                together = []
            together.append((number, count))
        if together:
            yield together

    def read_group(self, group: int, count: int, columns: Columns) -> Any:
        place = f"Row group {group} of {self.path}"
        fragment = self.fragment.subset(row_group_ids=[group])
        with _named_errors(place, "; a fit with a checkpoint is resumed from there"):
            table = fragment.to_table(columns=columns.all, use_threads=False)
        if table.num_rows != count:
            raise UnreadableBlockError(
                f"{place} has {table.num_rows} rows; its file says {count}."
            )
        return table


def _read_footer(file: Any, size: int) -> bytes:
    """Read the metadata at the end: places, sizes and statistics of all columns."""
    ending = _MAGIC_BYTES + _LENGTH_BYTES
    length = int.from_bytes(file.read_at(_LENGTH_BYTES, size - ending), "little")
    return bytes(file.read_at(length, max(0, size - ending - length)))


@contextmanager
def _named_errors(place: str, more: str = "") -> Iterator[None]:
    """Say what cannot be read, and why, whatever pyarrow raises."""
    pyarrow = require("pyarrow", "dask", "A Parquet file")
    try:
        yield
    except MemoryError as error:
        raise NotEnoughMemoryError(
            f"{place} does not fit into memory: {_sentence(error)} Write the file "
            "with smaller row groups, or allow more memory."
        ) from error
    except (OSError, pyarrow.ArrowException) as error:
        raise UnreadableBlockError(
            f"{place} cannot be read: {_sentence(error)} Replace the file{more}."
        ) from error


def _sentence(error: Exception) -> str:
    return f"{str(error).strip().rstrip('.')}."


@dataclass(frozen=True)
class ParquetPart(Part):
    """Row groups of a file.

    Attributes
    ----------
    file : _File
    row_groups, counts : tuple of int
        Numbers of the row groups, and their rows.
    columns : Columns
    """

    file: _File
    row_groups: tuple[int, ...]
    counts: tuple[int, ...]
    columns: Columns

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Rows of all row groups."""
        return sum(self.counts)

    @property
    def place(self) -> str:  # type: ignore[override]
        """File and row groups."""
        return f"{self.file.path}, {_group_words(self.row_groups)}"

    @property
    def stamp(self) -> bytes | None:
        """That of the file, and which of its row groups and columns are read."""
        if self.file.stamp is None:
            return None
        own = f"{self.row_groups} {self.columns.all}"
        return hashlib.sha256(self.file.stamp + own.encode()).digest()

    def read(self) -> Block:
        """Read and check the rows."""
        columns, (X, labels, weights) = self.columns, self._read()
        weight = np.concatenate(weights) if weights else None
        return make_block(X, np.concatenate(labels), weight, columns.dtype, self.place)

    def read_features(self) -> NDArray[Any]:
        """Read the rows alone."""
        return self._read()[0]

    def _read(self) -> tuple[NDArray[Any], list[Any], list[Any]]:
        columns = self.columns
        X = np.empty((self.n_rows, len(columns.features)), dtype=columns.dtype)
        labels, weights, first = [], [], 0
        for group, count in zip(self.row_groups, self.counts, strict=True):
            table = self.file.read_group(group, count, columns)
            place = f"{self.file.path}, {_group_words((group,))}"
            for index, name in enumerate(columns.features):
                X[first : first + count, index] = _numbers(table, name, place)
            if columns.target is not None:
                labels.append(_labels(table, columns.target, place))
            if columns.weight is not None:
                weights.append(_numbers(table, columns.weight, place))
            first += count
        return X, labels, weights


def is_dataset(X: Any) -> bool:
    """Whether it is a ``pyarrow.dataset.Dataset``, without importing that."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(X, module.Dataset)


def open_parquet(source: Any, y: Any, sample_weight: Any, rows: int) -> Source:
    """Blocks of a Parquet file, a folder of them, or a dataset of pyarrow.

    Parameters
    ----------
    source : path or pyarrow.dataset.Dataset
    y : str
        Name of the column of labels.
    sample_weight : str or None
        Name of the column of weights.
    rows : int
        Row groups of a file are put together up to so many rows.
    """
    names, files = _open_files(source)
    schemas = [file.schema for file in files]
    columns = choose_columns(names, schemas, y, sample_weight)
    parts = _parts_of(files, columns, rows)
    return Source(parts, len(columns.features), columns.dtype, columns.features)


def open_queries(
    source: Any, features: Sequence[str] | None, n_features: int, rows: int
) -> Sequence[ParquetPart]:
    """Blocks of rows to predict: columns besides the features do not matter.

    Parameters
    ----------
    source : path or pyarrow.dataset.Dataset
    features : sequence of str or None
        Columns that the model was fitted to, in its order; None if it knows no names:
        then the columns are taken as they come.
    n_features : int
        How many there are.
    rows : int
        As in :func:`open_parquet`.
    """
    names, files = _open_files(source)
    if features is None:
        if len(names) != n_features:
            raise ValueError(
                f"{files[0].path} has {len(names)} columns; expected {n_features}, "
                "since the model was fitted to rows without names of columns."
            )
        features = names
    for file in files:
        own = file.schema.schema.names
        for name in features:
            if name not in own:
                raise ValueError(
                    f"{file.path} has no column {name!r}, which the model was fitted "
                    f"to; {missing_column(own, name)}"
                )
    dtype = number_type(features, [file.schema for file in files])
    return _parts_of(files, Columns(tuple(features), None, None, dtype), rows)


def _parts_of(files: Sequence[_File], columns: Columns, rows: int) -> list[ParquetPart]:
    parts = []
    for file in files:
        for groups in file.gathered(rows):
            numbers, counts = zip(*groups, strict=True)
            parts.append(ParquetPart(file, numbers, counts, columns))
    if not parts:
        raise ValueError(f"{files[0].path} holds no rows; expected at least one.")
    return parts


def _open_files(source: Any) -> tuple[list[str], list[_File]]:
    """Names of the columns that are looked at, and the files that hold them."""
    dataset = _open_dataset(source)
    files = [_File(fragment) for fragment in dataset.get_fragments()]
    kind = require("pyarrow.dataset", "dask", "A Parquet file").ParquetFileFragment
    if not all(isinstance(file.fragment, kind) for file in files):
        raise TypeError(
            f"X is a {type(dataset).__name__} of other sources than Parquet files. "
            "Give its rows as localsvm.engine.Batches."
        )
    if not files:
        raise ValueError(
            f"X={str(source)!r} is a folder without Parquet files; expected at least "
            "one."
        )
    return dataset.schema.names, files


def _open_dataset(source: Any) -> Any:
    if not isinstance(source, (str, os.PathLike)):
        return source
    module = require("pyarrow.dataset", "dask", "A Parquet file")
    path = Path(source)
    if not path.exists():
        raise FileNotFoundError(
            f"X={os.fspath(source)!r} is neither a file nor a folder; expected Parquet."
        )
    # Pages that carry a checksum are compared with it.
    options = module.ParquetFragmentScanOptions(page_checksum_verification=True)
    form = module.ParquetFileFormat(default_fragment_scan_options=options)
    with _named_errors(str(path)):
        return module.dataset(path, format=form)


def _group_words(groups: tuple[int, ...]) -> str:
    if len(groups) == 1:
        return f"row group {groups[0]}"
    return f"row groups {groups[0]} to {groups[-1]}"


def _complete(table: Any, name: str, place: str) -> Any:
    column = table.column(name)
    if column.null_count:
        raise ValueError(
            f"In {place}: column {name!r} misses {column.null_count} values; expected "
            "none. Remove the rows, or fill the values."
        )
    return column


def _numbers(table: Any, name: str, place: str) -> NDArray[Any]:
    return np.asarray(_complete(table, name, place).to_numpy())


def _labels(table: Any, name: str, place: str) -> NDArray[Any]:
    column = _complete(table, name, place).combine_chunks()
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    types = require("pyarrow.types", "dask", "A Parquet file")
    if kind_of(column.type) == "string":
        column = column.dictionary_encode()
    if not types.is_dictionary(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    words = np.array(column.dictionary.to_pylist())
    codes = column.indices.to_numpy(zero_copy_only=False)
    return np.asarray(words[codes])
