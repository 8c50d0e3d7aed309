"""Threads that do the work of requests: a few, with a short queue and a time limit."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from localsvm.serve._errors import busy


class Workers:
    """A bounded pool.

    Python cannot stop a thread: work whose time is out goes on, its answer is dropped,
    and its place stays taken until it ends, so that slow work cannot pile up.

    Parameters
    ----------
    n_threads : int
    max_waiting : int
        Requests that may wait for a thread; more are refused.
    timeout : float
        Seconds that a request may take, waiting included.
    """

    def __init__(self, n_threads: int, max_waiting: int, timeout: float) -> None:
        self.timeout = timeout
        self._pool = ThreadPoolExecutor(n_threads, thread_name_prefix="localsvm-serve")
        self._places = threading.BoundedSemaphore(n_threads + max_waiting)

    async def run(self, work: Callable[[bytes], bytes], body: bytes) -> bytes:
        """Do the work on a thread.

        Raises
        ------
        RequestError
            Of status 503 if all places are taken, or the time is out.
        """
        if not self._places.acquire(blocking=False):
            raise busy("The server has too many requests; try again later.")
        try:
            future = self._pool.submit(work, body)
        except RuntimeError as error:
            self._places.release()
            raise busy("The server is shutting down.") from error
        # Runs once, when the work has ended or was cancelled before it began.
        future.add_done_callback(lambda _: self._places.release())
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.timeout)
        except TimeoutError as error:
            raise busy(
                f"The request took longer than {self.timeout:g} s; send fewer rows."
            ) from error

    def close(self) -> None:
        """Drop what waits, and wait for what runs."""
        self._pool.shutdown(wait=True, cancel_futures=True)
