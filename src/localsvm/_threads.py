"""Threads of this process: how many, and BLAS kept to one so that results repeat."""

from __future__ import annotations

import _thread
import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

__all__ = [
    "FEW_ROWS",
    "call_interruptibly",
    "effective_n_jobs",
    "iterate_in_threads",
    "libraries_for",
    "map_in_threads",
    "map_interruptibly",
    "map_row_blocks",
    "single_threaded_libraries",
    "sum_row_blocks",
    "threads_for",
]

Item = TypeVar("Item")
Result = TypeVar("Result")

_BLOCK_ROWS = 2048
# So few rows are done sooner than a limit of BLAS is set.
FEW_ROWS = 16
_MAX_PARTIAL_SUMS = 32


class _LibraryLimit:
    """Keeps BLAS and OpenMP to one thread while somebody asks for it.

    The limit of BLAS is global to the process: two threads that enter and leave in turn
    would each restore what they found and leave the limit behind, so the users are
    counted; and threadpoolctl lets the first thread that sets it be the only one as
    long as that thread lives, so short-lived threads set it. The limit of OpenMP
    belongs to the calling thread. Looking for the libraries takes milliseconds, so it
    is done again only when modules were imported meanwhile.

    A forked process has no thread but the one that forked: the others are no users
    there. A fork waits until no thread is changing the limit.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: list[int] = []  # threads, each as often as it asks
        self._libraries: Any = None
        self._n_modules = 0
        self._blas_limits: Any = None

    def acquire(self) -> Any:
        """Set the limits; the result is for ``release``."""
        with self._lock:
            if self._n_modules != len(sys.modules):
                self._libraries = ThreadpoolController()
                self._n_modules = len(sys.modules)
            libraries = self._libraries
            if not self._users:
                blas = libraries.select(user_api="blas")
                self._blas_limits = _on_new_thread(lambda: blas.limit(limits=1))
            self._users.append(threading.get_ident())
        return libraries.select(user_api="openmp").limit(limits=1)

    def release(self, openmp_limits: Any) -> None:
        openmp_limits.restore_original_limits()
        with self._lock:
            self._users.remove(threading.get_ident())
            if not self._users:
                _on_new_thread(self._blas_limits.restore_original_limits)

    def watch_forks(self) -> None:
        """Keep the limit right in forked processes."""
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=lambda: self._lock.acquire(),
                after_in_parent=lambda: self._lock.release(),
                after_in_child=self._drop_other_threads,
            )

    def _drop_other_threads(self) -> None:
        self._lock = threading.Lock()
        if not self._users:
            return
        this_thread = threading.get_ident()
        self._users = [user for user in self._users if user == this_thread]
        if not self._users:
            _on_new_thread(self._blas_limits.restore_original_limits)


def _on_new_thread(function: Callable[[], Result]) -> Result:
    work = _Work(lambda _: function(), [None], None)
    work.offer(0)
    work.offer(None)
    # Joined, as the thread has to be gone.
    thread = threading.Thread(target=work.run, args=(_End(),), daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no memory for its stack
        return function()
    thread.join()
    return work.finish()[0]


_library_limit = _LibraryLimit()
_library_limit.watch_forks()


@contextmanager
def single_threaded_libraries() -> Iterator[None]:
    """Keep BLAS and this thread's OpenMP to one thread, so that sums have one order."""
    limits = _library_limit.acquire()
    try:
        yield
    finally:
        _library_limit.release(limits)


def libraries_for(n_rows: int) -> AbstractContextManager[None]:
    """Limit the libraries as above while rows are worked on, unless they are few."""
    return nullcontext() if n_rows <= FEW_ROWS else single_threaded_libraries()


def threads_for(n_rows: int, n_jobs: int | None) -> int:
    """Threads that work on rows: one, if they are few, without a look at joblib."""
    return 1 if n_rows <= FEW_ROWS else int(effective_n_jobs(n_jobs))


def call_interruptibly(function: Callable[[], Result]) -> Result:
    """Call a function that does not look for signals, and let Ctrl-C through.

    The function runs on another thread. If it is interrupted, its end is not awaited
    and its result is dropped; it must not change anything that others see.
    """
    return map_interruptibly(lambda _: function(), [None], 1)[0]


def map_interruptibly(
    function: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None
) -> list[Result]:
    """Call ``function`` on each item, in order, and let Ctrl-C through.

    As in :func:`call_interruptibly`, on ``n_jobs`` threads.
    """
    n_threads = max(1, min(effective_n_jobs(n_jobs), len(items)))
    return _map_on_threads(function, items, n_threads, awaits_end=False)


def map_in_threads(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    n_jobs: int | None,
    cancel: threading.Event | None = None,
) -> list[Result]:
    """Call ``function`` on each item and return the results in order.

    On an exception, Ctrl-C among them, items not yet begun are dropped and ``cancel``
    is set, so that a function that watches it can end early.
    """
    n_threads = min(effective_n_jobs(n_jobs), len(items))
    if n_threads <= 1:
        return [function(item) for item in items]
    return _map_on_threads(function, items, n_threads, cancel)


