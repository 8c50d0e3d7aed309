"""Which rows of a block enter the master problem, and how the others are grouped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._reduced.records import Floats
from localsvm.estimators._reduced.reduction import (
    TwoClassRows,
    open_rows,
    violations,
)
from localsvm.estimators._reduced.settings import ReductionSettings


@dataclass(frozen=True)
class Seen:
    """Duals and decisions of the rows of a block after a solve.

    Attributes
    ----------
    tasks : list of TwoClassRows
    duals, decisions : ndarray of shape (n_tasks, n_rows)
    """

    tasks: list[TwoClassRows]
    duals: Floats
    decisions: Floats


def split_group(task: TwoClassRows, decisions: Floats) -> NDArray[np.int32]:
    """Part each group by the sides of the margin that its rows are on.

    With all rows of each group on one side the means say of the rows what is true.
    """
    inside = task.sign * decisions < 1
    _, group = np.unique(2 * task.clusters + inside, return_inverse=True)
    return group.astype(np.int32)


def open_groups(
    seen: Seen, groups: NDArray[np.int32], settings: ReductionSettings
) -> NDArray[np.bool_]:
    """Rows that leave their groups: those that are wrong in a group that stays whole.

    A group that is parted is tried again first. Without ``use_bounds`` all rows inside
    the margin leave.
    """
    opened = np.zeros(groups.shape[1], dtype=bool)
    for task, group, duals, decisions in zip(
        seen.tasks, groups, seen.duals, seen.decisions, strict=True
    ):
        left = task.bounds > 0
        before = np.bincount(task.clusters, left)[task.clusters]
        whole = np.bincount(group, left)[group] == before
        wrong = violations(task, duals, decisions - task.sign) > settings.tol
        opened |= whole & wrong
        if not settings.use_bounds:
            opened |= left & (task.sign * decisions < 1 + settings.band)
    return opened


def open_most(seen: Seen, most: int, settings: ReductionSettings) -> NDArray[np.bool_]:
    """Rows that ClusterSVM opens, but not more than so many, and wrong ones first.

    The SVM of few rows is wrong about many that will turn out not to matter.
    """
    opened = np.zeros(seen.decisions.shape[1], dtype=bool)
    wrong = np.zeros_like(opened)
    nothing = np.zeros_like(opened)
    for task, duals, decisions in zip(
        seen.tasks, seen.duals, seen.decisions, strict=True
    ):
        opened |= open_rows(task, nothing, duals, decisions, settings)[0]
        wrong |= violations(task, duals, decisions - task.sign) > settings.tol
    # The rows of a block are in a random order.
    chosen = np.flatnonzero(opened)
    chosen = chosen[np.argsort(~wrong[chosen], kind="stable")]
    opened[chosen[most:]] = False
    return opened
