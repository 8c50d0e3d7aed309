"""Values that the search of the staged SVM tries, where the user has fixed none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy import sparse

from localsvm.estimators._staged.preparation.learn import METRICS
from localsvm.estimators._staged.setting import (
    CELL_SIZES,
    MOST_PAIRED_CLASSES,
    StagedSetting,
)
from localsvm.estimators._staged.sum.weights import SumWeights
from localsvm.rows import SCALED_C, Rows

_WIDE, _COMPONENTS = 110, (60, 240)
_NARROW_SCALINGS = ("none", "standard", "quantile")
_WIDE_SCALINGS = ("none", "standard", "unit")
_CS = (1.0, 10.0)
_GAMMA_FACTORS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_KERNEL_CS = (1.0, 10.0, 100.0)
_THRESHOLDS = (0.0, 1.0, 1.5, np.inf)
_ADDITIVE_CS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
_LAPLACE_CS = (1.0, 3.0, 10.0, 30.0)
# Fewer say nothing of weights.
_FEWEST_ROWS_TO_JOIN = 30
# Parameters that a switch, or a sum, does not have.
_OF_SUMS = ("additive_C", "laplace_C", "join")
_OF_SWITCH = ("threshold",)
# Of the first questions, which are about preparation.
_PLAIN_C, _PLAIN_GAMMA_FACTORS, _PLAIN_KERNEL_C = 1.0, (2.0, 4.0), 10.0


@dataclass(frozen=True)
class Grid:
    """Values that are open, the simplest first; one where the user has fixed it."""

    scaling: Sequence[str]
    n_components: Sequence[int | None]
    gradient_metric: Sequence[str | None]
    C: Sequence[float]
    cell_size: Sequence[int | None]
    gamma_factor: Sequence[float]
    kernel_C: Sequence[float]
    threshold: Sequence[float]
    additive_C: Sequence[float | None]
    laplace_C: Sequence[float | None]
    join: Sequence[str | SumWeights]

    @classmethod
    def names(cls) -> list[str]:
        """Names of the parameters that a search can choose."""
        return [item.name for item in fields(cls)]

    @classmethod
    def of(cls, rows: Rows, given: Mapping[str, Any]) -> Grid:
        """Values for rows like these, for the parameters that are "auto"."""
        joins = _joins(rows, given)
        scalings: tuple[str, ...] = _NARROW_SCALINGS
        metrics: tuple[str | None, ...] = METRICS
        components: tuple[int | None, ...] = (None,)
        if sparse.issparse(rows.X):
            scalings, metrics = _WIDE_SCALINGS, (None, "diagonal")
        elif rows.X.shape[1] > _WIDE:
            scalings, components = _WIDE_SCALINGS, _COMPONENTS
        offered = cls(
            scaling=scalings,
            n_components=components,
            gradient_metric=metrics,
            C=_CS,
            cell_size=CELL_SIZES,
            gamma_factor=_GAMMA_FACTORS,
            kernel_C=_KERNEL_CS,
            threshold=(0.0,) if rows.n_classes > MOST_PAIRED_CLASSES else _THRESHOLDS,
            additive_C=_ADDITIVE_CS,
            laplace_C=_LAPLACE_CS,
            join=joins,
        )
        fixed: dict[str, Any] = {
            # Prepared rows have mean squared norm one, as in the space of the kernel.
            name: (SCALED_C if _is(value, "scale") else value,)
            for name, value in given.items()
            if not _is(value, "auto") and name != "join"
        }
        return replace(offered, **fixed)

    @property
    def is_open(self) -> bool:
        """Whether anything is to be chosen."""
        if self.join == ("switch",):
            names = [name for name in self.names() if name not in _OF_SUMS]
        else:
            names = [name for name in self.names() if name not in _OF_SWITCH]
        more = any(len(getattr(self, name)) > 1 for name in names)
        return more or self.join == ("sum",)

    @property
    def offers_sum(self) -> bool:
        """Whether the search may join terms by a sum."""
        return "switch" not in self.join[:1]

    def first(self) -> StagedSetting:
        """Take the first of all values: the setting, where nothing is open."""
        setting = StagedSetting(*(getattr(self, name)[0] for name in self.names()))
        if isinstance(setting.join, SumWeights):
            return replace(setting, threshold=np.inf)
        return replace(setting, additive_C=None, laplace_C=None, join=None)

    def plain(self) -> StagedSetting:
        """Return the setting that the search starts from."""
        return replace(
            self.first(),
            cell_size="auto" if len(self.cell_size) > 1 else self.cell_size[0],
            C=_nearest(self.C, _PLAIN_C),
            gamma_factor=_nearest(self.gamma_factor, _PLAIN_GAMMA_FACTORS[0]),
            kernel_C=_nearest(self.kernel_C, _PLAIN_KERNEL_C),
        )

    def nearest(self, name: str, wanted: float) -> Any:
        """Value of a parameter that is nearest to one; None where it has none."""
        values = getattr(self, name)
        return None if values == (None,) else _nearest(values, wanted)

    def plain_variants(self, setting: StagedSetting) -> list[StagedSetting]:
        """Give a setting each of the thresholds, and two widths if they are open."""
        widths = [width for width in self.gamma_factor if width in _PLAIN_GAMMA_FACTORS]
        return [
            variant
            for width in widths or [setting.gamma_factor]
            for variant in self.with_thresholds(replace(setting, gamma_factor=width))
        ]

    def with_thresholds(self, setting: StagedSetting) -> list[StagedSetting]:
        """Give a setting each of the thresholds."""
        return [replace(setting, threshold=threshold) for threshold in self.threshold]


def _joins(rows: Rows, given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Ways to join terms: given ones, else a sum where columns are few and dense."""
    join = given.get("join", "auto")
    if isinstance(join, Mapping):
        return (SumWeights.of_mapping(join),)
    if not _is(join, "auto"):
        return (join,)
    is_table = not sparse.issparse(rows.X) and rows.X.shape[1] <= _WIDE
    may_sum = is_table and rows.n_classes <= MOST_PAIRED_CLASSES
    may_sum &= rows.n_rows >= _FEWEST_ROWS_TO_JOIN
    is_open = _is(given.get("threshold", "auto"), "auto")
    return ("sum",) if may_sum and is_open else ("switch",)


def _is(value: Any, word: str) -> bool:
    return isinstance(value, str) and value == word


def _nearest(values: Sequence[float], wanted: float) -> float:
    return min(values, key=lambda value: abs(np.log(value / wanted)))
