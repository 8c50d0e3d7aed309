"""The search of the sum: how rows are prepared, each term's penalty, the weights."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._held_out import MOST_HELD_OUT, HeldOut
from localsvm.estimators._join import learn_join, log_losses
from localsvm.estimators._staged.evaluation import (
    CLOSE,
    SLIGHT,
    Choice,
    Evaluation,
)
from localsvm.estimators._staged.grid import Grid
from localsvm.estimators._staged.jobs import OutOfTimeError, keeping
from localsvm.estimators._staged.setting import (
    CELL_SIZES,
    StagedSetting,
    StageOptions,
)
from localsvm.estimators._staged.sum.terms import RowMap, terms_of
from localsvm.estimators._staged.sum.trial import HeldOutLabels, SumTrial
from localsvm.estimators._staged.sum.weights import TERMS, SumWeights
from localsvm.rows import Rows, held_out_first, stratified_folds

# One kernel SVM takes up to as many rows; more are cut into cells.
LARGEST_MODEL = 10_000

_N_FOLDS = 3
# Up to as many rows each setting is tried on all folds, else on the first.
_FEW_ROWS, _FEW_RACE_ROWS = 4000, 1500
# Preparations race on as many rows, terms are chosen on as many.
_RACE_ROWS, _TRIAL_ROWS = 6000, 10_000
_TRIAL_SHARE = 0.3
# The best preparations of a race run in the next, and on all rows those that are not
# so many standard errors behind.
_FINALISTS, _HOPELESS = 4, 4.0
_FULL_SHARE, _MOST_HELD_OUT = 0.2, 10_000
# From as many rows on, preparations race again on half as many, and cells and widths
# are chosen again on all rows.
_MANY_ROWS = 40_000
# Votes of pairs have a poor log loss and may yet make few errors: of several classes
# both count.
_LOSS_SHARE = 0.25
# Standard errors by which a term has to lower the loss.
_NEEDED = 0.25
# What a preparation is tried with.
_PLAIN = {"gamma_factor": 4.0, "kernel_C": 1.0, "additive_C": 10.0, "laplace_C": 3.0}


def choose_sum(rows: Rows, grid: Grid, options: StageOptions) -> Choice | None:
    """Choose the terms of a sum, in half of the time at most.

    Parameters
    ----------
    rows : Rows
        Distinct, in random order.
    grid : Grid
    options : StageOptions
        Of the fit.

    Returns
    -------
    Choice or None
        None where no row can be held out, or the time was too short for any sum.
    """
    search = _SumSearch(rows, grid, options.for_search())
    setting = search.run()
    if setting is None or setting.join is None:
        return None
    return Choice(setting, search.evaluations, search.unanswered, search.held_out)


@dataclass
class _SumSearch:
    """Asks one question after the other, and keeps what was tried."""

    rows: Rows
    grid: Grid
    options: StageOptions
    evaluations: list[Evaluation] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    held_out: HeldOut | None = None
    _finalists: list[RowMap] = field(default_factory=list)

    def run(self) -> StagedSetting | None:
        """Race the preparations, then choose term by term, then the weights."""
        races, trial, full = self._trials()
        if trial is None:
            return None
        best = self._plain()
        with self._as_far_as_time_allows("scaling"):
            best = self._race(races, best)
        for name, questions in self._questions().items():
            with self._as_far_as_time_allows(name):
                best = self._ask(name, trial, best, questions)
        if best.join is None:
            return None
        if full is not trial:
            with self._as_far_as_time_allows("terms"):
                best = self._without_idle(trial, best, 0.0)
        with self._as_far_as_time_allows("join"):
            best = self._choose_join(full, best)
            self.held_out = _decided(full, best)
        return best

    @property
    def _holds_out(self) -> bool:
        return self.rows.n_rows >= LARGEST_MODEL

    def _trials(self) -> tuple[Any, ...]:
        """Trials of the preparations, of the terms, and of the weights."""
        n_rows = self.rows.n_rows
        if not self._holds_out:
            folds = stratified_folds(self.rows.class_index, _N_FOLDS)
            trial = SumTrial(self.rows, folds, self.options) if folds else None
            few = n_rows <= _RACE_ROWS
            return [trial if few else self._part(_RACE_ROWS)], trial, trial
        n_test = min(int(_FULL_SHARE * n_rows), _MOST_HELD_OUT)
        races, full = [self._part(_RACE_ROWS)], self._held_out(n_rows, n_test)
        trial = self._part(min(_TRIAL_ROWS, n_rows))
        if n_rows >= _MANY_ROWS:
            races.append(self._part(_MANY_ROWS // 2))
        return races, trial, full

    def _part(self, n_rows: int) -> SumTrial | None:
        return self._held_out(n_rows, int(_TRIAL_SHARE * n_rows))

    def _held_out(self, n_rows: int, n_test: int) -> SumTrial | None:
        folds = held_out_first(self.rows.class_index, n_rows, n_test)
        rows = self.rows.take(np.arange(n_rows))
        return SumTrial(rows, folds, self.options) if folds else None

    def _plain(self) -> StagedSetting:
        """Give the setting that the search starts from."""
        given, grid = self.grid.plain(), self.grid
        n_rows = self.rows.n_rows
        cell_size = given.cell_size
        if cell_size == "auto":
            cell_size = None if n_rows <= LARGEST_MODEL else CELL_SIZES[-1]
        return replace(
            given,
            threshold=np.inf,
            cell_size=cell_size,
            **{name: grid.nearest(name, value) for name, value in _PLAIN.items()},
        )

    def _race(self, trials: Sequence[SumTrial], best: StagedSetting) -> StagedSetting:
        """Try pairs of scaling and metric, which win together or not at all.

        Few rows in columns of one unit need no metric. What leads on few rows need not
        lead on many: the best run again. Columns without a metric stay if nothing is
        better by half a standard error.
        """
        every = self._holds_out or len(self.grid.scaling) == 1
        settings = [
            replace(best, scaling=scaling, gradient_metric=metric)
            for scaling, metric in product(self.grid.scaling, self.grid.gradient_metric)
            if metric is None or scaling != "none" or every
        ]
        for trial in trials:
            n_folds = trial.n_folds if trial.n_rows <= _FEW_RACE_ROWS else 1
            tried = self._evaluate("scaling", trial, settings, n_folds)
            order = np.argsort(tried.mean_costs, kind="stable")
            first = tried.settings[_clearest(tried, int(order[0]))]
            for place in order[1:]:
                trial.forget(RowMap.of(settings[place]))
            # Cells of the next race are those in which the best meet on all rows.
            settings = [
                replace(settings[place], cell_size=self.grid.cell_size[0])
                for place in order[:_FINALISTS]
                if trial is not trials[-1]
                or tried.cost_lead(int(order[0]), int(place)) <= _HOPELESS
            ]
        self._finalists = [RowMap.of(setting) for setting in settings]
        return replace(first, cell_size=best.cell_size)

    def _questions(self) -> dict[str, list[dict[str, Sequence[Any]]]]:
        """Values of each term that are open; those of a later step at the edge."""
        grid = self.grid
        return {
            "additive_C": [{"additive_C": grid.additive_C}],
            "laplace_C": [{"laplace_C": grid.laplace_C}],
            "gamma_factor": [{"gamma_factor": grid.gamma_factor[::2]}],
            "kernel_C": [
                {"kernel_C": grid.kernel_C[:2]},
                {"kernel_C": grid.kernel_C[1:]},
            ],
            "C": [{"C": grid.C}],
        }

    def _ask(
        self,
        question: str,
        trial: SumTrial,
        best: StagedSetting,
        steps: list[dict[str, Sequence[Any]]],
    ) -> StagedSetting:
        """Take the values that make the sum best; a further step from an edge."""
        n_folds = trial.n_folds if trial.n_rows <= _FEW_ROWS else 1
        for number, values in enumerate(steps):
            if number and any(
                getattr(best, name) != v[0] for name, v in values.items()
            ):
                continue
            settings = [
                replace(best, join=None, **dict(zip(values, combination, strict=True)))
                for combination in product(*values.values())
            ]
            if len(settings) > 1:
                tried = self._evaluate(question, trial, settings, n_folds)
                best = tried.settings[int(np.argmin(tried.mean_costs))]
        return best

    def _choose_join(self, trial: SumTrial, best: StagedSetting) -> StagedSetting:
        """Weigh the terms by the rows held out here."""
        best = replace(best, join=_unweighted(best))
        if best.cell_size is not None and self.rows.n_rows >= _MANY_ROWS:
            best = self._suit_many_rows(trial, best)
        tried = self._evaluate("join", trial, [best], trial.n_folds)
        best = tried.settings[0]
        return self._best_part(trial, self._without_idle(trial, best, _NEEDED))

    def _suit_many_rows(self, trial: SumTrial, best: StagedSetting) -> StagedSetting:
        """Let the best preparations meet on all rows; then choose cells and width.

        More rows bear narrower kernels, and smaller cells.
        """
        terms = best.join
        small = replace(best, cell_size=self.grid.cell_size[0])
        settings = [replace(small, **vars(each)) for each in self._finalists]
        if len(settings) > 1:
            tried = self._evaluate("scaling", trial, settings, trial.n_folds)
            best = tried.settings[_clearest(tried, int(np.argmin(tried.mean_costs)))]
        widths = [w for w in self.grid.gamma_factor if w >= best.gamma_factor][:2]
        settings = [
            replace(best, join=terms, cell_size=cell_size, gamma_factor=width)
            for cell_size, width in product(self.grid.cell_size, widths)
        ]
        tried = self._evaluate("cells", trial, settings, trial.n_folds)
        return tried.settings[int(np.argmin(tried.mean_costs))]

    def _without_idle(
        self, trial: SumTrial, best: StagedSetting, needed: float
    ) -> StagedSetting:
        """Drop the terms that lower the loss by no more than so many errors of it."""
        names = list(_weights_of(best).of_terms)
        while len(names) > 1:
            without = [
                _restricted(best, [kept for kept in names if kept != name])
                for name in names
            ]
            tried = self._evaluate("join", trial, [best, *without], trial.n_folds)
            least = 1 + int(np.argmin(tried.mean_costs[1:]))
            if tried.cost_lead(0, least) > needed:
                break
            best = tried.settings[least]
            names = list(_weights_of(best).of_terms)
        return best

    def _best_part(self, trial: SumTrial, best: StagedSetting) -> StagedSetting:
        """One term alone, if it makes clearly fewer errors than the sum."""
        names = list(_weights_of(best).of_terms)
        if len(names) == 1:
            return best
        settings = [best, *(_restricted(best, [name]) for name in names)]
        tried = self._evaluate("join", trial, settings, trial.n_folds)
        least = int(np.argmin(tried.errors))
        ahead = tried.lead(tried.wrong[least], tried.wrong[0]) > CLOSE
        return tried.settings[least] if ahead else best

    def _evaluate(
        self,
        question: str,
        trial: SumTrial,
        settings: list[StagedSetting],
        n_folds: int,
    ) -> Evaluation:
        """Held-out losses of sums, each with the weights that suit it best."""
        start = time.perf_counter()
        held_out = trial.held_out(n_folds)
        known: dict[Any, NDArray[np.float64]] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            terms = {term for each in settings for term in _added(each).values()}
            ordered = sorted(terms, key=repr)
            decisions = trial.decide(ordered, n_folds)
            known = dict(zip(ordered, decisions, strict=True))
        tried = [_joined(setting, known, held_out) for setting in settings]
        losses = np.array([losses for _, losses, _ in tried])
        wrong = np.array([wrong for _, _, wrong in tried])
        evaluation = Evaluation(
            question,
            [setting for setting, _, _ in tried],
            wrong,
            held_out.weight,
            trial.n_rows,
            time.perf_counter() - start,
            [setting.cell_size for setting in settings],
            losses,
            losses if self.rows.n_classes == 2 else wrong + _LOSS_SHARE * losses,
        )
        self.evaluations.append(evaluation)
        return evaluation

    @contextmanager
    def _as_far_as_time_allows(self, question: str) -> Iterator[None]:
        """Leave a question open when the time ends while it is being asked."""
        has_time, is_asked = not self.options.is_late, False
        try:
            with keeping(self.options):
                yield
                is_asked = True
        except OutOfTimeError:
            pass
        if not (has_time and is_asked) and question not in self.unanswered:
            self.unanswered.append(question)


def _clearest(tried: Evaluation, least: int) -> int:
    """Place of the plainest preparation that the best one is not clearly ahead of.

    Plain is standardised without a metric, then as the best is scaled without one.
    """
    for scaling in ("standard", tried.settings[least].scaling):
        for place, each in enumerate(tried.settings):
            is_plain = each.scaling == scaling and each.gradient_metric is None
            if is_plain and tried.cost_lead(least, place) <= SLIGHT:
                return place
    return least


def _decided(trial: SumTrial, setting: StagedSetting) -> HeldOut:
    """Decisions of the weighted terms on rows that were held out of their fits."""
    terms = list(_added(setting).values())
    rows, decisions = trial.decide_first(terms, MOST_HELD_OUT)
    return HeldOut(rows, _weights_of(setting).to_join().apply(decisions))


def _added(setting: StagedSetting) -> Mapping[str, Any]:
    """Terms that a setting adds; all that it could, where it has no weights yet."""
    terms = terms_of(setting)
    if setting.join is None:
        return terms
    return {name: terms[name] for name in setting.join.of_terms}


def _joined(
    setting: StagedSetting, known: Mapping[Any, Any], held_out: HeldOutLabels
) -> tuple[StagedSetting, NDArray[np.float64], NDArray[np.bool_]]:
    """Give the setting its best weights; its losses, and where it is wrong."""
    terms = _added(setting)
    decisions = [known[term] for term in terms.values()]
    join = learn_join(decisions, held_out.class_index, held_out.weight)
    total = join.apply(decisions)
    winner = total[:, 0] > 0 if total.shape[1] == 1 else total.argmax(axis=1)
    weights = SumWeights.of_join(list(terms), join)
    return (
        replace(setting, join=weights),
        log_losses(total, held_out.class_index),
        np.asarray(winner != held_out.class_index),
    )


def _weights_of(setting: StagedSetting) -> SumWeights:
    assert setting.join is not None
    return setting.join


def _unweighted(setting: StagedSetting) -> SumWeights:
    """Terms of a setting, all with the weight one."""
    weights = _weights_of(setting)
    return replace(weights, weights=tuple(float(w > 0) for w in weights.weights))


def _restricted(setting: StagedSetting, names: list[str]) -> StagedSetting:
    """Take a sum of some terms, whose weights are not known yet."""
    weights = _weights_of(setting)
    kept = tuple(float(name in names) for name in TERMS)
    return replace(setting, join=replace(weights, weights=kept))
