"""Training rows as queries of their own neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from localsvm.cluster import find_neighbors, fit_search, make_search
from localsvm.estimators._held_out import HeldOut
from localsvm.estimators._local.unseen.cells import brief
from localsvm.rows import Rows, take_rows
from localsvm.solvers import KernelOptions, LocalKernel, fit_neighborhoods

# Entries of kernel matrices for all queries together, and queries within that.
_ENTRIES, _FEWEST, _MOST = 5e6, 20, 500


def hold_out_queries(
    rows: Rows,
    n_neighbors: int,
    local: LocalKernel,
    neighbors: Any,
    options: KernelOptions,
) -> HeldOut:
    """Decide the first rows by the SVMs of their neighbours.

    Parameters
    ----------
    rows : Rows
        Distinct, in random order.
    n_neighbors : int
    local : LocalKernel
    neighbors : str or search object
    options : KernelOptions

    Returns
    -------
    HeldOut
        Up to 500 rows, fewer of large neighbourhoods.
    """
    n_drawn = min(rows.n_rows, max(_FEWEST, min(_MOST, int(_ENTRIES / n_neighbors**2))))
    drawn = np.arange(n_drawn)
    queries = take_rows(rows.X, drawn)
    k = min(n_neighbors + 1, rows.n_rows)
    search = fit_search(make_search(neighbors, rows.X, k, local.kernel), rows.X)
    found = find_neighbors(search, queries, k, rows.n_rows, options.n_threads)
    # The row itself is among them, unless many lie where it does.
    is_own = found == drawn[:, np.newaxis]
    is_own[~is_own.any(axis=1), -1] = True
    others = np.ascontiguousarray(found[~is_own].reshape(n_drawn, k - 1))
    if k == 1:
        return HeldOut(rows.take(drawn[:0]), np.empty((0, rows.n_outputs)))
    models = fit_neighborhoods(rows, others, local, brief(options))
    decisions = models.decide(
        rows.X, local.kernel, rows.n_classes, queries, drawn, options.n_threads
    )
    return HeldOut(rows.take(drawn), decisions.astype(np.float64))
