"""Tables longer than memory, batch by batch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from scipy import sparse

from localsvm.data._frames import absent_columns, as_frame
from localsvm.data._readers._arrow import stream_parquet
from localsvm.data._readers._delimited import stream_csv, stream_tsv
from localsvm.data._readers._openml import PREFIX
from localsvm.data._readers._options import ReadOptions
from localsvm.data._selection import find_rows
from localsvm.data._table import (
    Table,
    as_tuple,
    find_format,
    read_options,
    read_table,
)
from localsvm.exceptions import DataError

_STREAMS: Mapping[str, Callable[[Path, ReadOptions], Iterator[Any]]] = {
    "csv": stream_csv,
    "tsv": stream_tsv,
    "parquet": stream_parquet,
}


def read_batches(
    source: str | os.PathLike[str],
    *,
    batch_rows: int = 10_000,
    whole_below: int = 2**25,
    where: str | None = None,
    keep: str | Sequence[str] = (),
    format: str | None = None,
    **options: Any,
) -> Iterator[Table]:
    """Read the rows of a table in batches, without labels.

    For predictions of more rows than fit into memory.

    Parameters
    ----------
    source : path-like or str
        As in :func:`read_table`.
    batch_rows : int, default=10_000
        Most rows of a batch.
    whole_below : int, default=2**25
        Files of fewer bytes are read at once. Longer ones are read piece by piece if
        they are CSV, TSV or Parquet files.
    where : str, default=None
        ``"column=value"`` keeps the rows with that value and drops the column.
    keep : str or sequence of str, default=()
        Columns that stay even if `where` names them.
    format : str, default=None
        As in :func:`read_table`.
    **options
        Other parameters of :func:`read_table`, but for ``target`` and ``drop``.

    Yields
    ------
    Table
        Without labels.

    Raises
    ------
    DataError, OSError
        As in :func:`read_table`, possibly after some batches.

    Notes
    -----
    Types of the columns of a CSV file are those of its first 8 MB, but that whole
    numbers are taken for fractions. Memory is that of a batch and of such a piece.

    Examples
    --------
    >>> from localsvm.data import read_batches, sample_path
    >>> [batch.X.shape for batch in read_batches(sample_path(), batch_rows=1500)]
    [(1500, 16), (500, 16)]
    """
    name = os.fspath(source)
    stream = _stream_of(name, format, whole_below)
    if stream is None:
        rows = read_table(name, where=where, keep=keep, format=format, **options).X
        yield from _slices(rows, batch_rows, name)
        return
    settings = read_options(where=where, **options)
    n_rows = 0
    try:
        for piece in stream(Path(name), settings):
            frame = _selected(as_frame(piece), settings.where, as_tuple(keep))
            n_rows += len(frame)
            yield from _slices(frame, batch_rows, name)
        if not n_rows:
            raise DataError(f"has no row with {where}." if where else "has no rows.")
    except DataError as error:
        raise error.about(name) from error


def _stream_of(
    name: str, format: str | None, whole_below: int
) -> Callable[[Path, ReadOptions], Iterator[Any]] | None:
    """How to read the source piece by piece; None if it is read at once."""
    path = Path(name)
    if name.startswith(PREFIX) or not path.is_file():
        return None
    if path.stat().st_size < whole_below:
        return None
    try:
        return _STREAMS.get(find_format(path, format))
    except DataError as error:
        raise error.about(name) from error


def _selected(frame: Any, where: tuple[str, str] | None, keep: Sequence[str]) -> Any:
    if where is None:
        return frame
    column, value = where
    absent = absent_columns([column], list(frame.columns))
    if absent:
        raise DataError(absent)
    kept, _ = find_rows(frame[column], value)
    return frame[kept] if column in keep else frame[kept].drop(columns=column)


def _slices(rows: Any, batch_rows: int, name: str) -> Iterator[Table]:
    for start in range(0, rows.shape[0], batch_rows):
        part = slice(start, start + batch_rows)
        if sparse.issparse(rows):
            yield Table(rows[part], None, name)
        else:
            yield Table(rows.iloc[part].reset_index(drop=True), None, name)
