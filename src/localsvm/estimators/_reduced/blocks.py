"""What is done to one block: sum, merge and cluster, check, collect."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._threads import single_threaded_libraries
from localsvm.cluster import PDDP, copy_for, hard_labels
from localsvm.engine import Block, Labels, Record
from localsvm.estimators._reduced.model import kernel_sums
from localsvm.estimators._reduced.records import (
    ActiveRows,
    BlockRows,
    BlockState,
    Check,
    Floats,
    Groups,
    Offer,
    ReducedStore,
    Summary,
    stack,
)
from localsvm.estimators._reduced.reduction import (
    Seen,
    TwoClassRows,
    first_representative,
    hinge_loss,
    largest_violation,
    make_units,
    open_groups,
    open_most,
    signs_of_tasks,
    split_group,
    unit_duals,
)
from localsvm.estimators._reduced.settings import ReductionSettings
from localsvm.estimators._reduced.spaces import FeatureSpace, Units
from localsvm.kernels import Kernel
from localsvm.passes import Content
from localsvm.rows import Rows, take_rows


@dataclass(frozen=True)
class Diagonal(Record):
    """Sum of K(x, x) over rows, each times its sample weight.

    Attributes
    ----------
    total : float
    weight : float
        Sum of the sample weights.
    """

    total: float
    weight: float

    @classmethod
    def of(cls, kernel: Kernel, X: Any, weight: NDArray[np.float64]) -> Diagonal:
        """Sum over some rows."""
        if kernel.of_distances:
            return cls(float(weight.sum()), float(weight.sum()))
        values = kernel.diagonal(X).astype(np.float64, copy=False)
        return cls(float(weight @ values), float(weight.sum()))

    def merge(self, other: Diagonal) -> Diagonal:
        """Sum over the rows of both."""
        return Diagonal(self.total + other.total, self.weight + other.weight)

    @property
    def mean(self) -> float:
        """Mean over the rows; 1 if it is not positive or overflows."""
        mean = self.total / self.weight if self.weight > 0 else 1.0
        return mean if 0 < mean < np.inf else 1.0


def look_at_block(block: Block) -> Content:
    """Classes, their weights, and the scale of the columns."""
    return Content.of(block)


def sum_diagonal(block: Block, kernel: Kernel) -> Diagonal:
    """Sum K(x, x) over the rows of a block."""
    return Diagonal.of(kernel, block.X, block.sample_weight)


@dataclass(frozen=True)
class Plan:
    """What is the same for all blocks and passes.

    Attributes
    ----------
    stored : ReducedStore
    labels : Labels
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

    stored: ReducedStore
    labels: Labels
    kernel: Kernel
    C: float
    by_interior_point: bool
    settings: ReductionSettings
    clusterer: Any
    clusters_per_row: Floats
    seed: int

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.labels.classes)

    @property
    def n_tasks(self) -> int:
        """One for two classes, else one per class."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def representative(self) -> str:
        """What stands for a group: "mean", "weighted_center" or "pseudo_center"."""
        is_linear = self.kernel.name == "linear"
        return first_representative(is_linear, self.settings)

    def signs(self, class_index: NDArray[np.int32]) -> list[Floats]:
        """Sides of rows in each task."""
        return signs_of_tasks(class_index, self.n_classes)

    def make_clusterer(self, label: int, n_rows: int) -> Any:
        """Give a clusterer for the rows of a class in a block."""
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
        No columns unless the kernel is linear; the duals are stored then.
    intercept : ndarray of shape (n_tasks,)
    """

    version: int
    coef: Floats
    intercept: Floats


def summarize_block(block: Block, plan: Plan) -> Summary:
    """Merge and cluster the rows of a block, and store what stands for them.

    Rows without weight are left out.
    """
    merged = block.rows(plan.labels).merged(plan.seed)
    distinct, number = merged.rows, block.number
    offer = Offer.of(number, 0, 0, (0,) * plan.n_tasks)
    if distinct.n_rows:
        rows = BlockRows(
            distinct.X, distinct.class_index, distinct.penalty_weight, merged.first
        )
        plan.stored.write_rows(number, rows)
        cluster = cluster_classes(rows.X, rows.class_index, plan.make_clusterer)
        offer = _offer_clusters(plan, number, rows, cluster)
    return Summary(np.array([block.n_rows]), np.array([distinct.n_rows]), offer)


def cluster_rows(rows: Rows, clusterer: Any, seed: int) -> NDArray[np.intp]:
    """Cluster each class once, for all tasks."""
    template = PDDP() if clusterer is None else clusterer
    return cluster_classes(
        rows.X, rows.class_index, lambda _, n_rows: copy_for(template, n_rows, seed)
    )


def cluster_classes(
    X: Any,
    class_index: NDArray[np.int32],
    make_clusterer: Callable[[int, int], Any],
) -> NDArray[np.intp]:
    """Cluster the rows of each class.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    class_index : ndarray of shape (n_samples,)
    make_clusterer : callable
        Gives a new clusterer for a class and the number of its rows.

    Returns
    -------
    ndarray of shape (n_samples,)
        From 0; clusters of different classes have different numbers.
    """
    clusters = np.zeros(len(class_index), dtype=np.intp)
    n_clusters = 0
    for label in np.unique(class_index).tolist():
        own = np.flatnonzero(class_index == label)
        rows = take_rows(X, own)
        clusterer = make_clusterer(label, len(own)).fit(rows)
        clusters[own] = n_clusters + hard_labels(clusterer, rows)
        n_clusters = int(clusters.max()) + 1
    return clusters


