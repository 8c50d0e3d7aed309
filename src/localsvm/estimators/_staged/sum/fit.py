"""The fit of a sum: each term to all rows, on the rows that it sees."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from localsvm._clock import StageClock
from localsvm.estimators._additive import (
    AdditiveFit,
    BinnedRows,
    ColumnBins,
    fit_additive,
    learn_bins,
)
from localsvm.estimators._endings import check_solution
from localsvm.estimators._regional import RegionalFit
from localsvm.estimators._staged.preparation import ColumnCode, Preparation
from localsvm.estimators._staged.preparation.learn import Preparations
from localsvm.estimators._staged.setting import KernelTerm, StagedSetting, StageOptions
from localsvm.estimators._staged.sum.model import RegionAnswer, SumModel, SumTerm
from localsvm.estimators._staged.sum.terms import (
    AdditiveTerm,
    CellTerm,
    RegionTerm,
    RowMap,
    additive_limits,
    additive_settings,
    terms_of,
)
from localsvm.estimators._staged.terms.cells import KernelFit, fit_kernel
from localsvm.estimators._staged.terms.regions import fit_regions
from localsvm.rows import Rows


@dataclass(frozen=True)
class RegionStage:
    """A fit of the regions, the rows that it saw, and its seconds by stage."""

    fit: RegionalFit
    rows: Rows
    seconds: dict[str, float]


@dataclass(frozen=True)
class CellStage:
    """A fit of kernel SVMs, and what was fitted."""

    fit: KernelFit
    term: KernelTerm


@dataclass(frozen=True)
class AdditiveStage:
    """A fit of the additive term, the rows by their bins, and its seconds."""

    fit: AdditiveFit
    rows: BinnedRows
    seconds: dict[str, float]


@dataclass(frozen=True)
class SumFit:
    """Result of the fit of a sum.

    Attributes
    ----------
    model : SumModel
    index : ndarray of shape (n_fitted,)
        Which of the training rows were fitted.
    rows : Rows
        Those rows.
    additive : AdditiveStage or None
    regions : RegionStage or None
    cells : dict of str to CellStage
        Kernel terms by name.
    in_full : bool, default=True
        Whether all rows were fitted, to ``tol`` and ``max_iter``.
    """

    model: SumModel
    index: NDArray[np.intp]
    rows: Rows
    additive: AdditiveStage | None
    regions: RegionStage | None
    cells: dict[str, CellStage]
    in_full: bool = True

    @property
    def n_support(self) -> NDArray[np.intp]:
        """Fitted rows of each class with a non-zero dual in any term."""
        support = np.zeros(self.rows.n_rows, dtype=bool)
        if self.additive is not None:
            # Every row has a logistic loss, and so a dual.
            support[:] = True
        if self.regions is not None:
            support |= (self.regions.fit.duals != 0).any(axis=0)
        for cell in self.cells.values():
            support |= cell.fit.is_support
        return np.bincount(
            self.rows.class_index[support], minlength=self.rows.n_classes
        )


def fit_sum(
    rows: Rows, index: NDArray[np.intp], setting: StagedSetting, options: StageOptions
) -> SumFit:
    """Fit the terms that the setting gives a weight.

    Parameters
    ----------
    rows : Rows
        Distinct, in random order; those at ``index`` are fitted.
    index : ndarray of shape (n_fitted,)
    setting : StagedSetting
    options : StageOptions
    """
    assert setting.join is not None
    rows = rows if len(index) == rows.n_rows else rows.take(index)
    added, possible = setting.join.of_terms, terms_of(setting)
    maps = _Maps(rows, options)
    additive, regions, cells = None, None, {}
    terms: dict[str, SumTerm] = {}
    for name in added:
        term = possible[name]
        with options.clock.stage(name):
            if isinstance(term, AdditiveTerm):
                additive = fit_additive_term(rows, term.C, options)
            elif isinstance(term, RegionTerm):
                preparation, prepared = maps.of(term.rows)
                ((fit, seconds),) = fit_regions(prepared, (term.C,), options)
                regions = RegionStage(fit, prepared, seconds)
                answer = RegionAnswer(fit.coded.regions, fit.model)
                terms[name] = SumTerm(preparation, answer)
            elif isinstance(term, CellTerm):
                preparation, prepared = maps.of(term.rows)
                kernel = _whole(term.kernel, rows.n_rows)
                stage = fit_kernel(prepared, kernel, options)
                cells[name] = CellStage(stage, kernel)
                terms[name] = SumTerm(preparation, stage.fit.model)
    tables = None if additive is None else additive.fit.model
    model = SumModel(setting.join, tables, terms, typical_row(rows, options))
    return SumFit(model, index, rows, additive, regions, cells)


def typical_row(rows: Rows, options: StageOptions) -> NDArray[np.float64]:
    """Median of each number and most frequent level of each category."""
    columns = ColumnCode.learn(rows, options.categorical)
    typical = np.empty(columns.n_columns)
    typical[columns.numbers] = columns.medians
    for column in columns.categories:
        levels, place = np.unique(rows.X[:, column], return_inverse=True)
        typical[column] = levels[np.bincount(place, rows.sample_weight).argmax()]
    return typical


def fit_additive_term(rows: Rows, C: float, options: StageOptions) -> AdditiveStage:
    """Fit the additive term to rows as they are."""
    clock = StageClock()
    with clock.stage("bins"):
        bins, binned = bin_columns(rows, options)
    with clock.stage("solve"):
        fit = fit_additive(
            *binned.arguments(bins), additive_settings(C), additive_limits(options)
        )
    check_solution(fit, options)
    return AdditiveStage(fit, binned, clock.seconds)


def bin_columns(rows: Rows, options: StageOptions) -> tuple[ColumnBins, BinnedRows]:
    """Learn the bins of the additive term, and find those of the rows."""
    categorical = options.categorical
    if categorical is None:
        categorical = np.zeros(rows.X.shape[1], dtype=bool)
    bins = learn_bins(rows.X, rows.sample_weight, categorical)
    codes = bins.encode(rows.X, options.n_jobs)
    return bins, BinnedRows(
        codes, rows.class_index, rows.penalty_weight, rows.n_classes
    )


def _whole(term: KernelTerm, n_rows: int) -> KernelTerm:
    """One model, where all rows fit into a cell."""
    cut = term.cell_size is not None and n_rows > term.cell_size
    return term if cut else replace(term, cell_size=None)


class _Maps:
    """Preparations that were learned, and the rows that they gave."""

    def __init__(self, rows: Rows, options: StageOptions) -> None:
        self._rows, self._options = rows, options
        self._preparations = Preparations(rows, options)
        self._known: dict[RowMap, tuple[Preparation, Rows]] = {}

    def of(self, how: RowMap) -> tuple[Preparation, Rows]:
        if how not in self._known:
            preparation = self._preparations.learn(how, self._options)
            X = preparation.apply(self._rows.X, self._options.n_jobs)
            self._known[how] = preparation, replace(self._rows, X=X)
        return self._known[how]
