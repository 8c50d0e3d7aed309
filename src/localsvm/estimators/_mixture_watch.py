"""The course of EM: a history, when to stop, and which step to keep."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from localsvm.estimators._base import TrainingRows
from localsvm.estimators._mixture_em import Expectation, MixtureFit, StepOptions
from localsvm.estimators._mixture_model import MixtureModel

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
    validation : TrainingRows or None
        Rows that EM does not see.
    history : dict of lists
        One entry per step, the start first.
    """

    C: float
    tol: float
    max_iter: int
    patience: int
    validation: TrainingRows | None
    n_jobs: int | None
    history: dict[str, list[Any]] = field(default_factory=dict)
    converged: bool = False
    best_step: int = 0
    best: MixtureModel | None = None
    mass: Any = None
    sizes: Any = None
    class_counts: Any = None
    _last: float = field(default_factory=time.perf_counter)
    _spent: dict[str, float] = field(default_factory=dict)

    def is_last(
        self, step: int, fit: MixtureFit, found: Expectation, options: StepOptions
    ) -> bool:
        """Write down the step; tell whether EM ends with it."""
        self._record(fit, found, fit.penalty(self.C, options))
        self._remember_best(step, fit, found)
        self.converged = self._has_converged()
        return (
            self.converged
            or step == self.max_iter
            or step - self.best_step >= self.patience
            or fit.clock.remaining() == 0
        )

    def _record(self, fit: MixtureFit, found: Expectation, penalty: float) -> None:
        model = fit.model
        spent = fit.clock.seconds
        entry = {
            "log_likelihood": found.log_likelihood - penalty,
            "accuracy": found.accuracy,
            "n_components": model.n_components,
        }
        if self.validation is not None:
            entry["validation_accuracy"] = self._validate(model)
        now = time.perf_counter()
        entry["seconds"] = now - self._last
        for stage in _STAGES:
            total = spent.get(stage, 0.0)
            entry[f"{stage}_seconds"] = total - self._spent.get(stage, 0.0)
            self._spent[stage] = total
        self._last = now
        for name, value in entry.items():
            self.history.setdefault(name, []).append(value)

    def _validate(self, model: MixtureModel) -> float:
        rows = self.validation
        assert rows is not None
        predicted = model.class_scores(rows.X, self.n_jobs).argmax(axis=1)
        hit = predicted == rows.class_index
        return float(np.average(hit, weights=rows.penalty_weight))

    def _remember_best(self, step: int, fit: MixtureFit, found: Expectation) -> None:
        """Without validation rows the last step is the best."""
        scores = self.history.get("validation_accuracy")
        if scores is None or step == 0 or scores[-1] > max(scores[:-1]):
            self.best_step, self.best, self.mass = step, fit.model, found.mass
            present = fit.rows.sample_weight > 0
            main = found.responsibilities.argmax(axis=1)
            self.sizes = np.bincount(main[present], minlength=self.best.n_components)
            self.class_counts = fit.rows.class_counts(
                main, (self.best.n_components, self.best.n_classes)
            )

    def _has_converged(self) -> bool:
        likelihood = self.history["log_likelihood"]
        sizes = self.history["n_components"]
        if len(likelihood) < 2 or sizes[-1] != sizes[-2]:
            return False
        total_weight = self.mass.sum()
        return bool(likelihood[-1] - likelihood[-2] <= self.tol * total_weight)
