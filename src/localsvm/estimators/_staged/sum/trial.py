"""Held-out decisions of the terms of a sum; nothing is fitted twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._additive import AdditiveFit, fit_additive
from localsvm.estimators._staged.preparation.learn import learn_preparation
from localsvm.estimators._staged.setting import SecondGrid, StageOptions
from localsvm.estimators._staged.sum.fit import bin_columns
from localsvm.estimators._staged.sum.terms import (
    AdditiveTerm,
    CellTerm,
    RegionTerm,
    RowMap,
    Term,
    additive_limits,
    additive_settings,
)
from localsvm.estimators._staged.terms.regions import fit_regions
from localsvm.estimators._staged.terms.scores import score_kernels, stop_if_late
from localsvm.rows import Fold, Rows

Floats = NDArray[np.float64]


class SumTrial:
    """Terms that are fitted to some of the rows and decide the others.

    Parameters
    ----------
    rows : Rows
        Distinct, in random order.
    folds : list of Fold
    options : StageOptions
    """

    def __init__(self, rows: Rows, folds: list[Fold], options: StageOptions) -> None:
        self._rows, self._folds, self._options = rows, folds, options
        self._tried: list[_TriedFold] = []

    @property
    def n_rows(self) -> int:
        """Rows that are trained on or held out."""
        return self._rows.n_rows

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self._folds)

    def held_out(self, n_folds: int) -> HeldOut:
        """Held-out rows of the first folds."""
        tests = np.concatenate([test for _, test in self._folds[:n_folds]])
        return HeldOut(self._rows.class_index[tests], self._rows.penalty_weight[tests])

    def decide(self, terms: Sequence[Term], n_folds: int) -> list[Floats]:
        """Decisions of each term on the held-out rows of the first folds."""
        for train, test in self._folds[len(self._tried) : n_folds]:
            parts = self._rows.take(train), self._rows.take(test)
            self._tried.append(_TriedFold(*parts, self._options))
        tried = self._tried[:n_folds]
        for fold in tried:
            fold.fit(terms)
        return [np.concatenate([fold.known[term] for fold in tried]) for term in terms]

    def forget(self, rows: RowMap) -> None:
        """Free the rows of a preparation that lost."""
        for fold in self._tried:
            fold.prepared.pop(rows, None)


@dataclass(frozen=True)
class HeldOut:
    """Class and weight of held-out rows."""

    class_index: NDArray[np.int32]
    weight: Floats


class _TriedFold:
    """One fold, and the decisions of what was fitted to it so far."""

    def __init__(self, train: Rows, test: Rows, options: StageOptions) -> None:
        self._train, self._test, self._options = train, test, options
        self.known: dict[Term, Floats] = {}
        self.prepared: dict[RowMap, tuple[Rows, Rows]] = {}

    def fit(self, terms: Sequence[Term]) -> None:
        """Fit the terms that are not known; those on the same rows share their work."""
        missing = [term for term in dict.fromkeys(terms) if term not in self.known]
        self._fit_additive([t for t in missing if isinstance(t, AdditiveTerm)])
        regions: dict[RowMap, list[RegionTerm]] = defaultdict(list)
        cells: dict[tuple[Any, ...], list[CellTerm]] = defaultdict(list)
        for term in missing:
            if isinstance(term, RegionTerm):
                regions[term.rows].append(term)
            elif isinstance(term, CellTerm):
                key = term.rows, term.kernel.kernel, term.kernel.cell_size
                cells[key].append(term)
        for rows, of_regions in regions.items():
            self._fit_regions(rows, of_regions)
        for of_cells in cells.values():
            self._fit_cells(of_cells)

    def _fit_additive(self, terms: list[AdditiveTerm]) -> None:
        if not terms:
            return
        options = self._options
        bins, binned = bin_columns(self._train, options)
        queries = bins.encode(self._test.X, options.n_jobs)
        fit: AdditiveFit | None = None
        for term in sorted(terms, key=lambda each: each.C):
            settings, limits = additive_settings(term.C), additive_limits(options)
            fit = fit_additive(*binned.arguments(bins), settings, limits, fit)
            stop_if_late(options)
            self.known[term] = fit.model.decide_codes(queries, options.n_jobs)

    def _fit_regions(self, rows: RowMap, terms: list[RegionTerm]) -> None:
        train, test = self._prepare(rows)
        terms = sorted(terms, key=lambda each: each.C)
        fits = fit_regions(train, [term.C for term in terms], self._options)
        for term, (fit, _) in zip(terms, fits, strict=True):
            stop_if_late(self._options)
            decisions = fit.decide(test.X, self._options.n_jobs)
            self.known[term] = decisions.astype(np.float64)

    def _fit_cells(self, terms: list[CellTerm]) -> None:
        train, test = self._prepare(terms[0].rows)
        kernel = terms[0].kernel
        grid = SecondGrid(
            kernel.cell_size,
            sorted({term.kernel.gamma_factor for term in terms}),
            sorted({term.kernel.C for term in terms}),
            kernel.kernel,
        )
        scores = score_kernels(
            Rows.joined([train, test]), train.n_rows, grid, self._options
        )
        stop_if_late(self._options)
        place = 0
        for factor in grid.gamma_factors:
            for C in grid.penalties:
                known = replace(kernel, gamma_factor=factor, C=C)
                term = CellTerm(terms[0].rows, known)
                self.known[term] = np.asarray(scores[place], dtype=np.float64)
                place += 1

    def _prepare(self, how: RowMap) -> tuple[Rows, Rows]:
        """Training and held-out rows, prepared."""
        if how not in self.prepared:
            preparation = learn_preparation(self._train, how, self._options)
            stop_if_late(self._options)
            n_jobs = self._options.n_jobs
            train, test = (
                replace(rows, X=preparation.apply(rows.X, n_jobs))
                for rows in (self._train, self._test)
            )
            self.prepared[how] = train, test
        return self.prepared[how]
