"""Processes that carry out runs for the one that writes the records."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from papers._definition import Run
from papers._execute import choice_of, execute
from papers._selection import Choice
from papers._store import Record


@dataclass(frozen=True)
class Job:
    """A run of an experiment.

    Parameters
    ----------
    experiment_id : str
    run : Run
    """

    experiment_id: str
    run: Run


@dataclass
class Lane:
    """Jobs that share the choice of a setting: one after the other.

    Parameters
    ----------
    jobs : deque of Job
    choice : Choice or None, default=None
        The setting, as soon as it is known.
    """

    jobs: deque[Job]
    choice: Choice | None = None


@dataclass(frozen=True)
class Ended:
    """What became of a job: a record, or an error.

    Parameters
    ----------
    job : Job
    record : Record or None
    error : str
    """

    job: Job
    record: Record | None
    error: str = ""


def carry_out(lanes: Sequence[Lane], n_jobs: int) -> Iterator[Job | Ended]:
    """Yield each job when it begins and what became of it when it ends.

    One job at a time is carried out in this process, several in processes of their own,
    which end with the iterator.
    """
    if n_jobs == 1 or len(lanes) <= 1:
        return _here(lanes)
    return _elsewhere(lanes, min(n_jobs, len(lanes)))


def _here(lanes: Sequence[Lane]) -> Iterator[Job | Ended]:
    for lane in lanes:
        while lane.jobs:
            job = lane.jobs.popleft()
            yield job
            ended = Ended(job, *_try(job.run, lane.choice))
            _learn(lane, ended)
            yield ended


def _elsewhere(lanes: Sequence[Lane], n_workers: int) -> Iterator[Job | Ended]:
    waiting = deque(lanes)
    workers = [_Worker() for _ in range(n_workers)]
    try:
        while waiting or any(worker.lane for worker in workers):
            for worker in workers:
                if worker.lane is None and waiting:
                    yield worker.begin(waiting.popleft())
            busy = {worker.pipe: worker for worker in workers if worker.lane}
            for pipe in wait(list(busy)):
                worker = busy[pipe]  # type: ignore[index]
                ended = worker.end()
                yield ended
                if worker.lane is not None and worker.lane.jobs:
                    yield worker.begin(worker.lane)
                else:
                    worker.lane = None
    finally:
        for worker in workers:
            worker.stop()


class _Worker:
    """A process that has at most one job."""

    def __init__(self) -> None:
        self.lane: Lane | None = None
        self._job: Job | None = None
        self._start()

    def _start(self) -> None:
        # A forked copy would share locks and threads of BLAS with this process.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def begin(self, lane: Lane) -> Job:
        """Send the first job of a lane."""
        self.lane = lane
        self._job = lane.jobs.popleft()
        # A process that is gone is noticed when its answer is read.
        with suppress(OSError):
            self.pipe.send((self._job.run, lane.choice))
        return self._job

    def end(self) -> Ended:
        """Receive what became of the job; a process that died is replaced."""
        assert self._job is not None
        assert self.lane is not None
        try:
            ended = Ended(self._job, *self.pipe.recv())
        except (EOFError, OSError):
            self._process.join()
            code = self._process.exitcode
            self._start()
            return Ended(self._job, None, f"its process ended with code {code}")
        _learn(self.lane, ended)
        return ended

    def stop(self) -> None:
        """End the process, whatever it does."""
        self._process.terminate()
        self._process.join()
        self.pipe.close()


def _work(pipe: Connection) -> None:
    # Ctrl-C goes to all processes of a terminal; the one that began this one ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            run, choice = pipe.recv()
        except EOFError:
            return
        pipe.send(_try(run, choice))


def _try(run: Run, choice: Choice | None) -> tuple[Record | None, str]:
    try:
        return execute(run, choice), ""
    except Exception as error:  # whatever a method does wrong, the others go on
        return None, f"{type(error).__name__}: {error}"


def _learn(lane: Lane, ended: Any) -> None:
    if ended.record is not None and lane.choice is None:
        lane.choice = choice_of(ended.record)
