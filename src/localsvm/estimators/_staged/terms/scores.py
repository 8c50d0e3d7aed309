"""Scores of held-out rows by kernel SVMs of a grid, which share kernel matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._seeds import draw_seed
from localsvm._threads import effective_n_jobs
from localsvm.cluster import NeighborhoodCover
from localsvm.estimators._local import Router
from localsvm.estimators._staged.setting import SecondGrid, StageOptions
from localsvm.estimators._staged.terms.cells import cover_sizes, densified, kernel_gamma
from localsvm.kernels import Kernel, kernel_matrix
from localsvm.rows import Rows
from localsvm.solvers import (
    KernelOptions,
    LocalKernel,
    cross_validate_neighborhoods,
    fit_neighborhoods,
    score_penalties,
)

_STEPS_PER_ROW = 50
_FEWEST_STEPS = 20_000
# Of few rows the whole kernel matrix is cheaper than the parts that a solver asks for.
_WHOLE_MATRIX_ROWS = 4000


class OutOfTimeError(Exception):
    """The time for the search is over; what is being tried has no result."""


def score_kernels(
    rows: Rows, n_train: int, grid: SecondGrid, options: StageOptions
) -> NDArray[Any]:
    """Decisions for the rows from ``n_train`` on, by models of those before.

    The models are those that :func:`fit_kernel` would fit, and a row takes the same
    route to them.

    Returns an array of shape (n_settings, n_held_out, n_outputs); settings run
    through the gamma factors and, within, the penalties.
    """
    rows = Rows.weighted(
        densified(rows.X), rows.class_index, rows.penalty_weight, rows.n_classes
    )
    if grid.cell_size is None:
        return _score_one_model(rows, n_train, grid, options)
    return _score_cells(rows, n_train, grid, options)


def _score_one_model(
    rows: Rows, n_train: int, grid: SecondGrid, options: StageOptions
) -> NDArray[Any]:
    """Score each width; penalties of few rows of two classes share a kernel matrix."""
    train, held_out = rows.take(slice(n_train)), rows.X[n_train:]
    gamma = kernel_gamma(grid.kernel, train, options)
    few = rows.n_classes == 2 and n_train <= _WHOLE_MATRIX_ROWS
    score = _score_two_classes if few else _score_pairs
    scores: list[NDArray[np.float64]] = []
    for factor in grid.gamma_factors:
        stop_if_late(options)
        kernel = Kernel(grid.kernel, gamma * factor)
        scores.extend(score(train, held_out, kernel, grid.penalties, options))
    stop_if_late(options)
    return np.array(scores)


def _score_two_classes(
    train: Rows,
    held_out: Any,
    kernel: Kernel,
    penalties: Sequence[float],
    options: StageOptions,
) -> NDArray[np.float64]:
    gram = kernel_matrix(kernel, train.X, options.n_jobs, lambda: stop_if_late(options))
    cross = kernel(held_out, train.X)
    limits = _solver_options(options, train.n_rows)
    return score_penalties(gram, cross, train, penalties, limits)


def _score_pairs(
    train: Rows,
    held_out: Any,
    kernel: Kernel,
    penalties: Sequence[float],
    options: StageOptions,
) -> list[NDArray[np.float64]]:
    every_row = np.arange(train.n_rows, dtype=np.int32)[np.newaxis]
    route = np.zeros(held_out.shape[0], dtype=np.int64)
    scores = []
    for C in penalties:
        models = fit_neighborhoods(
            train,
            every_row,
            LocalKernel(kernel, C),
            _solver_options(options, train.n_rows),
        )
        own = models.decide(train.X, kernel, train.n_classes, held_out, route, 1)
        scores.append(np.asarray(own, dtype=np.float64))
    return scores


def _score_cells(
    rows: Rows, n_train: int, grid: SecondGrid, options: StageOptions
) -> NDArray[Any]:
    """Score by the cells of the training rows; settings share their Gram."""
    train, held_out = rows.X[:n_train], np.arange(n_train, rows.n_rows)
    assert grid.cell_size is not None
    # The seed that the fit draws: the cells are those of the fit.
    n_neighbors, n_assigned = cover_sizes(n_train, grid.cell_size)
    cover = NeighborhoodCover(
        n_neighbors,
        n_assigned=n_assigned,
        random_state=draw_seed(options.seed),
        n_jobs=options.n_jobs,
    ).fit(train)
    router = Router.to_centers(train[cover.center_indices_], cover.neighbors)
    route = router.route(rows.X[n_train:], options.n_jobs)
    used, cell = np.unique(route, return_inverse=True)
    by_cell = np.split(
        held_out[np.argsort(cell, kind="stable")], np.cumsum(np.bincount(cell))[:-1]
    )
    neighborhoods = [
        np.append(cover.neighborhoods_[center], queries).astype(np.int32)
        for center, queries in zip(used, by_cell, strict=True)
    ]
    assigned = np.append(np.full(n_train, -1), cell).astype(np.int32)
    local = LocalKernel(
        Kernel(grid.kernel),
        1.0,
        local_gamma=True,
        C_factors=grid.penalties,
        gamma_factors=grid.gamma_factors,
    )
    (scores,) = cross_validate_neighborhoods(
        rows,
        neighborhoods,
        assigned,
        [(np.arange(n_train), held_out)],
        local,
        _solver_options(options, n_train),
    )
    return scores


def _solver_options(options: StageOptions, n_train: int) -> KernelOptions:
    return KernelOptions(
        tol=options.tol,
        max_iter=max(_FEWEST_STEPS, _STEPS_PER_ROW * n_train),
        max_time=options.clock.remaining(),
        n_threads=effective_n_jobs(options.n_jobs),
    )


def stop_if_late(options: StageOptions) -> None:
    """Leave what a solver may not have finished: half a fit says nothing."""
    if options.is_late:
        raise OutOfTimeError
