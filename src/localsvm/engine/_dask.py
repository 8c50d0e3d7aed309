"""Dask: collections as blocks, and a cluster that runs the tasks."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from localsvm._extras import require
from localsvm.engine._drivers import (
    Driver,
    Merge,
    NumberedPart,
    call_alone,
    merge_present,
    merge_tree,
    read_and_call,
)
from localsvm.engine._memory import MemoryRoom
from localsvm.engine._sources import (
    Block,
    Part,
    Source,
    frame_names,
    make_block,
    missing_column,
    rows_dtype,
)

_RETRIES = 2
# A Python process with this package loaded, before it has seen any data.
_WORKER_BYTES = 250e6


def is_dask_array(X: Any) -> bool:
    """Whether it is a ``dask.array``, without importing that."""
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(X, module.Array)


def is_dask_frame(X: Any) -> bool:
    """Whether it is a ``dask.dataframe`` or a column of one, without importing that."""
    module = sys.modules.get("dask.dataframe")
    return module is not None and isinstance(X, (module.DataFrame, module.Series))


@dataclass(frozen=True)
class DaskPart(Part):
    """A chunk of a collection.

    Attributes
    ----------
    place : str
    n_rows : int or None
    pieces : tuple
        Delayed rows, labels and weights. Labels and weights may be names of columns
        among the rows, weights may be None.
    dtype : dtype
    """

    place: str
    n_rows: int | None
    pieces: tuple[Any, Any, Any]
    dtype: np.dtype[Any]

    def read(self) -> Block:
        """Compute the chunk in this thread."""
        dask = require("dask", "dask", "A Dask collection")
        X, y, weight = dask.compute(*self.pieces, scheduler="synchronous")
        return _as_block(X, y, weight, self.dtype, self.place)


def open_dask(X: Any, y: Any, sample_weight: Any) -> Source:
    """Blocks of a ``dask.array`` or a ``dask.dataframe``, one per chunk of rows."""
    if is_dask_frame(X):
        # Optimised on its own, a part of the columns may get other blocks.
        rows = X.to_delayed(optimize_graph=False)
        n_rows: Sequence[int | None] = [None] * len(rows)
        X = _features(X, y, sample_weight)
    else:
        if X.ndim != 2:
            raise ValueError(f"X has {X.ndim} dimensions; expected 2.")
        X = X.rechunk({1: -1})
        rows = X.to_delayed().ravel().tolist()
        n_rows = [None if np.isnan(n) else int(n) for n in X.chunks[0]]
    dtype = rows_dtype(X)
    labels = _aligned("y", y, n_rows)
    weights = _aligned("sample_weight", sample_weight, n_rows)
    pieces = zip(rows, labels, weights, strict=True)
    return Source(
        [
            DaskPart(f"chunk {number}", n_rows[number], own, dtype)
            for number, own in enumerate(pieces)
        ],
        X.shape[1],
        dtype,
        frame_names(X),
    )


def _features(X: Any, y: Any, sample_weight: Any) -> Any:
    """Leave out the columns that are named as labels and weights."""
    named = [name for name in (y, sample_weight) if isinstance(name, str)]
    for name in named:
        if name not in X.columns:
            raise ValueError(
                f"{name!r} is not a column of X; {missing_column(X.columns, name)}"
            )
    return X.drop(columns=named) if named else X


def _aligned(name: str, column: Any, n_rows: Sequence[int | None]) -> list[Any]:
    """Chunks of a column that belong to the chunks of the rows."""
    if isinstance(column, str) or (column is None and name == "sample_weight"):
        return [column] * len(n_rows)
    known = [count for count in n_rows if count is not None]
    if is_dask_array(column) and len(known) == len(n_rows):
        column = column.ravel() if column.ndim == 2 else column
        if not np.isnan(column.chunks[0]).any() and column.shape == (sum(known),):
            column = column.rechunk((tuple(known),))
    elif not (is_dask_array(column) or is_dask_frame(column)):
        if len(known) < len(n_rows) or np.shape(column) != (sum(known),):
            raise ValueError(
                f"{name} must be a Dask collection with the chunks of X, the name of a "
                "column of X, or an array with one entry per row of X where their "
                f"number is known; got {type(column).__name__}."
            )
        array = require("dask.array", "dask", "A Dask collection")
        column = array.from_array(np.asarray(column), chunks=(tuple(known),))
    delayed = column.to_delayed(optimize_graph=False)
    chunks = np.ravel(np.asarray(delayed, dtype=object)).tolist()
    if len(chunks) != len(n_rows):
        raise ValueError(
            f"{name} has {len(chunks)} chunks; expected {len(n_rows)} as X has. "
            "Rechunk it, or call compute_chunk_sizes() on both."
        )
    return chunks


class DaskDriver(Driver):
    """A Dask cluster: one task per block, named after method, stage and number."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def run(
        self,
        name: str,
        function: Callable[..., Any],
        items: Sequence[Any],
        arguments: tuple[Any, ...],
    ) -> Iterator[Any]:
        """Submit all tasks and wait for each in turn."""
        token = _token()
        shared = self._shared(name, token, arguments)
        futures = [
            self.client.submit(
                call_alone,
                function,
                item,
                shared,
                key=f"{name}-{number}-{token}",
                retries=_RETRIES,
            )
            for number, item in enumerate(items)
        ]
        return self._results(futures)

    def run_on_parts(
        self,
        name: str,
        function: Callable[..., Any],
        parts: Sequence[NumberedPart],
        arguments: tuple[Any, ...],
    ) -> Iterator[Any]:
        """Submit one task per block."""
        return self._results(self._part_futures(name, function, parts, arguments))

    def merge_on_parts(
        self,
        name: str,
        function: Callable[..., Any],
        merge: Merge,
        parts: Sequence[Sequence[NumberedPart]],
        arguments: tuple[Any, ...],
    ) -> Iterator[Any]:
        """Merge on the workers, so that one result per group travels."""
        flat = [part for group in parts for part in group]
        futures = iter(self._part_futures(name, function, flat, arguments))
        token, number = _token(), 0

        def merge_there(first: Any, second: Any) -> Any:
            nonlocal number
            number += 1
            key = f"{name}-merge-{number}-{token}"
            return self.client.submit(
                merge_present, first, second, merge, key=key, retries=_RETRIES
            )

        merged = [
            merge_tree((next(futures) for _ in group), merge_there) for group in parts
        ]
        return self._results(merged)

    def room(self, memory_limit: int | None) -> MemoryRoom:
        """Memory of a thread of the smallest worker."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        shares = [
            (memory_limit or worker["memory_limit"] or np.inf) / worker["nthreads"]
            for worker in workers
        ]
        origin = "the share of a thread in the worker's memory limit"
        used = max(
            (_WORKER_BYTES / worker["nthreads"] for worker in workers), default=0.0
        )
        return MemoryRoom(min(shares, default=np.inf), used, origin)

    def use_threads(self, n_threads: int) -> None:
        """Leave the number of tasks at once to the cluster."""

    def check_shares(self, folder: Path) -> None:
        """Ask every worker for a file that was just written."""
        probe = folder / f"probe-{_token()}"
        probe.write_text("")
        seen = self.client.run(_exists, str(probe))
        probe.unlink()
        blind = sorted(worker for worker, found in seen.items() if not found)
        if blind:
            raise ValueError(
                f"{len(blind)} of {len(seen)} workers do not see the folder {folder} "
                f"(first: {blind[0]}). Give one that all machines share: "
                "localsvm.engine.options(folder=...)."
            )

    def _part_futures(
        self,
        name: str,
        function: Callable[..., Any],
        parts: Sequence[NumberedPart],
        arguments: tuple[Any, ...],
    ) -> list[Any]:
        token = _token()
        shared = self._shared(name, token, arguments)
        if not parts or not isinstance(parts[0][1], DaskPart):
            return [
                self.client.submit(
                    _read_and_call_alone,
                    (number, part),
                    function,
                    shared,
                    key=f"{name}-{number}-{token}",
                    retries=_RETRIES,
                )
                for number, part in parts
            ]
        delayed = require("dask", "dask", "A Dask collection").delayed
        tasks = [
            delayed(_call_on_pieces)(
                (*_pieces(part), number),
                function,
                shared,
                dask_key_name=f"{name}-{number}-{token}",
            )
            for number, part in parts
        ]
        futures: list[Any] = self.client.compute(tasks, retries=_RETRIES)
        return futures

    def _shared(self, name: str, token: str, arguments: tuple[Any, ...]) -> Any:
        """Arguments as one task, so that they travel once and can be made again."""
        if not arguments:
            return ()
        key = f"{name}-arguments-{token}"
        return self.client.submit(_as_tuple, *arguments, key=key)

    def _results(self, futures: list[Any]) -> Iterator[Any]:
        try:
            for index, future in enumerate(futures):
                yield future.result()
                futures[index] = None
        finally:
            self.client.cancel([future for future in futures if future is not None])


@contextmanager
def local_cluster(n_workers: int, memory_limit: int | None) -> Iterator[Any]:
    """Client of a cluster of processes on this machine, closed at the end."""
    distributed = require("distributed", "dask", "options(n_workers=...)")
    with (
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            memory_limit="auto" if memory_limit is None else memory_limit,
            dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def active_client() -> Any:
    """Client that is active in this process, or None."""
    module = sys.modules.get("distributed")
    if module is None:
        return None
    try:
        return module.default_client()
    except ValueError:
        return None


def _token() -> str:
    return uuid.uuid4().hex


def _pieces(part: Part) -> tuple[Any, ...]:
    assert isinstance(part, DaskPart)
    return (*part.pieces, part.dtype, part.place)


def _as_tuple(*arguments: Any) -> tuple[Any, ...]:
    return arguments


def _exists(path: str) -> bool:
    return Path(path).exists()


def _read_and_call_alone(
    numbered: NumberedPart, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> Any:
    return call_alone(read_and_call, numbered, (function, arguments))


def _call_on_pieces(
    pieces: tuple[Any, ...], function: Callable[..., Any], arguments: tuple[Any, ...]
) -> Any:
    *made_of, number = pieces
    block = replace(_as_block(*made_of), number=number)
    return call_alone(function, block, arguments) if block.n_rows else None


def _as_block(
    X: Any, y: Any, sample_weight: Any, dtype: np.dtype[Any], place: str
) -> Block:
    named = [name for name in (y, sample_weight) if isinstance(name, str)]
    if named:
        y = X[y] if isinstance(y, str) else y
        if isinstance(sample_weight, str):
            sample_weight = X[sample_weight]
        X = X.drop(columns=named)
    return make_block(X, y, sample_weight, dtype, place)
