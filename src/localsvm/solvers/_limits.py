"""How far and how long a solver iterates."""

from __future__ import annotations

import threading
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
        Seconds after which the current iterate is returned.
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

    @property
    def seconds(self) -> float:
        """The time limit as a number."""
        return np.inf if self.max_time is None else self.max_time

    @property
    def cancelled(self) -> Callable[[], bool] | None:
        """A function that tells whether to stop."""
        return None if self.cancel is None else self.cancel.is_set
