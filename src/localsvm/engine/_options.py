"""Where and how a fit over blocks runs, for the fits inside a ``with``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


@dataclass(frozen=True)
class EngineOptions:
    """What :func:`options` was given."""

    client: Any = None
    n_workers: int | None = None
    memory_limit: int | None = None
    folder: Path | None = None
    checkpoint: Path | None = None
    checkpoint_seconds: float = 10.0
    block_rows: int = 100_000


_DEFAULT = EngineOptions()
_current: ContextVar[EngineOptions] = ContextVar("localsvm_engine", default=_DEFAULT)


def current_options() -> EngineOptions:
    """Give the options that hold here."""
    return _current.get()


@contextmanager
def options(
    *,
    client: Any = None,
    n_workers: int | None = None,
    memory_limit: int | str | None = None,
    folder: str | os.PathLike[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float | None = None,
    block_rows: int | None = None,
) -> Iterator[None]:
    """Say how fits over blocks run inside a ``with`` statement.

    They concern rows that are not in memory: Parquet, Dask collections, batches. What
    is left out keeps its value from an outer block.

    Parameters
    ----------
    client : distributed.Client, default=None
        Cluster to run on. Without it, Dask collections use the client that is active,
        if there is one, and everything else runs in this process.
    n_workers : int, default=None
        Start a local Dask cluster of so many processes for each fit, and close it
        afterwards.
    memory_limit : int or str, default=None
        Memory in bytes, or as in ``"2GB"``, that this process, or each worker, may use.
        The default is what the system or the cluster allows. A fit that needs more is
        refused before it starts.
    folder : path, default=None
        Where files are put while a fit runs, the system's temporary folder by default.
        All workers must see it under this name. Whatever a fit puts there it removes.
    checkpoint : path, default=None
        Folder that keeps the state of a fit. A fit that was interrupted is resumed from
        there when it is called again with the same data, columns, parameters and
        version of the library, and gives the same model as without the interruption;
        with others it is refused, and the error says what differs. To compare, it
        reads once more what it had read, but for Parquet files that have been left
        alone. One fit at a time. Emptied when the fit ends well.
    checkpoint_seconds : float, default=10
        Least time between two checkpoints. Methods that iterate write one at most after
        each iteration.
    block_rows : int, default=100_000
        Row groups of a Parquet file are put together up to so many rows. The model
        depends on the blocks, not on where they are worked on.

    Yields
    ------
    None
        The settings hold inside the block.

    Examples
    --------
    >>> from localsvm import SupportClusterSVC
    >>> from localsvm.engine import options
    >>> def fit(path):
    ...     with options(memory_limit="2GB", checkpoint="state"):
    ...         return SupportClusterSVC().fit(path, "label")
    """
    given = {
        "client": client,
        "n_workers": n_workers,
        "memory_limit": None if memory_limit is None else parse_bytes(memory_limit),
        "folder": None if folder is None else Path(folder),
        "checkpoint": None if checkpoint is None else Path(checkpoint),
        "checkpoint_seconds": checkpoint_seconds,
        "block_rows": block_rows,
    }
    for name in ("n_workers", "block_rows"):
        value: Any = given[name]
        if value is not None and (not isinstance(value, int) or value < 1):
            raise ValueError(f"{name} must be an int of at least 1, got {value!r}.")
    changes: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
    token = _current.set(replace(_current.get(), **changes))
    try:
        yield
    finally:
        _current.reset(token)


def parse_bytes(size: int | str) -> int:
    """Bytes from a number or a text such as "2GB" or "512 MiB"."""
    if isinstance(size, int) and size > 0:
        return size
    match = re.fullmatch(r"\s*([\d.]+)\s*([kmgt]i?)?b?\s*", str(size).lower())
    if match is None or isinstance(size, int):
        raise ValueError(
            f"memory_limit={size!r} is not a size; expected bytes above 0, or a text "
            "such as '2GB' or '512MiB'."
        )
    return int(float(match[1]) * (_UNITS | _BINARY)[match[2] or ""])
