"""Cells that are fitted once more, without some of the rows that they answer for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.cluster import NeighborhoodCover, find_neighbors
from localsvm.estimators._held_out import MOST_HELD_OUT, HeldOut
from localsvm.estimators._local.model import Router
from localsvm.rows import Rows, take_rows
from localsvm.solvers import KernelOptions, LocalKernel, fit_neighborhoods

# Cells that are fitted again, as a share of all.
_SHARE = 0.2
# Entries of kernel matrices that cost next to nothing: two hundred cells of a hundred.
_FREE_ENTRIES = 2e6
_FEWEST_DRAWN = 200
# Rows that leave a cell together, as a share of it; of a cell that is alone, more.
_SHARE_OF_CELL, _SHARE_OF_ONE = 0.05, 0.2
_MOST_STEPS = 20_000


def brief(options: KernelOptions) -> KernelOptions:
    """Options of cells that are only tested: they need not be solved to the end."""
    most = options.max_iter
    return replace(
        options, max_iter=_MOST_STEPS if most < 0 else min(most, _MOST_STEPS)
    )


def hold_out_of_cells(
    rows: Rows,
    cover: NeighborhoodCover,
    local: LocalKernel,
    options: KernelOptions,
    route: str,
) -> HeldOut:
    """Decide some rows by their cells without them.

    Parameters
    ----------
    rows : Rows
        Distinct, in random order.
    cover : NeighborhoodCover
        Of these rows.
    local : LocalKernel
    options : KernelOptions
    route : {"row", "center"}
        A row finds its cell as a query does, by the nearest of the other rows or by the
        nearest centre.

    Returns
    -------
    HeldOut
        As many rows as a fifth of the fit pays for.
    """
    budget = _budget(cover.neighborhoods_)
    # More rows than that are not decided, as few share a cell; one cell takes any.
    most = max(_FEWEST_DRAWN, 2 * budget) if len(cover.neighborhoods_) > 1 else np.inf
    drawn = np.arange(min(MOST_HELD_OUT, rows.n_rows, most), dtype=np.intp)
    cell = _cells_of(rows.X, drawn, cover, route, options.n_threads)
    groups = _groups(cell, cover.neighborhoods_, budget)
    members = [
        own[~np.isin(own, left)]
        for left, own in (
            (group, cover.neighborhoods_[cell[group[0]]]) for group in groups
        )
    ]
    kept = [place for place, own in enumerate(members) if len(own)]
    models = fit_neighborhoods(rows, [members[i] for i in kept], local, brief(options))
    taken = np.concatenate([groups[i] for i in kept])
    model = np.repeat(np.arange(len(kept)), [len(groups[i]) for i in kept])
    order = np.argsort(taken, kind="stable")
    taken, model = taken[order], model[order]
    decisions = models.decide(
        rows.X,
        local.kernel,
        rows.n_classes,
        take_rows(rows.X, taken),
        model.astype(np.int64),
        options.n_threads,
        None if rows.prior is None else rows.prior[taken],
    )
    return HeldOut(replace(rows.take(taken), prior=None), decisions.astype(np.float64))


def _cells_of(
    X: Any,
    drawn: NDArray[np.intp],
    cover: NeighborhoodCover,
    route: str,
    n_jobs: int | None,
) -> NDArray[np.int64]:
    """Cell that answers each row where the row itself does not show the way."""
    queries = take_rows(X, drawn)
    if route == "center":
        router = Router.to_centers(X[cover.center_indices_], cover.neighbors)
        return router.route(queries, n_jobs)
    n_rows = X.shape[0]
    found = find_neighbors(cover.router_, queries, min(2, n_rows), n_rows, n_jobs)
    other = np.where(found[:, 0] == drawn, found[:, -1], found[:, 0])
    return cover.labels_[other].astype(np.int64)


def _budget(neighborhoods: NDArray[np.int32]) -> int:
    """Cells that may be fitted again."""
    n_cells, size = neighborhoods.shape
    return max(1, int(_SHARE * n_cells), int(_FREE_ENTRIES / size**2))


def _groups(
    cell: NDArray[np.int64], neighborhoods: NDArray[np.int32], budget: int
) -> list[NDArray[np.intp]]:
    """Rows that leave their cell together, the first rows first."""
    n_cells, size = neighborhoods.shape
    share = _SHARE_OF_ONE if n_cells == 1 else _SHARE_OF_CELL
    if n_cells == 1 and budget > 1:
        share = max(1 / budget, _SHARE_OF_CELL)
    together = max(1, int(share * size))
    order = np.argsort(cell, kind="stable")
    ends = np.flatnonzero(np.diff(cell[order])) + 1
    groups = [
        own[first : first + together]
        for own in np.split(order, ends)
        for first in range(0, len(own), together)
    ]
    return sorted(groups, key=lambda group: int(group[0]))[:budget]
