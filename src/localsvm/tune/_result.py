"""What a race has tried and found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from localsvm.tune._scores import Score

_COLUMNS = ("rows", "method", "scaling", "parameters", "score", "seconds", "status")


@dataclass(frozen=True)
class Trial:
    """A candidate at a rung of the race.

    Attributes
    ----------
    rung : int
        From 0, the one with the fewest rows.
    n_rows : int
        Rows of a fit.
    n_fits : int
        Fits whose validation rows make up the score; 1, or the folds.
    method : str
    scaling : {"none", "standard", "minmax"}
    params : dict
        Parameters that differ from the estimator's defaults.
    score : float or None
        Accuracy on the validation rows, None if it did not come to that.
    standard_error : float or None
        Of the score.
    seconds : float
        Of the fits and predictions that were made for it.
    status : str
        "finished", "cut at 2.0 s", "failed: ..." or "not started: ...".
    """

    rung: int
    n_rows: int
    n_fits: int
    method: str
    scaling: str
    params: Mapping[str, Any]
    score: float | None
    standard_error: float | None
    seconds: float
    status: str


@dataclass(frozen=True, eq=False)
class RaceResult:
    """The winner of a race, its held-out score and everything that was tried.

    Attributes
    ----------
    best_estimator_ : estimator or Pipeline
        The winner, fitted to ``n_rows`` rows.
    best_method : str
    best_scaling : {"none", "standard", "minmax"}
    best_params : dict
        Parameters that differ from the estimator's defaults, those included that a
        staged SVM has chosen itself in the race.
    score : Score
        Accuracy on the test rows, which nothing was chosen by, of the winner fitted to
        ``n_score_rows`` of the others.
    n_rows : int
        Rows that ``best_estimator_`` was fitted to: all of them, test rows included, if
        the time allowed.
    n_score_rows : int
        Rows that the scored model was fitted to.
    trials : tuple of Trial
        In the order in which they came up.
    seconds : float
        Of the whole race.
    time_budget : float
    """

    best_estimator_: Any
    best_method: str
    best_scaling: str
    best_params: Mapping[str, Any]
    score: Score
    n_rows: int
    n_score_rows: int
    trials: tuple[Trial, ...]
    seconds: float
    time_budget: float

    def table(self, max_rows: int | None = None) -> str:
        """Every candidate's last score, the farthest and best first.

        Parameters
        ----------
        max_rows : int or None, default=None
            Candidates shown; None is all.

        Returns
        -------
        str
        """
        order = sorted(self._last_trials(), key=_standing)
        lines = [list(_COLUMNS), *map(_cells, order[:max_rows])]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = [
            "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        hidden = len(order) - (len(lines) - 1)
        return "\n".join([*text, f"and {hidden} more"] if hidden > 0 else text)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the estimator, as plain data for JSON.

        Returns
        -------
        dict
        """
        return {
            "method": self.best_method,
            "scaling": self.best_scaling,
            "params": _plain(self.best_params),
            "score": self.score.to_dict(),
            "n_rows": self.n_rows,
            "n_score_rows": self.n_score_rows,
            "seconds": self.seconds,
            "time_budget": self.time_budget,
            "trials": [
                {**asdict(trial), "params": _plain(trial.params)}
                for trial in self.trials
            ],
        }

    def _last_trials(self) -> list[Trial]:
        """Every candidate's last trial with a score, and what came after it."""
        last: dict[tuple[str, ...], Trial] = {}
        for trial in self.trials:
            key = (trial.method, trial.scaling, _call(trial.params))
            before = last.get(key)
            if before is not None and trial.score is None:
                status = f"{before.status}; {trial.n_rows} rows {trial.status}"
                trial = replace(before, status=status)
            last[key] = trial
        return list(last.values())

    def __str__(self) -> str:
        finished = sum(trial.score is not None for trial in self.trials)
        scaling = "" if self.best_scaling == "none" else f" after {self.best_scaling}"
        return (
            f"{self.best_method}({_call(self.best_params)}){scaling}"
            f"{' scaling' if scaling else ''}, fitted to {self.n_rows} rows\n"
            f"Held-out accuracy {self.score}, fitted to {self.n_score_rows} rows\n"
            f"{finished} trials in {self.seconds:.1f} s"
        )


def _standing(trial: Trial) -> tuple[Any, ...]:
    """Place in the table: finished before not, higher rungs, then better scores."""
    if trial.score is None:
        return 1, -trial.rung, 0.0
    return 0, -trial.rung, -trial.score


def _cells(trial: Trial) -> list[str]:
    score = "-"
    if trial.score is not None:
        score = f"{trial.score:.4f} ± {trial.standard_error:.4f}"
    fits = f" x {trial.n_fits}" if trial.n_fits > 1 else ""
    return [
        f"{trial.n_rows}{fits}",
        trial.method,
        trial.scaling,
        _call(trial.params),
        score,
        f"{trial.seconds:.2f}",
        trial.status,
    ]


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as JSON has them, which knows no infinity and no objects."""
    return {
        name: repr(v) if hasattr(v, "get_params") else "inf" if v == math.inf else v
        for name, v in params.items()
    }


def _call(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in params.items())
