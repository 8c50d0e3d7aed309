"""The exact SVM on partitions: what is done to one of them, and to what travelled."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._threads import single_threaded_libraries
from localsvm.cluster import PDDP, copy_for
from localsvm.engine import Block, Statistics, cancel_event
from localsvm.estimators._reduced.clusters import cluster_classes
from localsvm.estimators._reduced.model import kernel_sums
from localsvm.estimators._reduced.opening import (
    Seen,
    open_groups,
    open_most,
    split_group,
)
from localsvm.estimators._reduced.records import (
    Floats,
    Groups,
    PartRows,
    PartState,
    ReducedFiles,
    Travelled,
    stack,
)
from localsvm.estimators._reduced.reduction import (
    TwoClassRows,
    first_representative,
    hinge_loss,
    largest_violation,
    make_units,
    objectives,
    signs_of_tasks,
    solve_all,
    unit_duals,
)
from localsvm.estimators._reduced.rule import ReductionSettings
from localsvm.estimators._reduced.spaces import DualSpace, FeatureSpace, RowSpace, Units
from localsvm.kernels import Kernel
from localsvm.rows import distinct_rows, merge_weights, take_rows


@dataclass(frozen=True)
class Plan:
    """What is the same for all partitions and passes.

    Attributes
    ----------
    files : ReducedFiles
    classes : ndarray of shape (n_classes,)
    class_weight : ndarray of shape (n_classes,)
    kernel : Kernel
    C : float
    by_interior_point : bool
    settings : ReductionSettings
        ``use_bounds`` says whether rows far inside the margin stay where they are.
    clusterer : clusterer or None
    clusters_per_row : ndarray of shape (n_classes,)
        How many clusters None makes of the rows of a class, at most.
    seed : int
    """

    files: ReducedFiles
    classes: NDArray[Any]
    class_weight: Floats
    kernel: Kernel
    C: float
    by_interior_point: bool
    settings: ReductionSettings
    clusterer: Any
    clusters_per_row: Floats
    seed: int

    @property
    def n_tasks(self) -> int:
        """One for two classes, else one per class."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    @property
    def representative(self) -> str:
        """What stands for a group: "mean", "weighted_center" or "pseudo_center"."""
        is_linear = self.kernel.name == "linear"
        return first_representative(is_linear, self.settings)

    def signs(self, class_index: NDArray[np.int32]) -> list[Floats]:
        """Sides of rows in each task."""
        return signs_of_tasks(class_index, len(self.classes))

    def make_clusterer(self, label: int, n_rows: int) -> Any:
        """Give a clusterer for the rows of a class in a partition."""
        if self.clusterer is not None:
            return copy_for(self.clusterer, n_rows, self.seed)
        most = n_rows * float(self.clusters_per_row[label])
        wanted = max(1, round(min(most, np.sqrt(n_rows))))
        # With a limit of scatter it does not warn where it finds fewer clusters.
        return PDDP(wanted, max_scatter=0.0)


@dataclass(frozen=True)
class Hyperplanes:
    """The SVMs of a pass.

    Attributes
    ----------
    version : int
        Of the pass.
    coef : ndarray of shape (n_tasks, n_features)
        No columns unless the kernel is linear; the duals are in files then.
    intercept : ndarray of shape (n_tasks,)
    """

    version: int
    coef: Floats
    intercept: Floats


def summarize_part(block: Block, plan: Plan) -> Statistics:
    """Merge and cluster the rows of a partition, and write what stands for them.

    Rows without weight are left out.

    Returns
    -------
    dict
        Number of the partition, its rows, those written, those that travel, groups of
        each task.
    """
    class_index = np.searchsorted(plan.classes, block.y).astype(np.int32)
    weight = block.sample_weight * plan.class_weight[class_index]
    first, kind = distinct_rows(block.X, weight, plan.seed, class_index)
    sizes = {"n_rows": block.n_rows, "n_kept": len(first)}
    told = {name: np.array([value]) for name, value in sizes.items()}
    if not len(first):
        return told | _told(plan, block.number)
    X, class_index = take_rows(block.X, first), class_index[first]
    part = PartRows(X, class_index, merge_weights(weight, kind), first)
    plan.files.write_part(block.number, part)
    cluster = cluster_classes(X, class_index, plan.make_clusterer)
    return told | _write_start(plan, block.number, part, cluster)


def join_parts(first: Statistics, second: Statistics) -> Statistics:
    """Put what is said of two partitions side by side."""
    return {name: np.concatenate([first[name], second[name]]) for name in first}


