"""Threads of this process: how many, and BLAS kept to one so that results repeat."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

__all__ = [
    "call_interruptibly",
    "effective_n_jobs",
    "map_in_threads",
    "map_interruptibly",
    "map_row_blocks",
    "single_threaded_libraries",
]

Item = TypeVar("Item")
Result = TypeVar("Result")

_BLOCK_ROWS = 2048


class _LibraryLimit:
    """Counts who asks for single-threaded BLAS and OpenMP.

    threadpoolctl's limits are global to the process: two threads that enter and leave
    in turn would each restore what they found and leave the limit behind. Looking for
    the libraries takes milliseconds, so it is done once; this module is imported after
    those that NumPy, SciPy and scikit-learn load.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._libraries: Any = None
        self._limits: Any = None

    def acquire(self) -> None:
        with self._lock:
            if self._libraries is None:
                self._libraries = ThreadpoolController()
            if self._users == 0:
                self._limits = self._libraries.limit(limits=1)
            self._users += 1

    def release(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limits.restore_original_limits()


_library_limit = _LibraryLimit()


@contextmanager
def single_threaded_libraries() -> Iterator[None]:
    """Keep BLAS and OpenMP to one thread, so that sums have one order."""
    _library_limit.acquire()
    try:
        yield
    finally:
        _library_limit.release()


def call_interruptibly(function: Callable[[], Result]) -> Result:
    """Call a function that does not look for signals, and let Ctrl-C through.

    The function runs on another thread. If it is interrupted, its end is not awaited
    and its result is dropped; it must not change anything that others see.
    """
    return next(map_interruptibly(lambda _: function(), [None], 1))


def map_interruptibly(
    function: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None
) -> Iterator[Result]:
    """Yield ``function`` of each item, in order, and let Ctrl-C through.

    As in :func:`call_interruptibly`, on ``n_jobs`` threads.
    """
    pool = ThreadPoolExecutor(max(1, min(effective_n_jobs(n_jobs), len(items))))
    try:
        yield from pool.map(function, items)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


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
    pool = ThreadPoolExecutor(n_threads)
    try:
        return list(pool.map(function, items))
    except BaseException:
        if cancel is not None:
            cancel.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def map_row_blocks(
    function: Callable[[slice], None], n_rows: int, n_jobs: int | None
) -> None:
    """Call ``function`` on consecutive slices of the rows, on ``n_jobs`` threads.

    The slices do not depend on ``n_jobs`` and BLAS runs on one thread inside them, so
    neither do the results.
    """
    blocks = [
        slice(start, min(start + _BLOCK_ROWS, n_rows))
        for start in range(0, n_rows, _BLOCK_ROWS)
    ]
    with single_threaded_libraries():
        map_in_threads(function, blocks, n_jobs)
