"""The search of the staged SVM: held-out errors decide what was left open."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from localsvm.estimators._held_out import MOST_HELD_OUT, HeldOut
from localsvm.estimators._staged.evaluation import (
    CLEAR,
    CLOSE,
    SLIGHT,
    Choice,
    Evaluation,
)
from localsvm.estimators._staged.grid import Grid
from localsvm.estimators._staged.jobs import OutOfTimeError, keeping
from localsvm.estimators._staged.setting import (
    MOST_PAIRED_CLASSES,
    StagedSetting,
    StageOptions,
)
from localsvm.estimators._staged.switch.trial import Trial, TrialRows
from localsvm.rows import Fold, Rows, held_out_first, stratified_folds

FEWEST_ROWS_TO_HOLD_OUT = 10_000

_N_FOLDS, _FIRST_FOLDS = 3, 2
_TRIAL_ROWS = 16_000
_TRIAL_SHARE = 0.3
_FULL_SHARE = 0.2
_MOST_HELD_OUT = 10_000
# Values of width and penalty that are tried at first.
_N_FIRST = {"gamma_factor": 3, "kernel_C": 2}


def _needed_of(question: str, value: Any) -> float:
    """Lead that a way to prepare rows needs over a cheaper or plainer one."""
    if question == "n_components":
        return CLOSE
    return CLEAR if value in ("quantile", "ranks", "full", "diagonal") else 0.0


def choose_switch(rows: Rows, grid: Grid, options: StageOptions) -> Choice:
    """Choose preparation, penalties, widths and threshold, in half of the time at most.

    Parameters
    ----------
    rows : Rows
        Distinct, in random order.
    grid : Grid
    options : StageOptions
        Of the fit.
    """
    search = _Search(rows, grid, options.for_search())
    setting = search.run()
    if search.unanswered and not search.evaluations:
        # Nothing is known of the columns: the safest scaling, one stage.
        safe = "standard" if "standard" in grid.scaling else setting.scaling
        setting = replace(setting, scaling=safe)
    held_out = search.decide_first(setting, MOST_HELD_OUT)
    return Choice(setting, search.evaluations, search.unanswered, held_out)


@dataclass
class _Search:
    """Asks one question after the other, and keeps what was tried."""

    rows: Rows
    grid: Grid
    options: StageOptions
    evaluations: list[Evaluation] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    _trials: dict[tuple[Any, ...], Trial] = field(default_factory=dict)
    _rows: dict[bool, TrialRows] = field(default_factory=dict)

    def run(self) -> StagedSetting:
        """Choose preparation, penalties and widths; look at full size again."""
        best = self.grid.plain()
        if not self._trial_rows(full=False).folds:
            return best
        for question in ("scaling", "n_components", "gradient_metric"):
            best = self._choose_preparation(question, best)
        best = self._choose_penalty(best)
        if tuple(self.grid.threshold) == (0.0,):
            return best
        best = self._choose_kernel(best)
        return self._confirm(best) if self._confirms else best

    def decide_first(self, setting: StagedSetting, limit: int) -> HeldOut | None:
        """Decide held-out rows by the setting, if it was tried on them."""
        if self.unanswered or not self.evaluations:
            return None
        return self._trial(setting, full=self._confirms).decide_first(setting, limit)

    @property
    def _confirms(self) -> bool:
        """Whether the setting was tried on all rows at last."""
        return self._holds_out and tuple(self.grid.threshold) != (0.0,)

    def _out_of_time(self, question: str) -> bool:
        """Whether there is no time for a question, which is then left open."""
        late = self.options.is_late
        if late and question not in self.unanswered:
            self.unanswered.append(question)
        return late

    @contextmanager
    def _as_far_as_time_allows(self, question: str) -> Iterator[None]:
        """Leave a question open when the time ends while it is being asked."""
        is_asked = False
        try:
            with keeping(self.options):
                yield
                is_asked = True
        except OutOfTimeError:
            pass
        if not is_asked:
            self._out_of_time(question)

    @property
    def _holds_out(self) -> bool:
        many_classes = self.rows.n_classes > MOST_PAIRED_CLASSES
        return many_classes or self.rows.n_rows >= FEWEST_ROWS_TO_HOLD_OUT

    def _choose_preparation(self, question: str, best: StagedSetting) -> StagedSetting:
        """Keep the first value unless another one is clearly better."""
        for value in getattr(self.grid, question)[1:]:
            challenger = replace(best, **{question: value})
            if self._wins(question, best, challenger):
                best = challenger
        return best

    def _wins(
        self, question: str, best: StagedSetting, challenger: StagedSetting
    ) -> bool:
        """Whether the challenger is better; on more folds if it is close."""
        if self._out_of_time(question):
            return False
        needed = _needed_of(question, getattr(challenger, question))
        lead = 0.0
        with self._as_far_as_time_allows(question):
            for n_folds in self._levels:
                old, new = (
                    self._evaluate(
                        question, self.grid.plain_variants(setting), n_folds=n_folds
                    )
                    for setting in (best, challenger)
                )
                lead = new.lead(new.wrong[new.best()], old.wrong[old.best()])
                if abs(lead) > CLOSE or lead < 0 < needed:
                    break
        return lead > needed

    @property
    def _levels(self) -> tuple[int, ...]:
        """Folds on which candidates are compared, as long as it is close."""
        return (1,) if self._holds_out else (_FIRST_FOLDS, _N_FOLDS)

    def _choose_penalty(self, best: StagedSetting) -> StagedSetting:
        """Penalty of the first stage: by both stages, near ties by the first alone."""
        if len(self.grid.C) == 1 or self._out_of_time("C"):
            return best
        evaluations: dict[float, Evaluation] = {}
        with self._as_far_as_time_allows("C"):
            for C in self.grid.C:
                settings = self.grid.with_thresholds(replace(best, C=C))
                evaluations[C] = self._evaluate("C", settings)
        if not evaluations:
            return best
        answers = {C: tried.wrong[tried.best()] for C, tried in evaluations.items()}
        least = min(answers, key=lambda C: answers[C] @ evaluations[C].weight)
        close = [
            C
            for C, tried in evaluations.items()
            if tried.lead(answers[least], answers[C]) <= SLIGHT
        ]
        C = min(close, key=lambda C: evaluations[C].errors[0])
        tried = evaluations[C]
        return tried.settings[tried.best()]

    def _choose_kernel(self, best: StagedSetting) -> StagedSetting:
        """Width and penalty, a step further where an edge is best; then the cells."""
        best = self._ask(
            "kernel",
            best,
            gamma_factor=self.grid.gamma_factor[: _N_FIRST["gamma_factor"]],
            kernel_C=self.grid.kernel_C[: _N_FIRST["kernel_C"]],
        )
        for name, n_first in _N_FIRST.items():
            last, *more = getattr(self.grid, name)[n_first - 1 :] or (None,)
            if more and getattr(best, name) == last:
                best = self._ask("kernel", best, full=False, **{name: (last, *more)})
        return self._choose_cells(best)

    def _choose_cells(self, best: StagedSetting) -> StagedSetting:
        """Decide how the hard rows are cut: the fit takes it as it was tried."""
        if best.cell_size != "auto" or self._out_of_time("cells"):
            return best
        cell_size = self._trial(best).cell_size(best)
        if cell_size is None:
            return replace(best, cell_size=None)
        best = replace(best, cell_size=cell_size)
        return self._ask("cells", best, cell_size=self.grid.cell_size)

    def _confirm(self, best: StagedSetting) -> StagedSetting:
        """At full size: whether more rows bear more, and whether stage two pays."""
        return self._ask(
            "confirm",
            best,
            full=True,
            C=_with_next(sorted(self.grid.C), best.C),
            gamma_factor=_with_next(self.grid.gamma_factor, best.gamma_factor),
        )

    def _ask(
        self,
        question: str,
        best: StagedSetting,
        *,
        full: bool = False,
        **values: Sequence[Any],
    ) -> StagedSetting:
        """Best setting for all combinations of the values, and of the thresholds."""
        settings = [
            setting
            for combination in product(*values.values())
            for setting in self.grid.with_thresholds(
                replace(best, **dict(zip(values, combination, strict=True)))
            )
        ]
        if len(settings) == 1 or self._out_of_time(question):
            return best if len(settings) > 1 else settings[0]
        with self._as_far_as_time_allows(question):
            evaluation = self._evaluate(question, settings, full)
            best = evaluation.settings[evaluation.best(best)]
        return best

    def _evaluate(
        self,
        question: str,
        settings: list[StagedSetting],
        full: bool = False,
        n_folds: int = _N_FOLDS,
    ) -> Evaluation:
        """Held-out errors of settings with one preparation."""
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trial = self._trial(settings[0], full)
            wrong = trial.wrong(settings, n_folds)
        evaluation = Evaluation(
            question,
            settings,
            wrong,
            trial.weight(n_folds),
            trial.n_rows,
            time.perf_counter() - start,
            [trial.cell_size(setting) for setting in settings],
        )
        self.evaluations.append(evaluation)
        return evaluation

    def _trial(self, setting: StagedSetting, full: bool = False) -> Trial:
        key = (setting.scaling, setting.n_components, setting.gradient_metric, full)
        if key not in self._trials:
            rows = self._trial_rows(full)
            # Of the rows that are trained on: the fit has to do as the trial did.
            n_train = len(rows.folds[0][0])
            options = self.options.for_share(n_train / self.rows.n_rows)
            self._trials[key] = Trial(rows, setting, options)
        return self._trials[key]

    def _trial_rows(self, full: bool) -> TrialRows:
        """Rows in folds, or in a trained and a held-out part; ``full`` takes all."""
        if full not in self._rows:
            self._rows[full] = TrialRows(*self._folds(full), self.options)
        return self._rows[full]

    def _folds(self, full: bool) -> tuple[Rows, list[Fold]]:
        class_index = self.rows.class_index
        if not self._holds_out:
            return self.rows, stratified_folds(class_index, _N_FOLDS)
        n_rows = self.rows.n_rows
        if full:
            n_test = min(int(_FULL_SHARE * n_rows), _MOST_HELD_OUT)
        else:
            n_rows = min(n_rows, _TRIAL_ROWS)
            n_test = int(_TRIAL_SHARE * n_rows)
        folds = held_out_first(class_index, n_rows, n_test)
        return self.rows.take(np.arange(n_rows)), folds


def _with_next(values: Sequence[float], value: float) -> Sequence[float]:
    """Take a value and the one that follows it."""
    position = list(values).index(value)
    return values[position : position + 2]
