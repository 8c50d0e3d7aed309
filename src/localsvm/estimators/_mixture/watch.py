"""The course of EM: a history, when to stop, and which step to keep."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._clock import StageClock
from localsvm.estimators._mixture.expectation import Expectation
from localsvm.estimators._mixture.model import MixtureModel
from localsvm.estimators._mixture.settings import MixtureSettings

_STAGES = ("expect", "gate", "solve")


@dataclass(frozen=True)
class BestStep:
    """The step of EM that is kept.

    Attributes
    ----------
    step : int
        Its number; the start is 0.
    model : MixtureModel
    mass : ndarray of shape (n_components,)
    sizes : ndarray of shape (n_components,)
    class_counts : ndarray of shape (n_components, n_classes)
        As in :class:`Expectation`.
    """

    step: int
    model: MixtureModel
    mass: NDArray[np.float64]
    sizes: NDArray[np.intp]
    class_counts: NDArray[np.float64]


@dataclass
class EMWatch:
    """Follows EM step by step.

    Attributes
    ----------
    settings : MixtureSettings
    clock : StageClock
    history : dict of lists
        One entry per step, the start first.
    best : BestStep or None
        None before the first step.
    """

    settings: MixtureSettings
    clock: StageClock
    history: dict[str, list[Any]] = field(default_factory=dict)
    best: BestStep | None = None
    _last: float = field(default_factory=time.perf_counter)
    _spent: dict[str, float] = field(default_factory=dict)

    @property
    def n_steps(self) -> int:
        """Steps in the history, the start included."""
        return len(self.history.get("log_likelihood", []))

    @property
    def kept(self) -> BestStep:
        """The best step so far."""
        assert self.best is not None
        return self.best

    @property
    def is_over(self) -> bool:
        """Whether EM ends with the last step that was recorded."""
        step, settings = self.n_steps - 1, self.settings
        return (
            self.converged
            or step == settings.em_max_iter
            or step - self.kept.step >= settings.n_iter_no_change
            or self.clock.remaining() == 0
        )

    @property
    def converged(self) -> bool:
        """Whether the likelihood rises by less than the tolerance."""
        likelihood = self.history["log_likelihood"]
        sizes = self.history["n_components"]
        if len(likelihood) < 2 or sizes[-1] != sizes[-2]:
            return False
        total_weight = self.kept.mass.sum()
        rise = likelihood[-1] - likelihood[-2]
        return bool(rise <= self.settings.em_tol * total_weight)

    def record(self, model: MixtureModel, found: Expectation, penalty: float) -> None:
        """Add a step to the history, and keep it if it is the best."""
        step = self.n_steps
        entry = {
            "log_likelihood": found.log_likelihood - penalty,
            "accuracy": found.accuracy,
            "n_components": model.n_components,
        }
        if found.validation_accuracy is not None:
            entry["validation_accuracy"] = found.validation_accuracy
        for name, value in (entry | self._seconds()).items():
            self.history.setdefault(name, []).append(value)
        # Without validation rows the last step is the best.
        scores = self.history.get("validation_accuracy")
        if scores is None or step == 0 or scores[-1] > max(scores[:-1]):
            self.best = BestStep(
                step, model, found.mass, found.sizes, found.class_counts
            )

    def _seconds(self) -> dict[str, float]:
        """Time since the step before, and what of it the stages took."""
        now, spent = time.perf_counter(), self.clock.seconds
        seconds = {"seconds": now - self._last}
        for stage in _STAGES:
            total = spent.get(stage, 0.0)
            seconds[f"{stage}_seconds"] = total - self._spent.get(stage, 0.0)
            self._spent[stage] = total
        self._last = now
        return seconds
