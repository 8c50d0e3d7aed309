"""Held-out errors of the staged SVM's settings: who leads, by how much, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._held_out import HeldOut
from localsvm.estimators._staged.setting import StagedSetting

# Parameters that belong to one term of a sum.
_OWN = {
    "additive": ("additive_C",),
    "regions": ("C",),
    "rbf": ("gamma_factor", "kernel_C"),
    "laplace": ("laplace_C",),
}
# Standard errors by which a challenger has to win, and within which it is close.
CLEAR, CLOSE, SLIGHT = 1.0, 2.0, 0.5


@dataclass(frozen=True)
class Evaluation:
    """Held-out errors of settings that share their preparation.

    Attributes
    ----------
    question : str
    settings : list of StagedSetting
        The cheapest first.
    wrong : ndarray of shape (n_settings, n_held_out), bool
    weight : ndarray of shape (n_held_out,)
    n_rows : int
        Rows that took part, trained on or held out.
    seconds : float
    cell_sizes : list of int, None or "auto"
        Rows of a cell, as each setting was tried.
    losses : ndarray of shape (n_settings, n_held_out) or None, default=None
        Logistic loss of each held-out row, of sums.
    costs : ndarray of shape (n_settings, n_held_out) or None, default=None
        What the choice of a sum minimises.
    """

    question: str
    settings: list[StagedSetting]
    wrong: NDArray[np.bool_]
    weight: NDArray[np.float64]
    n_rows: int
    seconds: float
    cell_sizes: Sequence[int | Literal["auto"] | None]
    losses: NDArray[np.float64] | None = None
    costs: NDArray[np.float64] | None = None

    @property
    def errors(self) -> NDArray[np.float64]:
        """Weighted share of errors of each setting."""
        return np.asarray(self.wrong @ self.weight / self.weight.sum())

    def best(self, incumbent: StagedSetting | None = None) -> int:
        """Find the fewest errors; what is not the incumbent's has to earn it.

        Of settings that differ in their threshold alone, a larger one has to lead, too.
        """
        variants: dict[StagedSetting, list[int]] = {}
        for i, setting in enumerate(self.settings):
            variants.setdefault(replace(setting, threshold=0.0), []).append(i)
        chosen = {
            variant: self._best_threshold(same) for variant, same in variants.items()
        }
        errors = self.errors
        best = min(chosen.values(), key=lambda i: errors[i])
        if incumbent is None:
            return best
        known = chosen.get(replace(incumbent, threshold=0.0), best)
        return best if self._leads(best, known, SLIGHT) else known

    def _best_threshold(self, same: list[int]) -> int:
        ascending = sorted(same, key=lambda i: self.settings[i].threshold)
        best = ascending[0]
        for i in ascending[1:]:
            if self._leads(i, best, _needed_lead(self.settings[i].threshold)):
                best = i
        return best

    def _leads(self, setting: int, other: int, needed: float) -> bool:
        return self.lead(self.wrong[setting], self.wrong[other]) > needed

    def lead(self, wrong: NDArray[np.bool_], other_wrong: NDArray[np.bool_]) -> float:
        """Errors fewer than another's on the held-out rows, in standard errors."""
        return self._paired(other_wrong.astype(float) - wrong)

    def cost_lead(self, setting: int, other: int) -> float:
        """By how much a cost is smaller than another, in standard errors."""
        assert self.costs is not None
        return self._paired(self.costs[other] - self.costs[setting])

    @property
    def mean_costs(self) -> NDArray[np.float64]:
        """Weighted mean cost of each setting."""
        assert self.costs is not None
        return np.asarray(self.costs @ self.weight / self.weight.sum())

    @property
    def mean_losses(self) -> NDArray[np.float64]:
        """Weighted mean loss of each setting; NaN of settings without losses."""
        if self.losses is None:
            return np.full(len(self.settings), np.nan)
        return np.asarray(self.losses @ self.weight / self.weight.sum())

    def _paired(self, difference: NDArray[np.float64]) -> float:
        """Sum of the weighted differences of rows, in standard errors."""
        gain = self.weight * difference
        spread = np.sqrt(np.square(gain).sum())
        return float(gain.sum() / spread) if spread > 0 else 0.0


@dataclass(frozen=True)
class Choice:
    """Result of a search.

    Attributes
    ----------
    setting : StagedSetting
    evaluations : list of Evaluation
        What was tried.
    unanswered : list of str
        Questions that there was no time for.
    held_out : HeldOut or None, default=None
        Decisions of the setting on rows that its fits had not seen; None where nothing
        was chosen by them.
    """

    setting: StagedSetting
    evaluations: Sequence[Evaluation] = ()
    unanswered: Sequence[str] = ()
    held_out: HeldOut | None = None


def _needed_lead(threshold: float) -> float:
    """Lead that a threshold needs over a smaller one, which answers in less time."""
    if np.isinf(threshold):
        return CLOSE
    return CLEAR if threshold > 1 else SLIGHT


def selection_table(
    evaluations: Sequence[Evaluation], chosen: StagedSetting
) -> dict[str, NDArray[Any]]:
    """List what was tried: one entry per setting and number of rows."""
    entries: dict[tuple[Any, ...], dict[str, Any]] = {}
    for evaluation in evaluations:
        for setting, cell_size, error, loss in zip(
            evaluation.settings,
            evaluation.cell_sizes,
            evaluation.errors,
            evaluation.mean_losses,
            strict=True,
        ):
            known = _recorded(replace(setting, cell_size=cell_size))
            n_held_out = len(evaluation.weight)
            key = (evaluation.n_rows, n_held_out, *map(str, known.values()))
            entry = {
                "question": evaluation.question,
                "n_rows": evaluation.n_rows,
                "n_held_out": n_held_out,
                **known,
                "error": float(error),
                "log_loss": float(loss),
                "seconds": evaluation.seconds / len(evaluation.settings),
                "chosen": known == _recorded(chosen),
            }
            entries.setdefault(key, entry)
    names = next(iter(entries.values()), {})
    return {
        name: np.array([entry[name] for entry in entries.values()]) for name in names
    }


def _recorded(setting: StagedSetting) -> dict[str, Any]:
    """Name the values that matter; without a second stage its own do not."""
    known = parameters_of(setting)
    if setting.join is None:
        if setting.threshold == 0:
            known |= dict.fromkeys(("cell_size", "gamma_factor", "kernel_C"))
        return known
    added = setting.join.of_terms
    unused = [
        name for term, names in _OWN.items() if term not in added for name in names
    ]
    known |= dict.fromkeys(unused)
    return known | {"join": " + ".join(added)}


def parameters_of(setting: StagedSetting) -> dict[str, Any]:
    """Parameters of :class:`~localsvm.StagedSVC` that give a setting."""
    known = {item.name: getattr(setting, item.name) for item in fields(setting)}
    join = "switch" if setting.join is None else setting.join.to_mapping()
    return known | {"join": join}