def check_block(
    item: tuple[int, list[Floats]], plan: Plan, planes: Hyperplanes, share: float
) -> Check:
    """Check the optimality conditions of the rows that are not active.

    Stores what the block gives to the next pass.

    Parameters
    ----------
    item : tuple
        Number of the block and the duals of its groups in each task.
    plan : Plan
    planes : Hyperplanes
    share : float
        Fraction of the rows that may enter where pseudo-centres stand for groups.
    """
    number, group_duals = item
    rows = plan.stored.read_rows(number)
    state = plan.stored.read_state(number, planes.version)
    tasks = _tasks(plan, rows, state)
    seen = Seen(
        tasks, _implied_duals(plan, tasks, group_duals), _decide(rows.X, plan, planes).T
    )
    group = state.group
    if plan.representative == "mean":
        group = np.array(list(map(split_group, tasks, seen.decisions)))
        opened = open_groups(seen, group, plan.settings)
    else:
        most = math.ceil(share * np.count_nonzero(state.left))
        opened = open_most(seen, most, plan.settings)
    after = BlockState(state.left & ~opened, group)
    version = number, planes.version + 1
    violation = map(largest_violation, tasks, seen.duals, seen.decisions)
    return Check(
        np.array(list(violation)),
        np.array(list(map(hinge_loss, tasks, seen.decisions))),
        _write_offer(plan, version, rows, after, opened, seen.duals),
    )


def collect_block(
    item: tuple[int, list[Floats]], plan: Plan, version: int
) -> ActiveRows:
    """Rows of a block that have a dual and are not active.

    The linear kernel does not need the rows themselves: X has none of them then.
    """
    number, group_duals = item
    rows = plan.stored.read_rows(number)
    tasks = _tasks(plan, rows, plan.stored.read_state(number, version))
    duals = _implied_duals(plan, tasks, group_duals)
    support = np.flatnonzero(duals.any(axis=0))
    kept = support[:0] if plan.kernel.name == "linear" else support
    return ActiveRows(
        take_rows(rows.X, kept),
        rows.class_index[support],
        rows.weight[support],
        rows.place[support].astype(np.int64),
        duals[:, support],
    )


def _offer_clusters(
    plan: Plan, number: int, rows: BlockRows, cluster: NDArray[np.intp]
) -> Offer:
    """State before the first pass: the clusters are the groups."""
    n_rows = len(rows.weight)
    n_groupings = plan.n_tasks if plan.representative == "mean" else 1
    group = np.tile(cluster.astype(np.int32), (n_groupings, 1))
    nothing, duals = np.zeros(n_rows, dtype=bool), np.zeros((plan.n_tasks, n_rows))
    state = BlockState(~nothing, group)
    return _write_offer(plan, (number, 0), rows, state, nothing, duals)


def _write_offer(
    plan: Plan,
    version: tuple[int, int],
    rows: BlockRows,
    state: BlockState,
    new: NDArray[np.bool_],
    duals: Floats,
) -> Offer:
    """Store what a block, given by its number and pass, gives to that pass."""
    chosen = np.flatnonzero(new)
    active = ActiveRows(
        take_rows(rows.X, chosen),
        rows.class_index[chosen],
        rows.weight[chosen],
        rows.place[chosen].astype(np.int64),
        duals[:, chosen],
    )
    groups = []
    for task, own in zip(_tasks(plan, rows, state), duals, strict=True):
        units = _units(plan, task)
        X = rows.X[units.shares.indices]
        if plan.representative == "mean":
            X = FeatureSpace(rows.X, by_interior_point=False).means(units)
        groups.append(Groups(X, units.sign, units.bounds, unit_duals(units, own)))
    plan.stored.write_state(*version, state, active, groups)
    n_left = int(np.count_nonzero(state.left))
    return Offer.of(version[0], len(chosen), n_left, [len(g.sign) for g in groups])


def _tasks(plan: Plan, rows: BlockRows, state: BlockState) -> list[TwoClassRows]:
    """Rows of each task in their groups; active ones have the bound zero."""
    bounds = plan.C * np.where(state.left, rows.weight, 0.0)
    groups = np.broadcast_to(state.group, (plan.n_tasks, len(bounds))).astype(np.intp)
    return [
        TwoClassRows(rows.X, sign, bounds, group)
        for sign, group in zip(plan.signs(rows.class_index), groups, strict=True)
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


def _decide(X: Any, plan: Plan, planes: Hyperplanes) -> Floats:
    """Decisions of shape (n_rows, n_tasks)."""
    if plan.kernel.name == "linear":
        with single_threaded_libraries():
            return np.asarray(X @ planes.coef.T, dtype=np.float64) + planes.intercept
    stored, version = plan.stored, planes.version
    # Pseudo-centres are the same in all tasks.
    rows = stack([stored.read_active(version).X, stored.read_groups(version, 0).X])
    duals = np.array(stored.read_duals(plan.n_tasks, version))
    support = np.flatnonzero(duals.any(axis=0))
    Z = take_rows(rows, support)
    return kernel_sums(plan.kernel, X, Z, duals[:, support], 1) + planes.intercept