def iterate_in_threads(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    n_threads: int,
    cancel: threading.Event | None = None,
) -> Iterator[Result]:
    """Yield ``function`` of each item, in order, while threads work on the next ones.

    No more than ``n_threads`` items are begun beyond the one whose result is wanted, so
    that few results are kept. At the end, and on any exception, ``cancel`` is set;
    then items not yet begun are dropped, and nobody waits for the others.
    """
    if not items:
        return
    work, last = _Work(function, items, None), len(items) - 1
    try:
        for index in range(len(items)):
            work.offer(index)
            if index < n_threads:
                work.begin()
            else:
                yield work.take(index - n_threads)
        work.offer(None)
        for index in range(max(0, len(items) - n_threads), last):
            yield work.take(index)
        final = work.take(last)
    finally:
        work.stop()
        if cancel is not None:
            cancel.set()
    # Outside: who stops here closes the generator, and Ctrl-C would be lost in there.
    yield final


def _map_on_threads(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    n_threads: int,
    cancel: threading.Event | None = None,
    *,
    awaits_end: bool = True,
) -> list[Result]:
    """Call ``function`` on each item on new threads, whose end may be awaited."""
    work = _Work(function, items, cancel)
    running: list[_End] = []
    try:
        for index in range(len(items)):
            work.offer(index)
        work.offer(None)
        for _ in range(n_threads):
            running.append(work.begin())
        for end in running:
            end.wait()
    except BaseException:
        work.stop()
        for end in running if awaits_end else ():
            end.wait()
        raise
    return work.finish()


class _End:
    """End of a thread, for which a caller may wait again after Ctrl-C."""

    def __init__(self) -> None:
        self._is_reached = False
        self._lock = _thread.allocate_lock()
        self._lock.acquire()

    def reach(self) -> None:
        self._is_reached = True
        self._lock.release()

    def wait(self) -> None:
        while not self._is_reached:
            self._lock.acquire()


class _Work(Generic[Item, Result]):
    """Items that threads take one after the other, when they are offered.

    Ctrl-C can come between any two steps of Python. A ThreadPoolExecutor that it meets
    while a lock is taken never ends, and one in a callback of its weak references is
    lost; so the caller waits here for locks and queues of the interpreter alone.
    """

    def __init__(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        cancel: threading.Event | None,
    ) -> None:
        self._function = function
        self._items = items
        self._cancel = cancel
        self._offered: SimpleQueue[int | None] = SimpleQueue()
        self._done: SimpleQueue[None] = SimpleQueue()
        self._results: dict[int, Result] = {}
        self._errors: dict[int, BaseException] = {}
        self._is_stopped = False

    def offer(self, index: int | None) -> None:
        """Let a thread take an item; None is the end, after which all threads leave."""
        self._offered.put(index)

    def begin(self) -> _End:
        """Start a thread."""
        end = _End()
        _thread.start_new_thread(self.run, (end,))
        return end

    def stop(self) -> None:
        """Drop the items that have not begun."""
        self._is_stopped = True
        self._offered.put(None)
        if self._cancel is not None:
            self._cancel.set()

    def take(self, index: int) -> Result:
        """Wait for the result of an item, which is forgotten, or raise its error."""
        while index not in self._results and index not in self._errors:
            self._done.get()
        if index in self._errors:
            raise self._errors[index]
        return self._results.pop(index)

    def finish(self) -> list[Result]:
        """Results in order, or the error of the first item that has one."""
        if self._errors:
            raise self._errors[min(self._errors)]
        return [self._results[index] for index in range(len(self._items))]

    def run(self, end: _End) -> None:
        """Work on offered items until the end, on the thread that calls."""
        try:
            for index in iter(self._offered.get, None):
                if self._is_stopped:
                    break
                try:
                    self._results[index] = self._function(self._items[index])
                except BaseException as error:
                    self._errors[index] = error
                    self.stop()
                self._done.put(None)
            self._offered.put(None)  # the end, for the next thread
        finally:
            end.reach()


def map_row_blocks(
    function: Callable[[slice], None], n_rows: int, n_jobs: int | None
) -> None:
    """Call ``function`` on consecutive slices of the rows, on ``n_jobs`` threads.

    The slices do not depend on ``n_jobs`` and BLAS runs on one thread inside them, so
    neither do the results. Up to ``FEW_ROWS`` rows no limit is set and no thread
    started: setting the limit takes three times as long as to predict a row.
    """
    if n_rows <= FEW_ROWS:
        function(slice(0, n_rows))
        return
    blocks = [
        slice(start, min(start + _BLOCK_ROWS, n_rows))
        for start in range(0, n_rows, _BLOCK_ROWS)
    ]
    with single_threaded_libraries():
        map_in_threads(function, blocks, n_jobs)


def sum_row_blocks(
    function: Callable[[slice], tuple[Any, ...]], n_rows: int, n_jobs: int | None
) -> tuple[Any, ...]:
    """Add up, entry by entry, the tuples that ``function`` gives for row slices.

    As in :func:`map_row_blocks`; the sums have one order whatever ``n_jobs`` is. Of no
    rows there is one slice, which is empty.
    """
    starts = range(0, max(1, n_rows), _BLOCK_ROWS)
    per_sum = -(-len(starts) // _MAX_PARTIAL_SUMS)
    groups = [starts[i : i + per_sum] for i in range(0, len(starts), per_sum)]

    def add(totals: tuple[Any, ...], terms: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(total + term for total, term in zip(totals, terms, strict=True))

    def partial_sum(group: range) -> tuple[Any, ...]:
        blocks = (slice(at, min(at + _BLOCK_ROWS, n_rows)) for at in group)
        return functools.reduce(add, map(function, blocks))

    with single_threaded_libraries():
        return functools.reduce(add, map_in_threads(partial_sum, groups, n_jobs))
