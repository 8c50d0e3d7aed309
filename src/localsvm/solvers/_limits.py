"""How far and how long a solver iterates."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RunLimits:
    """What every solver is told of when to stop.

    Parameters
    ----------
    tol : float
        The solver's own measure of optimality at which it stops.
    max_iter : int
        Iterations of the solver's own kind.
    max_time : float or None
        Seconds of one solve after which the current iterate is returned.
    deadline : float or None
        The same as a time of ``time.perf_counter``, which several solves can share; the
        earlier of both counts. A solve that begins later makes one pass.
    n_threads : int
        Threads over independent problems; does not change the result.
    cancel : threading.Event or None
        Ends the solve with an InterruptedError when it is set. A thread other than the
        main one needs it, since it does not see Ctrl-C.
    """

    tol: float = 1e-3
    max_iter: int = 1000
    max_time: float | None = None
    n_threads: int = 1
    cancel: threading.Event | None = None
    deadline: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds for a solve that begins now, infinite without a limit."""
        own = np.inf if self.max_time is None else self.max_time
        if self.deadline is None:
            return own
        return min(own, max(0.0, self.deadline - time.perf_counter()))

    @property
    def is_over(self) -> bool:
        """Whether the deadline is past."""
        return self.deadline is not None and time.perf_counter() >= self.deadline

    @property
    def cancelled(self) -> Callable[[], bool] | None:
        """A function that tells whether to stop."""
        return None if self.cancel is None else self.cancel.is_set
