"""Parquet files as partitions of row groups."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._extras import require
from localsvm.engine._block import Block, make_block
from localsvm.engine._source import Part, Source


class UnreadablePartitionError(OSError):
    """A partition cannot be read; the message names file and row group."""


@dataclass(frozen=True)
class _Columns:
    """Which columns are what."""

    features: tuple[str, ...]
    target: str
    weight: str | None
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class _ParquetPart(Part):
    fragment: Any
    row_groups: tuple[int, ...]
    counts: tuple[int, ...]
    columns: _Columns

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return sum(self.counts)

    @property
    def place(self) -> str:  # type: ignore[override]
        return f"{self.fragment.path}, {_group_words(self.row_groups)}"

    def read(self) -> Block:
        names = self.columns
        X = np.empty((self.n_rows, len(names.features)), dtype=names.dtype)
        labels, weights, first = [], [], 0
        for group, count in zip(self.row_groups, self.counts, strict=True):
            table = self._read_group(group, count)
            place = f"{self.fragment.path}, {_group_words((group,))}"
            for index, name in enumerate(names.features):
                X[first : first + count, index] = _numbers(table, name, place)
            labels.append(_labels(table, names.target, place))
            if names.weight is not None:
                weights.append(_numbers(table, names.weight, place))
            first += count
        weight = np.concatenate(weights) if weights else None
        return make_block(X, np.concatenate(labels), weight, names.dtype, self.place)

    def _read_group(self, group: int, count: int) -> Any:
        names = self.columns
        wanted = [*names.features, names.target]
        if names.weight is not None:
            wanted.append(names.weight)
        pyarrow = require("pyarrow", "dask", "A Parquet file")
        fragment = self.fragment.subset(row_group_ids=[group])
        try:
            table = fragment.to_table(columns=wanted, use_threads=False)
        except (OSError, pyarrow.ArrowException) as error:
            raise UnreadablePartitionError(
                f"Row group {group} of {self.fragment.path} cannot be read: {error} "
                "Replace the file; a fit with a checkpoint goes on from there."
            ) from error
        if table.num_rows != count:
            raise UnreadablePartitionError(
                f"Row group {group} of {self.fragment.path} has {table.num_rows} "
                f"rows; its file says {count}."
            )
        return table


def open_parquet(source: Any, y: Any, sample_weight: Any, rows: int) -> Source:
    """Partitions of a Parquet file, a folder of them, or a dataset of pyarrow.

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
    dataset = _open_dataset(source)
    columns = _choose_columns(dataset.schema, y, sample_weight)
    parts: list[Part] = []
    for fragment in dataset.get_fragments():
        for groups in _gathered(fragment, rows):
            numbers, counts = zip(*groups, strict=True)
            parts.append(_ParquetPart(fragment, numbers, counts, columns))
    if not parts:
        raise ValueError(f"{source} holds no rows.")
    return Source(parts, len(columns.features), columns.dtype, columns.features)


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
    try:
        return module.dataset(path, format=form)
    except (OSError, ValueError) as error:
        raise UnreadablePartitionError(f"{path} cannot be read: {error}") from error


def _choose_columns(schema: Any, y: Any, sample_weight: Any) -> _Columns:
    for name, value in (("y", y), ("sample_weight", sample_weight)):
        if value is None and name == "sample_weight":
            continue
        if not isinstance(value, str) or value not in schema.names:
            raise ValueError(
                f"{name}={value!r} must name a column of the Parquet file; it has "
                f"{', '.join(map(repr, schema.names))}."
            )
    features = tuple(name for name in schema.names if name not in (y, sample_weight))
    if not features:
        raise ValueError(f"The Parquet file has no column besides {y!r}.")
    types = require("pyarrow.types", "dask", "A Parquet file")
    for name in features:
        kind = schema.field(name).type
        if not (types.is_integer(kind) or types.is_floating(kind) or _bool(kind)):
            raise ValueError(
                f"Column {name!r} has the type {kind}; expected numbers. Leave it out, "
                "or write it as numbers, e.g. with localsvm.data.TableEncoder."
            )
    kinds = {str(schema.field(name).type) for name in features}
    narrow = kinds <= {"float", "halffloat"}
    dtype = np.dtype(np.float32 if narrow else np.float64)
    return _Columns(features, y, sample_weight, dtype)


def _bool(kind: Any) -> bool:
    return str(kind) == "bool"


def _gathered(fragment: Any, rows: int) -> Iterator[list[tuple[int, int]]]:
    """Row groups of a file with their row numbers, a few at a time."""
    together: list[tuple[int, int]] = []
    try:
        groups = [(group.id, group.num_rows) for group in fragment.row_groups]
    except OSError as error:
        raise UnreadablePartitionError(
            f"{fragment.path} cannot be read as Parquet: {error}"
        ) from error
    for number, count in groups:
        if count == 0:
            continue
        if together and sum(size for _, size in together) + count > rows:
            yield together
            together = []
        together.append((number, count))
    if together:
        yield together


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
    texts = types.is_string(column.type) or types.is_large_string(column.type)
    if texts:
        column = column.dictionary_encode()
    if not types.is_dictionary(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    words = np.array(column.dictionary.to_pylist())
    codes = column.indices.to_numpy(zero_copy_only=False)
    return np.asarray(words[codes])
