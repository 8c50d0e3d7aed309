"""Rows in blocks together with the place where they are worked on."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from localsvm._progress import stage as progress_stage
from localsvm._record import Record
from localsvm.engine._checkpoints import (
    Checkpoint,
    Digests,
    KnownBlocks,
    call_and_digest,
    digest_block,
    merge_digested,
)
from localsvm.engine._drivers import (
    Driver,
    InlineDriver,
    NumberedPart,
    collapse,
    push_result,
)
from localsvm.engine._memory import (
    MemoryNeed,
    room_of_process,
    tasks_that_fit,
    times_that_fit,
)
from localsvm.engine._merging import (
    GROUP_HEIGHT,
    as_state,
    cut_groups,
    merge_records,
    record_of,
    restore,
)
from localsvm.engine._options import EngineOptions
from localsvm.engine._sources import MemoryPart, Source
from localsvm.engine._store import FolderStore, MemoryStore, Store
from localsvm.rows import Rows

Result = TypeVar("Result")

# A block as it is read, and its rows as they are hashed.
_COPIES_TO_VERIFY = 2.0


class Blocks:
    """What ``_fit_blocks`` of a method gets: the rows, and how to go over them.

    See ``engine/README.md`` in the sources for how to write such a method.

    A method gives functions of modules, which get a :class:`Block` and the arguments
    and return small records. They run once per block, on threads of this
    process or on the workers of a cluster; the results are the same.

    Parameters
    ----------
    source : Source
    driver : Driver
    name : str
        Of the method; names of tasks begin with it.
    options : EngineOptions
    checkpoint : Checkpoint or None
    """

    def __init__(
        self,
        source: Source,
        driver: Driver,
        name: str,
        options: EngineOptions,
        checkpoint: Checkpoint | None,
    ) -> None:
        self.source = source
        self.driver = driver
        self.name = name
        self.checkpoint = checkpoint
        self._known = KnownBlocks(checkpoint, source) if checkpoint else None
        self._options = options
        self._folder: Path | None = None
        self._store: Store | None = None
        # A block on a thread or worker is worked on by one thread.
        self.n_jobs: int | None = 1

    def map(
        self, function: Callable[..., Any], *arguments: Any, stage: str
    ) -> Iterator[Any]:
        """Yield ``function(block, *arguments)`` of each block, in their order.

        Parameters
        ----------
        function : callable
            Of a module, so that it can be sent to a worker. For a block without
            rows it is not called and the result is None.
        *arguments
            What all blocks are given; sent to the workers once.
        stage : str
            Names the tasks, with the method and the number of the block.

        Yields
        ------
        result
        """
        return self.driver.run_on_parts(
            f"{self.name}-{stage}", function, self._numbered, arguments
        )

    def run(
        self,
        function: Callable[..., Any],
        items: Sequence[Any],
        *arguments: Any,
        stage: str,
    ) -> Iterator[Any]:
        """Yield ``function(item, *arguments)`` of each item, in their order.

        For work on what the method has put into ``folder``.

        Parameters
        ----------
        function : callable
            As in :meth:`map`.
        items : sequence
            One task each, e.g. numbers of files.
        *arguments
        stage : str

        Yields
        ------
        result
        """
        return self.driver.run(f"{self.name}-{stage}", function, items, arguments)

    def reduce(
        self,
        function: Callable[..., Result],
        *arguments: Any,
        stage: str,
        record: type[Record] | None = None,
    ) -> Result:
        """Merge what ``function(block, *arguments)`` gives for all blocks.

        They are merged pairwise, neighbours first, in a tree whose shape depends on the
        number of blocks alone. With a checkpoint, blocks that were merged
        before an interruption are not worked on again.

        Parameters
        ----------
        function : callable
            As in :meth:`map`; returns a :class:`Record`.
        *arguments
        stage : str
        record : type or None, default=None
            Kind of record that the function returns; None is what its annotation says.

        Returns
        -------
        Record
            Of the rows of all blocks.
        """
        kind = record or record_of(function)
        groups = cut_groups(self._numbered)
        done, pending = restore(self.checkpoint, stage, kind)
        results = self._merged(
            f"{self.name}-{stage}", function, groups[done:], arguments
        )
        for number, result in enumerate(results, start=done + 1):
            push_result(pending, GROUP_HEIGHT, result, merge_records)
            self._save(stage, number, pending, is_last=number == len(groups))
        whole: Result | None = collapse(pending, merge_records)
        if whole is None:
            raise ValueError("Found 0 rows in all blocks; a minimum of 1 is required.")
        return whole

    def verify(self) -> None:
        """Refuse to resume a fit to other rows.

        Blocks that were read before the interruption are read once more and
        compared, but for those of files that have been left alone. Called before the
        method gets the rows.
        """
        doubtful = self._known.doubtful() if self._known else []
        if self._known is None or not doubtful:
            return
        self.require_memory(MemoryNeed(copies=_COPIES_TO_VERIFY))
        with progress_stage("verify"):
            digests = self.driver.run_on_parts(
                f"{self.name}-verify", digest_block, doubtful, ()
            )
            for (number, _), digest in zip(doubtful, digests, strict=True):
                self._known.note(number, digest)
        self._known.save()

    def require_memory(self, need: MemoryNeed) -> None:
        """Refuse the fit if a block does not fit into memory, else use what does.

        Parameters
        ----------
        need : MemoryNeed
            What the method keeps at once for a block.
        """
        room = self.driver.room(self._options.memory_limit)
        self.driver.use_threads(tasks_that_fit(self.source, need, room))

    def require_memory_of(
        self, need: MemoryNeed, n_rows: int, what: str, cure: str
    ) -> None:
        """Do as :meth:`require_memory` for other tasks than those on blocks.

        Parameters
        ----------
        need : MemoryNeed
        n_rows : int
            Rows of the largest task.
        what : str
            What that is called in the error.
        cure : str
            What the error advises.
        """
        room = self.driver.room(self._options.memory_limit)
        shape = n_rows, self.source.n_features, self.source.dtype.itemsize
        self.driver.use_threads(times_that_fit(what, shape, need, room, cure))

    def require_memory_here(
        self, need: MemoryNeed, n_rows: int, what: str, cure: str
    ) -> None:
        """Refuse the fit if what this process is to keep does not fit into it.

        Parameters
        ----------
        need, n_rows, what, cure
            As in :meth:`require_memory_of`.
        """
        room = room_of_process(self._options.memory_limit)
        shape = n_rows, self.source.n_features, self.source.dtype.itemsize
        times_that_fit(what, shape, need, room, cure)

    @classmethod
    def in_memory(cls, rows: Rows, n_jobs: int | None) -> Blocks:
        """Rows in memory as one block, with a store in memory.

        Parameters
        ----------
        rows : Rows
        n_jobs : int or None
            Threads that a function of the block may use.

        Returns
        -------
        Blocks
        """
        source = Source([MemoryPart(rows)], rows.X.shape[1], rows.X.dtype)
        blocks = cls(source, InlineDriver(), "memory", EngineOptions(), None)
        blocks._store = MemoryStore()
        blocks.n_jobs = n_jobs
        return blocks

    @property
    def is_in_memory(self) -> bool:
        """Whether the rows are in memory as one block."""
        return isinstance(self.driver, InlineDriver)

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return self.source.n_blocks

    @property
    def n_rows(self) -> int | None:
        """Number of rows, None if that is not known before they are read."""
        return self.source.n_rows

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.source.n_features

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64, the same in all blocks."""
        return self.source.dtype

    @property
    def store(self) -> Store:
        """Where a method keeps what later passes read; lives as long as the fit."""
        if self._store is None:
            self._store = FolderStore(self.folder)
        return self._store

    @property
    def folder(self) -> Path:
        """Folder that all workers see, for files that live as long as the fit.

        It belongs to the checkpoint, if there is one, and is then found again.
        """
        if self._folder is None:
            self._folder = self._make_folder()
            self.driver.check_shares(self._folder)
        return self._folder

    def seed(self, draw: Callable[[], int]) -> int:
        """Draw a seed, or give that of the fit that is gone on with.

        Parameters
        ----------
        draw : callable

        Returns
        -------
        int
        """
        known = self.checkpoint.load("seed") if self.checkpoint else None
        if known is not None:
            return int(known["seed"])
        seed = draw()
        if self.checkpoint is not None:
            self.checkpoint.save("seed", {"seed": np.array(seed)}, now=True)
        return seed

    def close(self, *, finished: bool) -> None:
        """Remove what was written; a checkpoint stays unless the fit has ended well.

        One that holds no results goes as well: it would keep other fits out.

        Parameters
        ----------
        finished : bool
        """
        if self.checkpoint is not None:
            if finished or self.checkpoint.is_bare:
                self.checkpoint.clear()
        elif self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _numbered(self) -> list[NumberedPart]:
        return list(enumerate(self.source.parts))

    def _merged(
        self,
        name: str,
        function: Callable[..., Any],
        groups: Sequence[Sequence[NumberedPart]],
        arguments: tuple[Any, ...],
    ) -> Iterator[Any]:
        """Yield the result of each group; what is read for the first time is noted."""
        known, parts = self._known, [part for group in groups for part in group]
        if known is None or known.has(parts):
            yield from self.driver.merge_on_parts(
                name, function, merge_records, groups, arguments
            )
            return
        results = self.driver.merge_on_parts(
            name,
            call_and_digest,
            partial(merge_digested, merge=merge_records),
            groups,
            (function, *arguments),
        )
        for group, found in zip(groups, results, strict=True):
            digests: Digests = found[0] if found else {}
            for number, _ in group:
                known.note(number, digests.get(number))
            yield found[1] if found else None

    def _save(
        self, stage: str, n_groups: int, pending: list[Any], *, is_last: bool
    ) -> None:
        if self.checkpoint is None or not (is_last or self.checkpoint.is_due):
            return
        assert self._known is not None
        self._known.save()
        self.checkpoint.save(stage, as_state(n_groups, pending), now=True)

    def _make_folder(self) -> Path:
        if self.checkpoint is not None:
            folder = self.checkpoint.folder / "work"
            folder.mkdir(exist_ok=True)
            return folder.absolute()
        base = self._options.folder
        if base is not None:
            base.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix="localsvm-", dir=base)).absolute()
