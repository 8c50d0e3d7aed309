"""Held-out decisions of the terms of a sum; nothing is fitted twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._additive import AdditiveFit, fit_additive
from localsvm.estimators._regional import RegionalFit
from localsvm.estimators._staged.jobs import Job, run_jobs, stop_if_late
from localsvm.estimators._staged.preparation.learn import (
    Preparations,
    prepare_single,
)
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
    is_prepared,
)
from localsvm.estimators._staged.terms.regions import fit_regions
from localsvm.estimators._staged.terms.scores import score_kernels
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

    def held_out(self, n_folds: int) -> HeldOutLabels:
        """Classes and weights of the held-out rows of the first folds."""
        tests = self._tests(n_folds)
        return HeldOutLabels(
            self._rows.class_index[tests], self._rows.penalty_weight[tests]
        )

    def decide_first(self, terms: Sequence[Term], limit: int) -> tuple[Rows, Any]:
        """Held-out rows, at most so many, and the decisions of each term."""
        kept = slice(limit)
        rows = self._rows.take(self._tests(self.n_folds)[kept])
        return rows, [own[kept] for own in self.decide(terms, self.n_folds)]

    def decide(self, terms: Sequence[Term], n_folds: int) -> list[Floats]:
        """Decisions of each term on the held-out rows of the first folds."""
        for train, test in self._folds[len(self._tried) : n_folds]:
            parts = self._rows.take(train), self._rows.take(test)
            self._tried.append(_TriedFold(*parts, self._options))
        tried = self._tried[:n_folds]
        for step in (_TriedFold.scalings, _TriedFold.fits):
            run_jobs(
                [job for fold in tried for job in step(fold, terms)], self._options
            )
        return [np.concatenate([fold.known[term] for fold in tried]) for term in terms]

    def _tests(self, n_folds: int) -> NDArray[np.intp]:
        return np.concatenate([test for _, test in self._folds[:n_folds]])

    def forget(self, rows: RowMap) -> None:
        """Free the rows of a preparation that lost."""
        for fold in self._tried:
            fold.forget(rows)


@dataclass(frozen=True)
class HeldOutLabels:
    """Class and weight of held-out rows."""

    class_index: NDArray[np.int32]
    weight: Floats


class _TriedFold:
    """One fold, and the decisions of what was fitted to it so far."""

    def __init__(self, train: Rows, test: Rows, options: StageOptions) -> None:
        self._train, self._test = train, test
        self._preparations = Preparations(train, options)
        self._prepared: dict[RowMap, tuple[Rows, Rows]] = {}
        self._regions: dict[RowMap, RegionalFit] = {}
        self.known: dict[Term, Floats] = {}

    def scalings(self, terms: Sequence[Term]) -> Iterator[Job]:
        """Jobs that learn the scalings of the terms: metrics of one share its work."""
        maps = {term.rows for term in self._missing(terms) if is_prepared(term)}
        wanted: dict[tuple[str, int | None], list[RowMap]] = defaultdict(list)
        for each in sorted(maps - set(self._prepared), key=repr):
            wanted[each.scaling, each.n_components].append(each)
        for same in wanted.values():
            metric = any(each.gradient_metric is not None for each in same)
            yield partial(self._learn_scaling, same[0], metric)

    def fits(self, terms: Sequence[Term]) -> Iterator[Job]:
        """Jobs that fit the terms that are not known; those on the same rows share."""
        groups: dict[Any, list[Any]] = defaultdict(list)
        for term in self._missing(terms):
            groups[term.rows if is_prepared(term) else None].append(term)
        for rows, own in groups.items():
            if rows is None:
                yield partial(self._fit_additive, own)
            else:
                yield partial(self._fit_prepared, rows, own)

    def forget(self, rows: RowMap) -> None:
        """Free the rows of a preparation that lost."""
        self._prepared.pop(rows, None)
        self._regions.pop(rows, None)

    def _missing(self, terms: Sequence[Term]) -> list[Term]:
        return [term for term in dict.fromkeys(terms) if term not in self.known]

    def _learn_scaling(self, how: RowMap, metric: bool, options: StageOptions) -> None:
        self._preparations.learn_scaling(how, options, metric=metric)
        stop_if_late(options)

    def _fit_additive(self, terms: list[AdditiveTerm], options: StageOptions) -> None:
        bins, binned = bin_columns(self._train, options)
        queries = bins.encode(self._test.X, options.n_jobs)
        fit: AdditiveFit | None = None
        for term in sorted(terms, key=lambda each: each.C):
            settings, limits = additive_settings(term.C), additive_limits(options)
            fit = fit_additive(*binned.arguments(bins), settings, limits, fit)
            stop_if_late(options)
            self.known[term] = fit.model.decide_codes(queries, options.n_jobs)

    def _fit_prepared(
        self, rows: RowMap, terms: list[RegionTerm | CellTerm], options: StageOptions
    ) -> None:
        self._fit_regions([t for t in terms if isinstance(t, RegionTerm)], options)
        cells: dict[tuple[str, int | None], list[CellTerm]] = defaultdict(list)
        for term in terms:
            if isinstance(term, CellTerm):
                cells[term.kernel.kernel, term.kernel.cell_size].append(term)
        for of_cells in cells.values():
            self._fit_cells(of_cells, options)

    def _fit_regions(self, terms: list[RegionTerm], options: StageOptions) -> None:
        if not terms:
            return
        rows = terms[0].rows
        train, test = self._prepare(rows, options)
        terms = sorted(terms, key=lambda each: each.C)
        penalties = [term.C for term in terms]
        fits = fit_regions(train, penalties, options, self._regions.get(rows))
        for term, (fit, _) in zip(terms, fits, strict=True):
            stop_if_late(options)
            self._regions[rows] = fit
            decisions = fit.decide(test.X, options.n_jobs)
            self.known[term] = decisions.astype(np.float64)

    def _fit_cells(self, terms: list[CellTerm], options: StageOptions) -> None:
        train, test = self._prepare(terms[0].rows, options)
        kernel = terms[0].kernel
        grid = SecondGrid(
            kernel.cell_size,
            sorted({term.kernel.gamma_factor for term in terms}),
            sorted({term.kernel.C for term in terms}),
            kernel.kernel,
        )
        scores = score_kernels(Rows.joined([train, test]), train.n_rows, grid, options)
        stop_if_late(options)
        settings = product(grid.gamma_factors, grid.penalties)
        for (factor, C), own in zip(settings, scores, strict=True):
            term = CellTerm(terms[0].rows, replace(kernel, gamma_factor=factor, C=C))
            self.known[term] = np.asarray(own, dtype=np.float64)

    def _prepare(self, how: RowMap, options: StageOptions) -> tuple[Rows, Rows]:
        """Training and held-out rows, prepared."""
        if how not in self._prepared:
            preparation = self._preparations.learn(how, options)
            stop_if_late(options)
            train, test = (
                prepare_single(preparation, rows, options)
                for rows in (self._train, self._test)
            )
            self._prepared[how] = train, test
        return self._prepared[how]
