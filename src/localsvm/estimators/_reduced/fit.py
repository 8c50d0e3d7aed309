"""The fit of the exact SVM: merge equal rows, choose a space, reduce or solve.

``fit_reduced`` does it for blocks of rows. Rows in memory are one block, which is
solved where it is; of several blocks, those rows enter a master problem that can
matter. Neither knows an estimator; what they return is frozen.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._threads import map_in_threads, single_threaded_libraries
from localsvm.engine import Block, Blocks, Labels
from localsvm.estimators._held_out import HeldOut
from localsvm.estimators._reduced.blocks import cluster_rows
from localsvm.estimators._reduced.master import reduce_blocks
from localsvm.estimators._reduced.model import ReducedModel
from localsvm.estimators._reduced.reduction import (
    ReducedSolution,
    TwoClassRows,
    reduce_units,
    signs_of_tasks,
    solve_all,
)
from localsvm.estimators._reduced.result import ReducedFit, TaskReport
from localsvm.estimators._reduced.settings import (
    FitOptions,
    ReducedSettings,
    ReductionRule,
)
from localsvm.estimators._reduced.spaces import (
    DualSpace,
    FeatureSpace,
    MatrixSpace,
    OutOfTimeError,
    RowSpace,
)
from localsvm.kernels import Kernel, fill_spans, kernel_matrix
from localsvm.passes import Content
from localsvm.rows import Rows, take_rows

_MOST_HELD_OUT = 1000
_MOST_FREE = 1000
# Part of its bound within which a dual lies at zero or at the bound.
_AT_BOUND = 1e-3
# A constant feature of this size, in mean norms, stands for the free intercept.
_CONSTANT = 10.0


def fit_reduced(
    blocks: Blocks,
    content: Content,
    labels: Labels,
    settings: ReducedSettings,
    options: FitOptions,
) -> ReducedFit:
    """Solve the SVM of all rows, at once or from clusters that are opened.

    Parameters
    ----------
    blocks : Blocks
    content : Content
        Of these blocks.
    labels : Labels
    settings : ReducedSettings
        Without a reduction the rows must be in memory.
    options : FitOptions

    Returns
    -------
    ReducedFit
        It may have stopped before ``tol``; the caller checks that.
    """
    if not blocks.is_in_memory:
        return reduce_blocks(blocks, content, labels, settings, options)
    fit: ReducedFit
    (fit,) = blocks.map(fit_block, labels, settings, options, stage="fit")
    return fit


def fit_block(
    block: Block, labels: Labels, settings: ReducedSettings, options: FitOptions
) -> ReducedFit:
    """Solve for all rows of a block, or open its clusters by Algorithm 1."""
    clock = options.clock
    with clock.stage("merge"):
        merged = block.rows(labels).merged(options.seed)
    distinct = merged.rows
    with clock.stage("kernel"):
        space, where = choose_space(distinct, settings, options)
    if settings.reduction is None:
        with clock.stage("solve"):
            tasks = make_tasks(distinct, settings.C)
            solutions = _solve_tasks(tasks, space, options)
    else:
        with clock.stage("cluster"):
            clusters = cluster_rows(distinct, settings.clusterer, options.seed)
        with clock.stage("solve"):
            tasks = make_tasks(distinct, settings.C, clusters)
            solutions = _reduce_tasks(tasks, space, settings.reduction, options)
    duals = np.array([solution.duals for solution in solutions])
    support = np.flatnonzero(duals.any(axis=0))
    model = _make_model(settings.kernel, distinct, support, solutions)
    with clock.stage("calibrate"):
        held_out = hold_out(distinct, settings.C, model, solutions, options.n_jobs)
    what = "all rows" if settings.reduction is None else "clusters opened"
    return ReducedFit(
        settings,
        model,
        merged.first[support],
        np.bincount(distinct.class_index[support], minlength=distinct.n_classes),
        tuple(map(TaskReport.of, tasks, solutions)),
        f"{what}, {where}",
        held_out=held_out,
    )


def choose_space(
    rows: Rows, settings: ReducedSettings, options: FitOptions
) -> tuple[DualSpace, str]:
    """Choose where to solve: features, a shared matrix, or kernel rows.

    Returns
    -------
    space : DualSpace
    where : str
        The same in words.
    """

    def stop_if_late() -> None:
        if options.clock.remaining() == 0:
            raise OutOfTimeError

    kernel = settings.kernel
    if settings.takes_interior_point(rows.X):
        space = FeatureSpace(rows.X, by_interior_point=True)
        return space, "on features, by an interior point method"
    # One task alone needs the kernel rows of its support only.
    pays = rows.n_classes > 2 or settings.reduction is not None
    size = rows.X.dtype.itemsize * rows.n_rows**2
    if pays and size <= options.cache_size * 2**20:
        with suppress(OutOfTimeError):
            gram = kernel_matrix(kernel, rows.X, options.n_jobs, stop_if_late)
            return MatrixSpace(gram), "on one kernel matrix of all rows, by SMO"
    where = "on kernel rows, by SMO"
    if kernel.name == "linear":
        return FeatureSpace(rows.X, by_interior_point=False), where
    return RowSpace(rows.X, kernel, options.n_jobs), where


def make_tasks(
    rows: Rows, C: float, clusters: NDArray[np.intp] | None = None
) -> list[TwoClassRows]:
    """Two classes are one task, more are one each against the rest."""
    if clusters is None:
        clusters = np.zeros(rows.n_rows, dtype=np.intp)
    return [
        TwoClassRows(rows.X, sign, C * rows.penalty_weight, clusters)
        for sign in signs_of_tasks(rows.class_index, rows.n_classes)
    ]


def _solve_tasks(
    tasks: list[TwoClassRows], space: DualSpace, options: FitOptions
) -> list[ReducedSolution]:
    cancel = threading.Event()
    return map_in_threads(
        lambda task: solve_all(task, space, options.for_solver(cancel)),
        tasks,
        _threads_of(space, options),
        cancel,
    )


def _reduce_tasks(
    tasks: list[TwoClassRows],
    space: DualSpace,
    rule: ReductionRule,
    options: FitOptions,
) -> list[ReducedSolution]:
    cancel = threading.Event()
    settings = rule.with_options(options.tol, options.for_reduction(cancel))
    return map_in_threads(
        lambda task: reduce_units(task, space, settings),
        tasks,
        _threads_of(space, options),
        cancel,
    )


def _threads_of(space: DualSpace, options: FitOptions) -> int | None:
    """Threads over tasks; kernel rows of one task may fill the cache."""
    return 1 if isinstance(space, RowSpace) else options.n_jobs


def _make_model(
    kernel: Kernel,
    rows: Rows,
    support: NDArray[np.intp],
    solutions: list[ReducedSolution],
) -> ReducedModel:
    vectors = take_rows(rows.X, support)
    dual_coef = np.array([solution.duals for solution in solutions])[:, support]
    coef = np.empty((len(solutions), 0))
    if kernel.name == "linear":
        # The weights of an interior point are no sum of duals.
        with single_threaded_libraries():
            coef = np.array(
                [
                    vectors.T @ duals if each.last.coef is None else each.last.coef
                    for each, duals in zip(solutions, dual_coef, strict=True)
                ]
            )
    intercept = np.array([each.last.intercept for each in solutions])
    return ReducedModel(kernel, vectors, dual_coef, coef, intercept)


@dataclass(frozen=True)
class _KernelGram:
    """Kernel values of rows, and a constant feature."""

    X: Any
    kernel: Kernel
    constant: float
    norms: NDArray[np.float64]

    @classmethod
    def of(cls, X: Any, kernel: Kernel) -> _KernelGram:
        own = np.asarray(kernel.diagonal(X), dtype=np.float64)
        constant = _CONSTANT * float(own.mean())
        return cls(X, kernel, constant, own + constant)

    def values(
        self, first: NDArray[np.intp], second: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        found = self.kernel(take_rows(self.X, first), take_rows(self.X, second))
        return np.asarray(found, dtype=np.float64) + self.constant


def hold_out(
    rows: Rows,
    C: float,
    model: ReducedModel,
    solutions: Sequence[ReducedSolution],
    n_jobs: int | None,
) -> HeldOut:
    """Decide the first rows as if each had not been there.

    Parameters
    ----------
    rows : Rows
        Distinct, in random order.
    C : float
    model : ReducedModel
    solutions : sequence of ReducedSolution
        Of the tasks.
    n_jobs : int or None

    Returns
    -------
    HeldOut
        A decision less the row's dual times its squared distance to the span of the
        support vectors below their bound, at most 1000 of them.
    """
    n_drawn = min(_MOST_HELD_OUT, rows.n_rows)
    drawn = rows.take(slice(n_drawn))
    unseen = np.asarray(model.decide(drawn.X, n_jobs), dtype=np.float64)
    gram = _KernelGram.of(rows.X, model.kernel)
    bounds = C * rows.penalty_weight
    for task, solution in enumerate(solutions):
        size = np.abs(solution.duals)
        has_dual = size > _AT_BOUND * bounds
        free = np.flatnonzero(has_dual & (size < (1 - _AT_BOUND) * bounds))
        spans = np.zeros(rows.n_rows)
        wanted = np.flatnonzero(has_dual[:n_drawn])
        fill_spans(gram, np.zeros(rows.n_rows), free[:_MOST_FREE], wanted, spans)
        unseen[:, task] -= (solution.duals * spans)[:n_drawn]
    return HeldOut(drawn, unseen)
