"""Rows and labels that a command is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from localsvm._threads import call_interruptibly
from localsvm.cli._files._reading import reading_options
from localsvm.cli._group import misuse
from localsvm.cli._methods import split_pair
from localsvm.data import Table, read_batches, read_table, split_kind
from localsvm.exceptions import DataError

_MOST_CLASSES_PER_ROW = 0.5
# Columns that are read as strings, even if they look like numbers.
STRING_KINDS = ("category", "ordered", "text")


def read_rows(
    source: str, *, where: str | None = None, read: Sequence[str] = (), **more: Any
) -> Table:
    """Read a table with the options of a command; Ctrl-C ends it at once.

    Further arguments are those of :func:`~localsvm.data.read_table`.
    """
    options = {"where": _checked_where(where)} | reading_options(read) | more
    return call_interruptibly(lambda: read_table(source, **options))


def batches_of(
    source: str, *, where: str | None = None, read: Sequence[str] = (), **more: Any
) -> Iterator[Table]:
    """Read a table batch by batch; otherwise as :func:`read_rows`."""
    options = {"where": _checked_where(where)} | reading_options(read) | more
    batches = read_batches(source, **options)
    while batch := call_interruptibly(lambda: next(batches, None)):
        yield batch


def _checked_where(where: str | None) -> str | None:
    if where is not None:
        split_pair(where, "--where", "COLUMN=VALUE, for instance split=train")
    return where


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Put the name of the source before an error about its content."""
    try:
        yield
    except DataError as error:
        raise error.about(f"{source}:") from error


def read_labelled(source: str, *, target: str | None, **more: Any) -> Table:
    """Read a table that must have labels."""
    table = read_rows(source, target=target, **more)
    if table.y is None:
        columns = ", ".join(map(str, list(table.X.columns)[:10]))
        dots = ", ..." if table.X.shape[1] > 10 else ""
        misuse(
            f"{source} has no labels of its own: name their column with --target. "
            f"Found the columns {columns}{dots}."
        )
    return table


def check_classes(table: Table, target: str | None) -> None:
    """Refuse labels that are not those of classes."""
    labels = np.asarray(table.y)
    source = table.source
    what = f"{source}: " + ("the labels" if target is None else f"column {target!r}")
    values = np.unique(labels)
    shown = ", ".join(map(repr, values[:3].tolist()))
    if labels.dtype.kind == "f" and (values != np.trunc(values)).any():
        raise DataError(
            f"{what} has numbers such as {shown}; expected classes. Take another "
            "column, or cut the numbers into classes first."
        )
    if len(values) < 2:
        raise DataError(
            f"{what} has only the value {shown}; expected two or more classes."
        )
    if len(values) > _MOST_CLASSES_PER_ROW * len(labels):
        raise DataError(
            f"{what} has {len(values):,} different values in {len(labels):,} rows, "
            f"such as {shown}; expected classes that many rows share."
        )


def column_kinds(pairs: Sequence[str]) -> dict[str, str]:
    """Types of columns by name, from ``--column-type`` options."""
    form = "COLUMN=TYPE, for instance zip=category"
    kinds = dict(split_pair(each, "--column-type", form) for each in pairs)
    for name, kind in kinds.items():
        try:
            split_kind(kind)
        except DataError as error:
            misuse(f"--column-type {name}={kind}: {error}.")
    return kinds


def as_strings(kinds: Mapping[str, str]) -> list[str]:
    """Columns that are read as strings, even if they look like numbers."""
    return [
        name
        for name, kind in kinds.items()
        if kind in STRING_KINDS or split_kind(kind)[1]
    ]
