"""Seconds that have been spent, and those that a fit will take."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

_MARGIN = 1.25
_MOST_GROWTH = 3.0
_COMPARABLE = 1.5


@dataclass
class Budget:
    """Seconds for the race, by an injected clock."""

    seconds: float
    clock: Callable[[], float]
    _start: float = field(init=False)

    def __post_init__(self) -> None:
        self._start = self.clock()

    def spent(self) -> float:
        """Seconds since the start."""
        return self.clock() - self._start

    def left(self) -> float:
        """Seconds until the end; negative after it."""
        return self.seconds - self.spent()


@dataclass
class GrowthCurve:
    """Measured seconds by number of rows, and their power law.

    The exponent is that of the two largest sizes, at least ``exponent``: overheads make
    small fits look as if they did not grow.
    """

    exponent: float
    _seconds: dict[int, float] = field(default_factory=dict)

    def add(self, n_rows: int, seconds: float) -> None:
        """Remember a measurement; the longest of one size counts."""
        self._seconds[n_rows] = max(seconds, self._seconds.get(n_rows, 0.0))

    @property
    def largest(self) -> int:
        """Most rows measured, 0 if none."""
        return max(self._seconds, default=0)

    def predict(self, n_rows: int, growth: float | None = None) -> float | None:
        """Seconds for so many rows, rather too many; None if nothing is known.

        Parameters
        ----------
        n_rows : int
        growth : float or None, default=None
            Least exponent; None is the curve's own.
        """
        if not self._seconds:
            return None
        if n_rows <= self.largest:
            return self._seconds.get(n_rows, self._seconds[self.largest])
        ratio = n_rows / self.largest
        growth = float(ratio ** max(self.growth(), growth or 0.0))
        return _MARGIN * self._seconds[self.largest] * growth

    def growth(self) -> float:
        """Exponent of the seconds."""
        smaller = [n for n in self._seconds if _COMPARABLE * n <= self.largest]
        if not smaller:
            return self.exponent
        before = max(smaller)
        ratio = self._seconds[self.largest] / max(self._seconds[before], 1e-6)
        measured = math.log(max(ratio, 1.0)) / math.log(self.largest / before)
        return min(max(measured, self.exponent), _MOST_GROWTH)


class Costs:
    """Growth curves of everything that is done more than once."""

    def __init__(self) -> None:
        self._curves: dict[Hashable, GrowthCurve] = {}

    def of(self, what: Hashable, exponent: float = 1.0) -> GrowthCurve:
        """Curve of something, empty at first."""
        return self._curves.setdefault(what, GrowthCurve(exponent))
