"""Losses and objectives of a kept fit, in double and from its rows and duals alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.estimators._regional.updates.kept import KeptRegional, signs

_BLOCK_ROWS = 2048


def biased_rows(kept: KeptRegional, places: NDArray[np.intp]) -> NDArray[np.float64]:
    """Rows with their constant column, in double."""
    X = kept.rows.X.values[places]
    X = X.toarray() if sparse.issparse(X) else X
    constant = np.full((len(places), 1), kept.settings.constant)
    return np.concatenate([X.astype(np.float64), constant], axis=1)


def shares_of(
    kept: KeptRegional, places: NDArray[np.intp]
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    """Vectors of each row, what it adds to them, and what they add to its decision."""
    nodes = kept.nodes.values[places]
    weights = kept.weights.values[places].astype(np.float64)
    if not kept.regions.is_hard or kept.settings.global_weight == 0:
        return nodes, weights, weights
    last = np.full_like(nodes, kept.regions.n_regions)
    coupling = np.full_like(weights, kept.settings.global_weight**2)
    return (
        np.concatenate([nodes, last], axis=1),
        np.concatenate([weights, coupling], axis=1),
        np.concatenate([weights, np.ones_like(weights)], axis=1),
    )


def losses_of(kept: KeptRegional, places: NDArray[np.intp]) -> NDArray[np.float64]:
    """Loss of some rows at the present weights, of shape (n_tasks, n_chosen)."""
    nodes, _, weights = shares_of(kept, places)
    rows = biased_rows(kept, places)
    decisions: NDArray[np.float64] = np.stack(
        [
            np.einsum("im,imj,ij->i", weights, vectors[nodes], rows)
            for vectors in kept.vectors
        ]
    )
    classes = kept.rows.class_index[places]
    if kept.settings.joint:
        every = np.arange(len(places))
        lead = decisions - decisions[classes, every] + 1.0
        lead[classes, every] = 0.0
        # One problem, which is counted with the first class.
        losses = np.zeros_like(lead)
        losses[0] = lead.max(axis=0)
        return losses
    margins = signs(classes, len(decisions), False) * decisions
    slack = np.maximum(1.0 - margins, 0.0)
    found = slack if kept.settings.loss == "hinge" else slack**2
    return np.asarray(found)


def measured(kept: KeptRegional) -> KeptRegional:
    """Compute all certificates anew, from the vectors and duals that are kept."""
    n_places, n_tasks = kept.rows.n_places, len(kept.duals)
    problem, n_problems = problems_of(kept, np.arange(n_places))
    bounds = kept.bounds()
    loss = np.zeros((n_tasks, n_places))
    for first in range(0, n_places, _BLOCK_ROWS):
        places = np.arange(first, min(first + _BLOCK_ROWS, n_places))
        loss[:, places] = bounds[places] * losses_of(kept, places)
    gain = kept.duals
    if kept.settings.joint:
        gain = np.zeros_like(gain)
        gain[0] = kept.duals[kept.rows.class_index, np.arange(n_places)]
    elif kept.settings.loss != "hinge":
        ridge = np.divide(0.25, bounds, out=np.zeros_like(bounds), where=bounds > 0)
        gain = gain * (1.0 - ridge * gain)
    penalty = 0.5 * _squared_norms(kept)
    sums = [
        np.bincount(problem.ravel(), each.ravel(), n_problems) for each in (loss, gain)
    ]
    return replace(kept, primal=penalty + sums[0], dual=sums[1] - penalty)


def problems_of(
    kept: KeptRegional, places: NDArray[np.intp]
) -> tuple[NDArray[np.intp], int]:
    """Problem of each (task, row); the rows of a joint problem have one in all."""
    n_tasks = len(kept.duals)
    if kept.settings.joint:
        return np.zeros((n_tasks, len(places)), dtype=np.intp), 1
    task = np.arange(n_tasks)[:, np.newaxis]
    if not kept.is_independent:
        return np.broadcast_to(task, (n_tasks, len(places))), n_tasks
    n_regions = kept.regions.n_regions
    return task * n_regions + kept.nodes.values[places, 0], n_tasks * n_regions


def _squared_norms(kept: KeptRegional) -> NDArray[np.float64]:
    """Squared norm of the weights of each problem."""
    squares: NDArray[np.float64] = np.square(kept.vectors).sum(axis=2)
    if kept.is_independent:
        return squares.ravel()
    if kept.regions.is_hard:
        squares[:, -1] *= kept.settings.global_reg
    axes = None if kept.settings.joint else 1
    return np.atleast_1d(squares.sum(axis=axes))
