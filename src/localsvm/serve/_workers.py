"""Threads that do the work of requests: a few, with a short queue and a time limit."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from localsvm.serve._errors import busy

Check = Callable[[], None]
Work = Callable[[Check], bytes]
Result = bytes | BaseException

# Requests that are worked on together.
_MOST_TOGETHER = 16
# Until then an answer is not worth a look whether the client is still there.
_SOON = 0.05


@dataclass(frozen=True)
class Joint:
    """Work that is done faster together with others of its kind.

    Parameters
    ----------
    do : callable
        Takes the items of several requests and a check, and gives the result or the
        error of each. Requests are joined if theirs is the same.
    item : object
    """

    do: Callable[[Sequence[Any], Check], Sequence[Result]]
    item: Any


class RequestEndedError(Exception):
    """Nobody waits for the answer any more; ends the work of a request."""


@dataclass(eq=False)
class _Job:
    """The work of one request, and who waits for it."""

    work: Work
    answer: asyncio.Future[bytes]
    is_large: bool
    joint: Joint | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Raise if nobody waits for the answer any more."""
        if self.ended.is_set():
            raise RequestEndedError

    def joins(self, other: _Job) -> bool:
        """Whether both may be done together."""
        mine, others = self.joint, other.joint
        return mine is not None and others is not None and mine.do == others.do


def _do(jobs: list[_Job]) -> None:
    """Do the work of requests, and hand the answers to the event loop."""
    try:
        results = _results(jobs)
    except RequestEndedError:
        return
    except BaseException as error:
        results = [error] * len(jobs)

    def deliver() -> None:
        for job, result in zip(jobs, results, strict=True):
            if job.answer.done():
                continue
            if isinstance(result, BaseException):
                job.answer.set_exception(result)
            else:
                job.answer.set_result(result)

    try:
        jobs[0].answer.get_loop().call_soon_threadsafe(deliver)
    except RuntimeError:  # the loop has closed, and with it the connections
        return


def _results(jobs: list[_Job]) -> Sequence[Result]:
    first = jobs[0]
    if len(jobs) == 1 or first.joint is None:
        first.check()
        return [first.work(first.check)]

    def check() -> None:
        if all(job.ended.is_set() for job in jobs):
            raise RequestEndedError

    items = [job.joint.item for job in jobs if job.joint is not None]
    return first.joint.do(items, check)


class Workers:
    """A bounded pool.

    Python cannot stop a thread. Work calls the ``check`` it is given between blocks of
    rows, and ends when its request has: because the time is out, the client has gone,
    or the server shuts down. It keeps its place until then, so that slow work cannot
    pile up. Large requests leave one thread to the others, if there are two. Requests
    that wait and can be joined are done together, so that their share of a call of the
    model is small. The threads are daemons: a block that does not end cannot hold up
    the end of the process.

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

    async def run(
        self,
        work: Work,
        gone: Callable[[], Awaitable[Any]],
        is_large: bool,
        joint: Joint | None = None,
    ) -> bytes:
        """Do the work on a thread.

        Parameters
        ----------
        work : callable
            Gets a function to call between blocks, which raises when nobody waits any
            more.
        gone : callable
            Gives an awaitable that ends when the client has gone; what it raises is
            raised. Called unless the answer comes soon.
        is_large : bool
            Whether it may take long before the first check.
        joint : Joint or None, default=None
            How the same work is done together with that of other requests.

        Raises
        ------
        RequestError
            Of status 503 if all places are taken, the time is out, or the server shuts
            down.
        """
        loop = asyncio.get_running_loop()
        job = _Job(work, loop.create_future(), is_large, joint)
        watches: list[asyncio.Future[Any]] = []

        def watch() -> None:
            watches.append(asyncio.ensure_future(gone()))
            watches[0].add_done_callback(lambda done: _tell(job.answer, done))

        timers = [
            loop.call_later(self.timeout, _set_error, job.answer, self._too_late()),
            loop.call_later(min(_SOON, self.timeout), watch),
        ]
        try:
            self._add(job)
            return await job.answer
        finally:
            for timer in timers:
                timer.cancel()
            for each in watches:
                each.cancel()
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

    def _too_late(self) -> Exception:
        return busy(
            f"The request took longer than {self.timeout:g} s; send fewer rows."
        )

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
        while jobs := self._next():
            _do(jobs)
            with self._changed:
                self._running.difference_update(jobs)
                self._changed.notify_all()
            del jobs  # and their bodies and answers, while the thread waits

    def _next(self) -> list[_Job]:
        """Wait for the first that may begin, and take those that it joins."""
        with self._changed:
            self._changed.wait_for(lambda: self._first() or not self._is_open)
            first = self._first()
            if first is None:
                return []
            same = [
                job for job in self._waiting if job is not first and first.joins(job)
            ]
            jobs = [first, *same[: _MOST_TOGETHER - 1]]
            for job in jobs:
                self._waiting.remove(job)
            self._running.update(jobs)
            return jobs

    def _first(self) -> _Job | None:
        """Find the first that may begin."""
        n_large = sum(job.is_large for job in self._running)
        is_full = n_large >= max(1, self._n_threads - 1)
        may_begin = (job for job in self._waiting if not (job.is_large and is_full))
        return next(may_begin, None)


def _tell(answer: asyncio.Future[bytes], watch: asyncio.Future[Any]) -> None:
    """Hand on what has ended the watch."""
    if not watch.cancelled():
        _set_error(answer, watch.exception() or RequestEndedError())


def _set_error(answer: asyncio.Future[bytes], error: BaseException) -> None:
    if not answer.done():
        answer.set_exception(error)


def _shutting_down() -> Exception:
    return busy("The server is shutting down.")
