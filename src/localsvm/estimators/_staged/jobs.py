"""Fits that do not depend on each other, side by side on threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from localsvm._threads import (
    effective_n_jobs,
    map_in_threads,
    single_threaded_libraries,
)
from localsvm.estimators._staged.setting import StageOptions

Job = Callable[[StageOptions], None]


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
            job(own)

    map_in_threads(run, jobs, n_threads, cancel)
