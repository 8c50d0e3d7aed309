"""The course of EM: a history, when to stop, and which step to keep."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from localsvm.estimators._mixture.em import Expectation, MixtureSteps, StepOptions
from localsvm.estimators._mixture.model import MixtureModel

_STAGES = ("expect", "gate", "solve")


@dataclass
class EMWatch:
    """Follows EM step by step.

    Attributes
    ----------
    C : float
        Penalty, for the prior in Eq. 8.
    tol : float
        Rise of the mean log-likelihood below which EM has converged.
    max_iter : int
        EM steps.
    patience : int
        Steps without a better validation score after which EM ends.
    history : dict of lists
        One entry per step, the start first.
    """

    C: float
    tol: float
    max_iter: int
    patience: int
    history: dict[str, list[Any]] = field(default_factory=dict)
    converged: bool = False
    best_step: int = 0
    best: MixtureModel | None = None
    mass: Any = None
    sizes: Any = None
    class_counts: Any = None
    _last: float = field(default_factory=time.perf_counter)
    _spent: dict[str, float] = field(default_factory=dict)

    @property
    def n_steps(self) -> int:
        """Steps that are written down."""
        return len(self.history.get("log_likelihood", []))

    def is_last(
        self, fit: MixtureSteps, found: Expectation, options: StepOptions
    ) -> bool:
        """Write down a step; tell whether EM ends with it."""
        step = self.n_steps
        self._record(fit, found, fit.penalty(self.C, options))
        self._remember_best(step, fit, found)
        self.converged = self._has_converged()
        return (
            self.converged
            or step == self.max_iter
            or step - self.best_step >= self.patience
            or fit.clock.remaining() == 0
        )

    def _record(self, fit: MixtureSteps, found: Expectation, penalty: float) -> None:
        model = fit.model
        spent = fit.clock.seconds
        entry = {
            "log_likelihood": found.log_likelihood - penalty,
            "accuracy": found.accuracy,
            "n_components": model.n_components,
        }
        if found.validation_accuracy is not None:
            entry["validation_accuracy"] = found.validation_accuracy
        now = time.perf_counter()
        entry["seconds"] = now - self._last
        for stage in _STAGES:
            total = spent.get(stage, 0.0)
            entry[f"{stage}_seconds"] = total - self._spent.get(stage, 0.0)
            self._spent[stage] = total
        self._last = now
        for name, value in entry.items():
            self.history.setdefault(name, []).append(value)

    def _remember_best(self, step: int, fit: MixtureSteps, found: Expectation) -> None:
        """Without validation rows the last step is the best."""
        scores = self.history.get("validation_accuracy")
        if scores is None or step == 0 or scores[-1] > max(scores[:-1]):
            self.best_step, self.best, self.mass = step, fit.model, found.mass
            self.sizes, self.class_counts = found.sizes, found.class_counts

    def _has_converged(self) -> bool:
        likelihood = self.history["log_likelihood"]
        sizes = self.history["n_components"]
        if len(likelihood) < 2 or sizes[-1] != sizes[-2]:
            return False
        total_weight = self.mass.sum()
        return bool(likelihood[-1] - likelihood[-2] <= self.tol * total_weight)