def gather(version: int, plan: Plan, numbers: list[int], starts: list[int]) -> int:
    """Put the new rows of all partitions to those that have travelled before.

    Parameters
    ----------
    version : int
        Of the pass before which this happens.
    plan : Plan
    numbers : list of int
        Partitions with rows.
    starts : list of int
        How many rows the partitions before each of them have.

    Returns
    -------
    int
        Rows that have travelled, equal ones counted once.
    """
    files, n_tasks, pieces = plan.files, plan.n_tasks, []
    if version:
        before = files.read_travelled(version - 1)
        duals = files.read_duals(n_tasks, version - 1)
        duals_of_rows = np.array([own[: before.n_rows] for own in duals])
        pieces.append(replace(before, duals=duals_of_rows))
    groups: list[list[Groups]] = [[] for _ in range(n_tasks)]
    for number, start in zip(numbers, starts, strict=True):
        new, own = files.read_given(number, version, n_tasks)
        pieces.append(replace(new, number=new.number + start))
        for known, each in zip(groups, own, strict=True):
            known.append(each)
    whole = Travelled.joined(pieces, plan.seed)
    files.write_units(version, whole, [Groups.joined(each) for each in groups])
    return whole.n_rows


def solve_task(
    task: int, version: int, plan: Plan, deadline: float | None
) -> Statistics:
    """Solve the SVM of what has travelled and of what stands for the groups.

    ``deadline`` is the time, as of ``time.time``, at which the solver stops.

    Returns
    -------
    dict
        "groups" are the duals of the groups in the order of the partitions, "violation"
        is that of the rows that have travelled; numbers of the solver.
    """
    travelled = plan.files.read_travelled(version)
    groups = plan.files.read_groups(version, task)
    X = stack([travelled.X, groups.X])
    rows = TwoClassRows(
        travelled.X,
        plan.signs(travelled.class_index)[task],
        plan.C * travelled.weight,
        np.zeros(travelled.n_rows, dtype=np.intp),
    )
    units = TwoClassRows(
        X,
        np.concatenate([rows.sign, groups.sign]),
        np.concatenate([rows.bounds, groups.bounds]),
        np.zeros(X.shape[0], dtype=np.intp),
    )
    start = np.concatenate([travelled.duals[task], groups.duals])
    # Processes have no other clock in common.
    left = None if deadline is None else max(0.0, deadline - time.time())
    options = replace(
        plan.settings.options,
        deadline=None if left is None else time.perf_counter() + left,
        cancel=cancel_event(),
        n_threads=1,
    )
    found = solve_all(units, _space(plan, X), options, start)
    own, last = slice(travelled.n_rows), found.last
    primal, dual = objectives(units, found)
    plan.files.write_duals(task, version, found.duals)
    return {
        "groups": found.duals[travelled.n_rows :],
        "coef": np.empty(0) if last.coef is None else last.coef,
        "intercept": np.array(last.intercept),
        # Of the units: the hyperplane, and the rows that have travelled.
        "objective": np.array(dual),
        "primal": np.array(
            primal
            - hinge_loss(units, last.decisions)
            + hinge_loss(rows, last.decisions[own])
        ),
        "violation": np.array(
            largest_violation(rows, found.duals[own], last.decisions[own])
        ),
        "n_units": np.array(X.shape[0]),
        "status": np.array(last.status.value),
        "n_iter": np.array(last.n_iter),
    }


def check_part(
    item: tuple[int, list[Floats]], plan: Plan, planes: Hyperplanes, share: float
) -> Statistics:
    """Look how all rows of a partition that have not travelled lie to the margins.

    Writes what the partition gives to the next pass.

    Parameters
    ----------
    item : tuple
        Number of the partition and the duals of its groups in each task.
    plan : Plan
    planes : Hyperplanes
    share : float
        Part of the rows that may travel where pseudo-centres stand for groups.

    Returns
    -------
    dict
        "violation" and "loss", the sum of the margin errors, of shape (1, n_tasks), and
        what :func:`summarize_part` says.
    """
    number, group_duals = item
    part = plan.files.read_part(number)
    state = plan.files.read_state(number, planes.version)
    tasks = _tasks(plan, part, state)
    seen = Seen(
        tasks, _implied_duals(plan, tasks, group_duals), _decide(part.X, plan, planes).T
    )
    group = state.group
    if plan.representative == "mean":
        group = np.array(list(map(split_group, tasks, seen.decisions)))
        opened = open_groups(seen, group, plan.settings)
    else:
        most = math.ceil(share * np.count_nonzero(state.left))
        opened = open_most(seen, most, plan.settings)
    after = PartState(state.left & ~opened, group)
    name = number, planes.version + 1
    told = _write_state(plan, name, part, after, opened, seen.duals)
    violation = map(largest_violation, tasks, seen.duals, seen.decisions)
    loss = map(hinge_loss, tasks, seen.decisions)
    return told | {
        "violation": np.array([list(violation)]),
        "loss": np.array([list(loss)]),
    }


