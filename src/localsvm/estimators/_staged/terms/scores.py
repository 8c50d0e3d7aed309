"""Scores of held-out rows by kernel SVMs of a grid, which share kernel matrices."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm._seeds import draw_seed
from localsvm._threads import effective_n_jobs, map_in_threads
from localsvm.cluster import NeighborhoodCover
from localsvm.estimators._local import Router
from localsvm.estimators._staged.jobs import stop_if_late
from localsvm.estimators._staged.setting import SecondGrid, StageOptions
from localsvm.estimators._staged.terms.cells import cover_sizes, densified, kernel_gamma
from localsvm.kernels import Kernel, kernel_matrix, squared_distances
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
_COMPARED_ROWS = 50_000


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
    """Score each width and penalty; those of few rows share kernel values."""
    train, held_out = rows.take(slice(n_train)), rows.X[n_train:]
    gamma = kernel_gamma(grid.kernel, train, options)
    kernels = [Kernel(grid.kernel, gamma * factor) for factor in grid.gamma_factors]
    few = n_train <= _WHOLE_MATRIX_ROWS and not sparse.issparse(held_out)
    few &= rows.n_classes == 2  # copies of the parts of many pairs take longer
    score: Callable[..., Iterable[NDArray[Any]]]
    score = _score_by_matrices if few else _score_by_rows
    scores = list(score(train, held_out, kernels, grid.penalties, options))
    stop_if_late(options)
    return np.array(scores)


def _score_by_matrices(
    train: Rows,
    held_out: NDArray[Any],
    kernels: Sequence[Kernel],
    penalties: Sequence[float],
    options: StageOptions,
) -> Iterator[NDArray[np.float64]]:
    """One kernel matrix for all penalties, for RBF kernels from one of distances."""
    limits = _solver_options(options, train.n_rows)
    for gram, cross in _matrices(train.X, held_out, kernels, options):
        stop_if_late(options)
        yield from score_penalties(gram, cross, train, penalties, limits)


def _matrices(
    X: NDArray[Any],
    held_out: NDArray[Any],
    kernels: Sequence[Kernel],
    options: StageOptions,
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Kernel values of the rows, and of held-out rows with them."""

    def check() -> None:
        stop_if_late(options)

    if kernels[0].name != "rbf":
        for kernel in kernels:
            gram = kernel_matrix(kernel, X, options.n_jobs, check)
            yield gram, kernel(held_out, X)
        return
    near = squared_distances(X, options.n_jobs, check)
    far = squared_distances(X, options.n_jobs, check, queries=held_out)
    for kernel in kernels:
        yield _rbf(near, kernel), _rbf(far, kernel)


def _rbf(distances: NDArray[Any], kernel: Kernel) -> NDArray[Any]:
    """Kernel values of squared distances, in their dtype."""
    scaled = np.multiply(distances, -kernel.gamma, dtype=distances.dtype)
    return np.asarray(np.exp(scaled, out=scaled))


def _score_by_rows(
    train: Rows,
    held_out: Any,
    kernels: Sequence[Kernel],
    penalties: Sequence[float],
    options: StageOptions,
) -> list[NDArray[np.float64]]:
    """Kernel rows as the solvers ask for them, which run side by side on threads."""
    every_row = np.arange(train.n_rows, dtype=np.int32)[np.newaxis]
    route = np.zeros(held_out.shape[0], dtype=np.int64)
    cancel = options.cancel or threading.Event()
    own = replace(options, n_jobs=1, cancel=cancel)

    def score(setting: tuple[Kernel, float]) -> NDArray[np.float64]:
        kernel, C = setting
        stop_if_late(own)
        limits = _solver_options(own, train.n_rows)
        models = fit_neighborhoods(train, every_row, LocalKernel(kernel, C), limits)
        decisions = models.decide(train.X, kernel, train.n_classes, held_out, route, 1)
        return np.asarray(decisions, dtype=np.float64)

    settings = list(product(kernels, penalties))
    return map_in_threads(score, settings, options.n_jobs, cancel)


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
        neighbors=_search(rows.X),
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


def _search(X: Any) -> str:
    """Search of the few rows of a trial: they are compared sooner than a tree grows."""
    return "brute" if X.shape[0] <= _COMPARED_ROWS else "auto"


def _solver_options(options: StageOptions, n_train: int) -> KernelOptions:
    return KernelOptions(
        tol=options.tol,
        max_iter=max(_FEWEST_STEPS, _STEPS_PER_ROW * n_train),
        max_time=options.clock.remaining(),
        n_threads=effective_n_jobs(options.n_jobs),
        cancel=options.cancel,
    )
