"""How the work of a fit runs: side by side on threads, and what Ctrl-C leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from localsvm._threads import (
    effective_n_jobs,
    map_in_threads,
    single_threaded_libraries,
)
from localsvm.estimators._staged.setting import StageOptions

Job = Callable[[StageOptions], None]


class OutOfTimeError(Exception):
    """The time for the search is over; what is being tried has no result."""


def stop_if_late(options: StageOptions) -> None:
    """Leave what a solver may not have finished: half a fit says nothing."""
    if options.is_late:
        raise OutOfTimeError


@contextmanager
def keeping(options: StageOptions) -> Iterator[None]:
    """Take Ctrl-C for the end of the time, if the fit keeps what it has then."""
    try:
        yield
    except KeyboardInterrupt:
        if options.cancel is None:
            raise
        options.cancel.set()


def run_jobs(jobs: Sequence[Job], options: StageOptions) -> None:
    """Run jobs that do not depend on each other.

    Each gets options with its share of the threads. What a fit gives does not depend on
    its threads, so neither does what the jobs give together.
    """
    n_threads = effective_n_jobs(options.n_jobs)
    cancel = threading.Event() if n_threads > 1 and len(jobs) > 1 else options.cancel
    each = max(1, n_threads // max(1, len(jobs)))
    own = replace(options, n_jobs=each, cancel=cancel)

    def run(job: Job) -> None:
        # The limit of OpenMP belongs to a thread.
        with single_threaded_libraries():
            try:
                job(own)
            except InterruptedError:  # a solver that was cancelled
                raise OutOfTimeError from None

    map_in_threads(run, jobs, n_threads, cancel)
