"""Threads that do the work of requests: a few, with a short queue and a time limit."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from localsvm.serve._errors import busy

Check = Callable[[], None]
Work = Callable[[Check], bytes]


class RequestEndedError(Exception):
    """Nobody waits for the answer any more; ends the work of a request."""


@dataclass(eq=False)
class _Job:
    """The work of one request, and who waits for it."""

    work: Work
    answer: asyncio.Future[bytes]
    is_large: bool
    ended: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Raise if nobody waits for the answer any more."""
        if self.ended.is_set():
            raise RequestEndedError

    def run(self) -> None:
        """Do the work, and hand the answer to the event loop."""
        try:
            self.check()
            result = self.work(self.check)
        except RequestEndedError:
            return
        except BaseException as error:
            self._deliver(self.answer.set_exception, error)
        else:
            self._deliver(self.answer.set_result, result)

    def _deliver(self, setter: Callable[[Any], None], value: Any) -> None:
        def deliver() -> None:
            if not self.answer.done():
                setter(value)

        try:
            self.answer.get_loop().call_soon_threadsafe(deliver)
        except RuntimeError:  # the loop has closed, and with it the connection
            return


class Workers:
    """A bounded pool.

    Python cannot stop a thread. Work calls the ``check`` it is given between blocks of
    rows, and ends when its request has: because the time is out, the client has gone,
    or the server shuts down. It keeps its place until then, so that slow work cannot
    pile up. Large requests leave one thread to the others, if there are two. The
    threads are daemons: a block that does not end cannot hold up the end
    of the process.

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
        self._n_threads = n_threads
        self._max_jobs = n_threads + max_waiting
        self._threads: list[threading.Thread] = []
        self._changed = threading.Condition()
        self._waiting: deque[_Job] = deque()
        self._running: set[_Job] = set()
        self._is_open = True

    async def run(self, work: Work, gone: Awaitable[Any], is_large: bool) -> bytes:
        """Do the work on a thread.

        Parameters
        ----------
        work : callable
            Gets a function to call between blocks, which raises when nobody waits any
            more.
        gone : awaitable
            Ends when the client has gone; what it raises is raised.
        is_large : bool
            Whether it may take long before the first check.

        Raises
        ------
        RequestError
            Of status 503 if all places are taken, the time is out, or the server shuts
            down.
        """
        job = _Job(work, asyncio.get_running_loop().create_future(), is_large)
        watch = asyncio.ensure_future(gone)
        try:
            self._add(job)
            async with asyncio.timeout(self.timeout):
                await asyncio.wait(
                    {job.answer, watch}, return_when=asyncio.FIRST_COMPLETED
                )
                return await (job.answer if job.answer.done() else _never(watch))
        except TimeoutError as error:
            raise busy(
                f"The request took longer than {self.timeout:g} s; send fewer rows."
            ) from error
        finally:
            watch.cancel()
            self._end(job)

    def stop(self) -> None:
        """Refuse new requests, and end all that wait or run with status 503.

        Has to be called on the event loop's thread.
        """
        with self._changed:
            self._is_open = False
            jobs = [*self._waiting, *self._running]
        for job in jobs:
            if not job.answer.done():
                job.answer.set_exception(_shutting_down())

    def close(self, patience: float) -> bool:
        """Stop, and wait some seconds for the threads; whether all have ended."""
        with self._changed:
            self._is_open = False
            for job in [*self._waiting, *self._running]:
                job.ended.set()
            self._waiting.clear()
            self._changed.notify_all()
            return self._changed.wait_for(lambda: not self._running, patience)

    def _add(self, job: _Job) -> None:
        with self._changed:
            if not self._is_open:
                raise _shutting_down()
            n_jobs = len(self._waiting) + len(self._running)
            if n_jobs >= self._max_jobs:
                raise busy("The server has too many requests; try again later.")
            self._waiting.append(job)
            if len(self._threads) < min(self._n_threads, n_jobs + 1):
                name = f"localsvm-serve-{len(self._threads)}"
                thread = threading.Thread(target=self._serve, name=name, daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify()

    def _end(self, job: _Job) -> None:
        """Tell the work that its request has ended; a waiting one is dropped."""
        job.ended.set()
        with self._changed:
            if job in self._waiting:
                self._waiting.remove(job)

    def _serve(self) -> None:
        while (job := self._next()) is not None:
            job.run()
            with self._changed:
                self._running.discard(job)
                self._changed.notify_all()
            del job  # and its body and answer, while the thread waits

    def _next(self) -> _Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._first() or not self._is_open)
            job = self._first()
            if job is not None:
                self._waiting.remove(job)
                self._running.add(job)
            return job

    def _first(self) -> _Job | None:
        """Find the first that may begin."""
        n_large = sum(job.is_large for job in self._running)
        is_full = n_large >= max(1, self._n_threads - 1)
        may_begin = (job for job in self._waiting if not (job.is_large and is_full))
        return next(may_begin, None)


async def _never(watch: asyncio.Future[Any]) -> bytes:
    """Raise what has ended the watch."""
    await watch
    raise RequestEndedError


def _shutting_down() -> Exception:
    return busy("The server is shutting down.")
