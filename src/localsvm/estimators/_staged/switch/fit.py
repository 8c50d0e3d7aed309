"""The fit of both stages: all rows to the first, the hard ones to the second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._regional import (
    RegionalFit,
    confidences,
    margins,
    unseen_decisions,
)
from localsvm.estimators._staged.preparation.learn import Preparations
from localsvm.estimators._staged.setting import (
    HardRows,
    KernelTerm,
    StagedSetting,
    StageOptions,
)
from localsvm.estimators._staged.switch.model import SwitchModel
from localsvm.estimators._staged.terms.cells import KernelFit, fit_kernel
from localsvm.estimators._staged.terms.regions import fit_regions
from localsvm.rows import Rows


@dataclass(frozen=True)
class FirstStage:
    """Soft regions of linear SVMs, and their decisions on the training rows.

    Attributes
    ----------
    fit : RegionalFit
    margin : ndarray of shape (n_rows,)
        Lead of each training row's own class when the row is left out.
    confidence : ndarray of shape (n_rows,)
        Lead of the class that wins, the row being seen.
    seconds : dict of str to float
        Seconds of the fit by stage.
    """

    fit: RegionalFit
    margin: NDArray[np.float64]
    confidence: NDArray[np.float64]
    seconds: dict[str, float]


@dataclass(frozen=True)
class SwitchFit:
    """Result of a fit of both stages.

    Attributes
    ----------
    model : SwitchModel
    index : ndarray of shape (n_fitted,)
        Which of the training rows were fitted.
    rows : Rows
        Those rows, prepared.
    first : FirstStage
    second : KernelFit or None
    hard : HardRows or None
        Rows of the second stage among the fitted ones.
    in_full : bool, default=True
        Whether all rows were fitted, to ``tol`` and ``max_iter``.
    """

    model: SwitchModel
    index: NDArray[np.intp]
    rows: Rows
    first: FirstStage
    second: KernelFit | None = None
    hard: HardRows | None = None
    in_full: bool = True

    @property
    def n_hard(self) -> int:
        """Rows of the second stage."""
        return 0 if self.hard is None else len(self.hard.index)

    @property
    def cell_size(self) -> int | None:
        """Rows of a cell of the second stage; None is one model."""
        return None if self.hard is None else self.hard.cell_size

    @property
    def n_support(self) -> NDArray[np.intp]:
        """Fitted rows of each class with a non-zero dual in either stage."""
        support = (self.first.fit.duals != 0).any(axis=0)
        if self.second is not None and self.hard is not None:
            support[self.hard.index] |= self.second.is_support
        return np.bincount(
            self.rows.class_index[support], minlength=self.rows.n_classes
        )

    @property
    def stage(self) -> NDArray[np.int64]:
        """Stage, 1 or 2, that answers each fitted row."""
        hard = self.first.confidence <= self.model.threshold
        return np.where(hard & (self.second is not None), 2, 1)


def fit_switch(
    rows: Rows, index: NDArray[np.intp], setting: StagedSetting, options: StageOptions
) -> SwitchFit:
    """Take steps 1 to 3 for the rows at the given places."""
    clock = options.clock
    rows = rows if len(index) == rows.n_rows else rows.take(index)
    with clock.stage("prepare"):
        preparation = Preparations(rows, options).learn(setting, options)
        rows = replace(rows, X=preparation.apply(rows.X, options.n_jobs))
    with clock.stage("first"):
        (first,) = fit_first(rows, (setting.C,), options)
    regions, linear = first.fit.coded.regions, first.fit.model
    model = SwitchModel(preparation, regions, linear, None, setting.threshold)
    if setting.threshold == 0:
        return SwitchFit(model, index, rows, first)
    with clock.stage("second"):
        hard = options.sizes.hard_rows(first.margin, setting.cell_size)
        second = fit_second(rows.take(hard.index), setting, hard.cell_size, options)
    return SwitchFit(
        replace(model, second=second.fit.model),
        index,
        rows,
        first,
        second,
        hard,
    )


def fit_first(
    rows: Rows, Cs: Sequence[float], options: StageOptions
) -> list[FirstStage]:
    """Fit prepared rows for ascending penalties, and decide them as unseen ones."""
    stages = []
    for fit, seconds in fit_regions(rows, Cs, options):
        decisions = fit.decide_training_rows(rows.X, options.n_jobs)
        unseen = unseen_decisions(rows, fit, decisions)
        margin = margins(unseen, rows.class_index)
        stages.append(FirstStage(fit, margin, confidences(decisions), seconds))
    return stages


def fit_second(
    rows: Rows, setting: StagedSetting, cell_size: int | None, options: StageOptions
) -> KernelFit:
    """Fit RBF SVMs to the hard ones of the prepared rows, in cells or as one."""
    term = KernelTerm("rbf", setting.gamma_factor, setting.kernel_C, cell_size)
    return fit_kernel(rows, term, options)
