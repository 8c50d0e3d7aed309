"""The terms of a sum as settings, and how each is fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

from localsvm._threads import effective_n_jobs
from localsvm.estimators._additive import AdditiveSettings
from localsvm.estimators._staged.setting import KernelTerm, StagedSetting, StageOptions
from localsvm.solvers import RunLimits

# Logistic loss orders rows of a rare class better; accuracies are the same.
ADDITIVE_LOSS = "logistic"
# Steps of Newton's method; it takes ten.
_NEWTON_STEPS = 100
_ADDITIVE_TOL = 1e-3


@dataclass(frozen=True)
class RowMap:
    """How rows are prepared for a term.

    Attributes
    ----------
    scaling, n_components, gradient_metric
        As in :class:`~localsvm.StagedSVC`.
    """

    scaling: str
    n_components: int | None = None
    gradient_metric: str | None = None

    @classmethod
    def of(cls, setting: StagedSetting) -> RowMap:
        """Give the preparation of the regions and of the RBF kernel."""
        return cls(setting.scaling, setting.n_components, setting.gradient_metric)


# The Laplace kernel sees ranks: its sum of widths leaves nothing else to choose.
LAPLACE_ROWS = RowMap("ranks")


@dataclass(frozen=True)
class AdditiveTerm:
    """One table of effects per column, of the rows as they are."""

    C: float


@dataclass(frozen=True)
class RegionTerm:
    """Linear SVMs in soft regions of prepared rows."""

    rows: RowMap
    C: float


@dataclass(frozen=True)
class CellTerm:
    """Kernel SVMs of prepared rows."""

    rows: RowMap
    kernel: KernelTerm


Term = AdditiveTerm | RegionTerm | CellTerm


def is_prepared(term: Term) -> TypeGuard[RegionTerm | CellTerm]:
    """Whether a term sees prepared rows; the additive one sees them as they are."""
    return not isinstance(term, AdditiveTerm)


def terms_of(setting: StagedSetting) -> dict[str, Term]:
    """Terms that a setting could add, in the order of ``TERMS``."""
    rows, cell_size = RowMap.of(setting), setting.cell_size
    assert cell_size != "auto"
    terms: dict[str, Term] = {}
    if setting.additive_C is not None:
        terms["additive"] = AdditiveTerm(setting.additive_C)
    terms["regions"] = RegionTerm(rows, setting.C)
    rbf = KernelTerm("rbf", setting.gamma_factor, setting.kernel_C, cell_size)
    terms["rbf"] = CellTerm(rows, rbf)
    if setting.laplace_C is not None:
        laplace = KernelTerm("laplace", 1.0, setting.laplace_C, cell_size)
        terms["laplace"] = CellTerm(LAPLACE_ROWS, laplace)
    return terms


def additive_settings(C: float) -> AdditiveSettings:
    """Problem of the additive term."""
    return AdditiveSettings(C, ADDITIVE_LOSS)


def additive_limits(options: StageOptions) -> RunLimits:
    """How far the solver of the additive term goes."""
    return RunLimits(
        tol=min(options.tol, _ADDITIVE_TOL),
        max_iter=_NEWTON_STEPS,
        n_threads=effective_n_jobs(options.n_jobs),
        cancel=options.cancel,
        deadline=options.clock.deadline,
    )
