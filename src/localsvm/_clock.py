"""Seconds per stage of a fit, and its time limit."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from localsvm._progress import stage


@dataclass
class StageClock:
    """Seconds per stage of a fit, and what is left of ``max_time``."""

    max_time: float | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    _start: float = field(default_factory=lambda: time.perf_counter())

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time spent inside to the stage ``name``, and tell who listens."""
        start = time.perf_counter()
        with stage(name):
            yield
        spent = time.perf_counter() - start
        self.seconds[name] = self.seconds.get(name, 0.0) + spent

    def fork(self) -> StageClock:
        """Make a clock with the same limit and its own seconds, for a thread."""
        return StageClock(self.max_time, _start=self._start)

    def halved(self) -> StageClock:
        """Make a clock with its own seconds that ends at half of what is left."""
        left = self.remaining()
        if left is None or self.max_time is None:
            return self.fork()
        return StageClock(self.max_time - left / 2, _start=self._start)

    def remaining(self) -> float | None:
        """Seconds left, or None without a limit."""
        if self.max_time is None:
            return None
        return max(0.0, self.max_time - (time.perf_counter() - self._start))

    @property
    def deadline(self) -> float | None:
        """When the time is over, as of ``time.perf_counter``; None without a limit."""
        return None if self.max_time is None else self._start + self.max_time
