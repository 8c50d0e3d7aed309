"""Weights of columns by what a decision loses when a column is swapped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.rows import Rows, RowSample

_N_ROWS = 300
_LEAST_SHARE = 1e-3


@dataclass(frozen=True)
class SwapMetric:
    """What each column weighs in a decision.

    Attributes
    ----------
    changes : ndarray of shape (n_features,)
        Root mean square of the change of the decision when a row takes the column from
        another row. Columns of a group have the change of the group.
    weights : ndarray of shape (n_features,)
        Factors of the columns: the share of the largest change, at least 0.001, to the
        power asked for. All 1 where no column changes anything.
    """

    changes: NDArray[np.float64]
    weights: NDArray[np.float64]


def swap_metric(
    decide: Callable[[NDArray[Any]], NDArray[Any]],
    rows: Rows,
    groups: Sequence[Sequence[int]] = (),
    seed: int = 0,
    power: float = 0.5,
) -> SwapMetric:
    """Weigh columns by how much a decision changes when they are swapped.

    It needs no derivative, so it suits kernels with kinks and columns that are codes of
    categories, where :class:`GradientMetric` would take a step that no row can take.

    Parameters
    ----------
    decide : callable
        Gives the decisions of dense rows, of shape (n,) or (n, n_outputs).
    rows : Rows
        Where rows are drawn from: 300 distinct ones, chosen by their content. In the
        order of their hashes each takes the column of the next, the last of the first.
    groups : sequence of sequences of int, default=()
        Columns that are swapped as one, such as those of one category. The others are
        swapped one by one.
    seed : int, default=0
        Chooses the rows.
    power : float, default=0.5
        1 trusts the changes, smaller is more careful.

    Returns
    -------
    SwapMetric

    Notes
    -----
    One call of ``decide`` with 300 rows for each column or group. Neither the order of
    the rows nor a row of weight two in place of two rows changes the result.
    """
    parts = _parts(groups, rows.X.shape[1])
    sample = RowSample.draw(rows.X, rows.sample_weight, seed, _N_ROWS)
    X = sample.rows.toarray() if sparse.issparse(sample.rows) else sample.rows
    before, donors = _as_table(decide(X)), np.roll(X, -1, axis=0)
    changes = np.zeros(X.shape[1])
    for part in parts:
        swapped = X.copy()
        swapped[:, part] = donors[:, part]
        squares = ((_as_table(decide(swapped)) - before) ** 2).sum(axis=1)
        changes[part] = np.sqrt(np.average(squares, weights=sample.weight))
    largest = changes.max()
    if not largest > 0:
        return SwapMetric(changes, np.ones_like(changes))
    return SwapMetric(changes, np.maximum(changes / largest, _LEAST_SHARE) ** power)


def _as_table(decisions: NDArray[Any]) -> NDArray[np.float64]:
    """Decisions with one column per output."""
    return np.asarray(decisions, dtype=np.float64).reshape(len(decisions), -1)


def _parts(groups: Sequence[Sequence[int]], n_columns: int) -> list[list[int]]:
    """Give the columns of each swap: the groups, then the columns in none."""
    listed = [column for group in groups for column in group]
    stray = [column for column in listed if not 0 <= column < n_columns]
    if stray:
        raise ValueError(
            f"groups names the column {stray[0]}; expected 0 to {n_columns - 1}."
        )
    if len(set(listed)) < len(listed):
        twice = next(column for column in listed if listed.count(column) > 1)
        raise ValueError(
            f"groups names the column {twice} twice; expected each at most once."
        )
    alone = sorted(set(range(n_columns)) - set(listed))
    return [*(list(group) for group in groups if group), *([each] for each in alone)]
