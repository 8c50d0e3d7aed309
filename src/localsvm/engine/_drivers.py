"""Where tasks run. A driver gives results in the order of the tasks."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from localsvm._threads import iterate_in_threads, single_threaded_libraries
from localsvm.engine._memory import MemoryRoom, room_of_process
from localsvm.engine._sources import Part

Merge = Callable[[Any, Any], Any]
NumberedPart = tuple[int, Part]


class Driver(ABC):
    """Runs tasks somewhere.

    A task is a call of a function of a module, so that it can be sent to a process,
    with arguments that can be pickled. Results do not depend on the driver: they come
    in the order of the tasks, and a task runs on one thread.
    """

    @abstractmethod
    def run(
        self,
        name: str,
        function: Callable[..., Any],
        items: Sequence[Any],
        arguments: tuple[Any, ...],
    ) -> Iterator[Any]:
        """Yield ``function(item, *arguments)`` for each item, in their order."""

    @abstractmethod
    def run_on_parts(
        self,
        name: str,
        function: Callable[..., Any],
        parts: Sequence[NumberedPart],
        arguments: tuple[Any, ...],
    ) -> Iterator[Any]:
        """Yield ``function(block, *arguments)`` for each part; None if it is empty."""

    @abstractmethod
    def merge_on_parts(
        self,
        name: str,
        function: Callable[..., Any],
        merge: Merge,
        parts: Sequence[Sequence[NumberedPart]],
        arguments: tuple[Any, ...],
    ) -> Iterator[Any]:
        """Yield one result for each group of parts, merged by :func:`merge_tree`."""

    @abstractmethod
    def room(self, memory_limit: int | None) -> MemoryRoom:
        """Memory for the tasks that run at the same time on a worker."""

    @abstractmethod
    def use_threads(self, n_threads: int) -> None:
        """Run no more tasks than these at once, for the sake of memory."""

    @abstractmethod
    def check_shares(self, folder: Path) -> None:
        """Raise unless all workers see the folder."""


class LocalDriver(Driver):
    """Reads and merges blocks in the process that wants the results."""

    def run_on_parts(
        self,
        name: str,
        function: Callable[..., Any],
        parts: Sequence[NumberedPart],
        arguments: tuple[Any, ...],
    ) -> Iterator[Any]:
        """Read each block and call the function on it."""
        return self.run(name, read_and_call, parts, (function, arguments))

    def merge_on_parts(
        self,
        name: str,
        function: Callable[..., Any],
        merge: Merge,
        parts: Sequence[Sequence[NumberedPart]],
        arguments: tuple[Any, ...],
    ) -> Iterator[Any]:
        """Merge as results arrive, so that few are kept."""
        flat = [part for group in parts for part in group]
        results = self.run_on_parts(name, function, flat, arguments)
        for group in parts:
            yield merge_tree((next(results) for _ in group), merge)

    def room(self, memory_limit: int | None) -> MemoryRoom:
        """Memory of this process."""
        return room_of_process(memory_limit)

    def check_shares(self, folder: Path) -> None:
        """One process sees every folder."""


class InlineDriver(LocalDriver):
    """The calling thread, for rows in memory, whose functions use threads."""

    def run(
        self,
        name: str,
        function: Callable[..., Any],
        items: Sequence[Any],
        arguments: tuple[Any, ...],
    ) -> Iterator[Any]:
        """Call the function when its result is wanted."""
        del name
        return (function(item, *arguments) for item in items)

    def use_threads(self, n_threads: int) -> None:
        """There is one block: nothing to limit."""


class ThreadDriver(LocalDriver):
    """Threads of this process; at most one block per thread is in memory."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads

    def run(
        self,
        name: str,
        function: Callable[..., Any],
        items: Sequence[Any],
        arguments: tuple[Any, ...],
    ) -> Iterator[Any]:
        """Yield the results in order; few more tasks than threads are begun."""
        del name
        cancel = threading.Event()

        def call(item: Any) -> Any:
            _thread.cancel = cancel
            return call_alone(function, item, arguments)

        return iterate_in_threads(call, items, self.n_threads, cancel)

    def use_threads(self, n_threads: int) -> None:
        """Lower the number of threads."""
        self.n_threads = max(1, min(self.n_threads, n_threads))


def merge_tree(results: Iterator[Any], merge: Merge) -> Any:
    """Merge results pairwise, in a tree whose shape their number alone decides.

    Keeps as many as the tree is high. None stands for nothing.
    """
    pending: list[tuple[int, Any]] = []
    for result in results:
        push_result(pending, 0, result, merge)
    return collapse(pending, merge)


def push_result(
    pending: list[tuple[int, Any]], height: int, result: Any, merge: Merge
) -> None:
    """Add a result to those that wait for a partner of their height."""
    while pending and pending[-1][0] == height:
        result = merge_present(pending.pop()[1], result, merge)
        height += 1
    pending.append((height, result))


def collapse(pending: Sequence[tuple[int, Any]], merge: Merge) -> Any:
    """Merge what is left without a partner, from the last to the first."""
    if not pending:
        return None
    whole = pending[-1][1]
    for _, result in reversed(pending[:-1]):
        whole = merge_present(result, whole, merge)
    return whole


def merge_present(first: Any, second: Any, merge: Merge) -> Any:
    """Merge two results, of which each may be nothing."""
    if first is None or second is None:
        return second if first is None else first
    return merge(first, second)


def call_alone(
    function: Callable[..., Any], item: Any, arguments: tuple[Any, ...]
) -> Any:
    """Call a function with BLAS on one thread, so that its sums have one order."""
    with single_threaded_libraries():
        return function(item, *arguments)


_thread = threading.local()


def cancel_event() -> threading.Event | None:
    """Event that is set when nobody waits for the task that runs on this thread.

    Returns
    -------
    threading.Event or None
        None on a worker of a cluster. A long task looks at it now and then, and gives
        it to the solvers, since a thread does not see Ctrl-C.
    """
    event: threading.Event | None = getattr(_thread, "cancel", None)
    return event


def read_and_call(
    numbered: NumberedPart, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> Any:
    """Read a block and call the function on it, unless it is empty."""
    number, part = numbered
    block = replace(part.read(), number=number)
    return function(block, *arguments) if block.n_rows else None