def collect_part(
    item: tuple[int, list[Floats]], plan: Plan, version: int
) -> tuple[NDArray[np.intp], NDArray[np.int32], Floats, Any]:
    """Rows of a partition that have a dual and have not travelled.

    Returns
    -------
    place : ndarray of shape (n_support,)
    class_index : ndarray of shape (n_support,)
    duals : ndarray of shape (n_tasks, n_support)
    X : ndarray or CSR of shape (n_support, n_features)
        Without rows if the kernel is linear, which does not need them.
    """
    number, group_duals = item
    part = plan.files.read_part(number)
    tasks = _tasks(plan, part, plan.files.read_state(number, version))
    duals = _implied_duals(plan, tasks, group_duals)
    support = np.flatnonzero(duals.any(axis=0))
    kept = support[:0] if plan.kernel.name == "linear" else support
    return (
        part.place[support],
        part.class_index[support],
        duals[:, support],
        take_rows(part.X, kept),
    )


def _write_start(
    plan: Plan, number: int, part: PartRows, cluster: NDArray[np.intp]
) -> Statistics:
    """State before the first pass: the clusters are the groups."""
    n_rows = len(part.weight)
    n_groupings = plan.n_tasks if plan.representative == "mean" else 1
    group = np.tile(cluster.astype(np.int32), (n_groupings, 1))
    nothing, duals = np.zeros(n_rows, dtype=bool), np.zeros((plan.n_tasks, n_rows))
    state = PartState(~nothing, group)
    return _write_state(plan, (number, 0), part, state, nothing, duals)


def _write_state(
    plan: Plan,
    name: tuple[int, int],
    part: PartRows,
    state: PartState,
    new: NDArray[np.bool_],
    duals: Floats,
) -> Statistics:
    chosen = np.flatnonzero(new)
    travelled = Travelled(
        take_rows(part.X, chosen),
        part.class_index[chosen],
        part.weight[chosen],
        part.place[chosen].astype(np.int64),
        duals[:, chosen],
    )
    groups = []
    for task, own in zip(_tasks(plan, part, state), duals, strict=True):
        units = _units(plan, task)
        X = part.X[units.shares.indices]
        if plan.representative == "mean":
            X = FeatureSpace(part.X, by_interior_point=False).means(units)
        groups.append(Groups(X, units.sign, units.bounds, unit_duals(units, own)))
    plan.files.write_state(*name, state, travelled, groups)
    n_left = int(np.count_nonzero(state.left))
    return _told(plan, name[0], len(chosen), n_left, [len(g.sign) for g in groups])


def _told(
    plan: Plan,
    number: int,
    n_new: int = 0,
    n_left: int = 0,
    n_groups: Sequence[int] = (),
) -> Statistics:
    return {
        "number": np.array([number]),
        "n_new": np.array([n_new]),
        "n_left": np.array([n_left]),
        "n_groups": np.array([n_groups or (0,) * plan.n_tasks]),
    }


def _tasks(plan: Plan, part: PartRows, state: PartState) -> list[TwoClassRows]:
    """Rows of each task in their groups; those that have travelled take no part."""
    bounds = plan.C * np.where(state.left, part.weight, 0.0)
    groups = np.broadcast_to(state.group, (plan.n_tasks, len(bounds))).astype(np.intp)
    return [
        TwoClassRows(part.X, sign, bounds, group)
        for sign, group in zip(plan.signs(part.class_index), groups, strict=True)
    ]


def _units(plan: Plan, task: TwoClassRows) -> Units:
    """Make a unit of each group that has rows left."""
    nothing = np.zeros(len(task.sign), dtype=bool)
    side = np.zeros(len(task.sign), dtype=np.intp)
    return make_units(task, nothing, side, plan.representative)


def _implied_duals(
    plan: Plan, tasks: list[TwoClassRows], group_duals: list[Floats]
) -> Floats:
    """Duals of shape (n_tasks, n_rows): shares of rows in those of their groups."""
    return np.array(
        [
            _units(plan, task).shares.T @ duals
            for task, duals in zip(tasks, group_duals, strict=True)
        ]
    )


def _space(plan: Plan, X: Any) -> DualSpace:
    if plan.kernel.name == "linear":
        return FeatureSpace(X, plan.by_interior_point)
    return RowSpace(X, plan.kernel, 1)


def _decide(X: Any, plan: Plan, planes: Hyperplanes) -> Floats:
    """Decisions of shape (n_rows, n_tasks)."""
    if plan.kernel.name == "linear":
        with single_threaded_libraries():
            return np.asarray(X @ planes.coef.T, dtype=np.float64) + planes.intercept
    files, version = plan.files, planes.version
    # Pseudo-centres are the same in all tasks.
    rows = stack([files.read_travelled(version).X, files.read_groups(version, 0).X])
    duals = np.array(files.read_duals(plan.n_tasks, version))
    support = np.flatnonzero(duals.any(axis=0))
    Z = take_rows(rows, support)
    return kernel_sums(plan.kernel, X, Z, duals[:, support], 1) + planes.intercept
