"""Kernel SVMs of several penalties on kernel values that are computed once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._threads import map_in_threads
from localsvm.rows import Rows
from localsvm.solvers._kernel import BoxProblem, KernelOptions, solve_gram
from localsvm.solvers._large_models import combine_pairs


def score_penalties(
    gram: NDArray[Any],
    cross: NDArray[Any],
    rows: Rows,
    penalties: Sequence[float],
    options: KernelOptions,
) -> NDArray[np.float64]:
    """Scores of queries by SVMs of several penalties, side by side on threads.

    Parameters
    ----------
    gram : ndarray of shape (n_samples, n_samples), float32 or float64, C-ordered
        Kernel values of the training rows.
    cross : ndarray of shape (n_queries, n_samples)
        Those of the queries with the training rows.
    rows : Rows
        Classes and weights of the training rows.
    penalties : sequence of float
        Values of C.
    options : KernelOptions

    Returns
    -------
    scores : ndarray of shape (n_penalties, n_queries, n_outputs)
        As those of the models of :func:`fit_neighborhoods`.

    Notes
    -----
    Several classes are one SVM per pair, on a copy of their part of the matrix. Each
    solve starts from zero: the duals of another penalty save no steps.
    """
    present = np.unique(rows.class_index[rows.penalty_weight > 0]).astype(np.int32)
    if len(present) < 2:
        raise ValueError(
            f"rows have weight in {len(present)} classes; expected two or more."
        )
    pairs = np.array(list(combinations(present, 2)), dtype=np.int32)
    decisions = np.empty((len(penalties), len(cross), len(pairs)))
    for column, pair in enumerate(pairs):
        decisions[:, :, column] = _score_pair(
            gram, cross, rows, pair, penalties, options
        )
    return np.array([combine_pairs(each, pairs, rows.n_classes) for each in decisions])


def _score_pair(
    gram: NDArray[Any],
    cross: NDArray[Any],
    rows: Rows,
    pair: NDArray[np.int32],
    penalties: Sequence[float],
    options: KernelOptions,
) -> list[NDArray[Any]]:
    """Decisions of the queries for each penalty, positive for the second class."""
    part = np.flatnonzero(np.isin(rows.class_index, pair))
    if len(part) < rows.n_rows:
        gram, cross = gram[np.ix_(part, part)], cross[:, part]
    sign = np.where(rows.class_index[part] == pair[1], 1.0, -1.0)
    cancel = options.cancel or threading.Event()
    own = replace(options, n_threads=1, cancel=cancel)

    def score(C: float) -> NDArray[Any]:
        problem = BoxProblem.of_classes(sign, C * rows.penalty_weight[part])
        solution = solve_gram(gram, problem, own)
        used = np.flatnonzero(solution.duals)
        weights = solution.duals[used].astype(cross.dtype)
        return np.asarray(cross[:, used] @ weights + solution.intercept)

    return map_in_threads(score, penalties, options.n_threads, cancel)
