"""ClusteredSVC on rows in partitions: scan, cluster, assign, solve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from localsvm.cluster import HardRegions, SoftRegions
from localsvm.engine import MemoryNeed, Partitions, Statistics
from localsvm.estimators._base import StageClock, check_solution
from localsvm.estimators._clustered_parts import (
    Coding,
    Plan,
    assign_part,
    evaluate_part,
    merge_assignments,
    merge_terms,
    run_pass,
    write_start,
)
from localsvm.estimators._part_clusterer import PartClusterer
from localsvm.estimators._part_scan import (
    count_part,
    merge_counts,
    merge_scans,
    scan_part,
)
from localsvm.estimators._regional_model import RegionalModel
from localsvm.estimators._scale import SCALED_C, intercept_constant
from localsvm.solvers import CodedTask, LinearSolution, SolverOptions, Status

# Rows of a solve that are new to it, in bytes. With those that are kept, joined and
# compared it takes eight times that.
_WORKING_BYTES = 48e6
_WORKING_COPIES = 8


@dataclass(frozen=True)
class TaskState:
    """How far a task is.

    Attributes
    ----------
    version : int
        Passes that it has made.
    primal, dual : float
    n_support : tuple of int
        Rows with a dual for each weight vector of a node.
    status : Status or None
        None while it goes on.
    """

    version: int = 0
    primal: float = np.inf
    dual: float = -np.inf
    n_support: tuple[int, ...] = (0,)
    status: Status | None = None

    @property
    def relative_gap(self) -> float:
        """Duality gap as a part of the primal."""
        if not np.isfinite(self.primal):
            return np.inf
        return max(0.0, self.primal - self.dual) / self.primal if self.primal else 0.0


@dataclass(frozen=True)
class PartitionSolution:
    """How the tasks ended."""

    states: Sequence[TaskState]

    @property
    def n_problems(self) -> int:
        """Number of tasks."""
        return len(self.states)

    @property
    def worst_gap(self) -> float:
        """Largest relative duality gap."""
        return max(state.relative_gap for state in self.states)

    @property
    def shortfall(self) -> str:
        """How far from optimal the worst task is, in words."""
        return f"worst relative duality gap {self.worst_gap:.1e}"

    def count(self, status: Status) -> int:
        """Count the tasks that ended with ``status``."""
        return sum(state.status == status for state in self.states)


class PartitionFit:
    """Steps of the fit of one ClusteredSVC.

    Parameters
    ----------
    model : ClusteredSVC
        Gets the fitted attributes.
    rows : Partitions
    """

    def __init__(self, model: Any, rows: Partitions) -> None:
        self.model = model
        self.rows = rows
        self.clock = StageClock(model.max_time)
        self.seed = rows.seed(model._draw_seed)

    def run(self) -> None:
        """Scan, cluster, assign, solve."""
        self.rows.require_memory(self._memory())
        clusterer = PartClusterer(self.model, self.seed)
        with self.clock.stage("scan"):
            scan = self._scan(clusterer)
        with self.clock.stage("cluster"):
            fitted = clusterer.fit(self.rows, scan)
        with self.clock.stage("assign"):
            plan = self._assign(fitted, scan)
        with self.clock.stage("solve"):
            states = self._solve(plan)
        self._store(plan, states)
        check_solution(PartitionSolution(states), self.model)

    def _memory(self) -> MemoryNeed:
        source, model = self.rows.source, self.model
        codes = model.n_nearest if model.assignment == "soft" else 1
        per_row = 2 * 8.0 * (codes + 1) + 100.0
        working = _WORKING_COPIES * _WORKING_BYTES
        if source.n_rows is not None:
            row = source.n_features * source.dtype.itemsize + per_row
            working = min(working, _WORKING_COPIES * row * source.n_rows)
        return MemoryNeed(copies=3.0, bytes_per_row=per_row, fixed=working)

    def _scan(self, clusterer: PartClusterer) -> Statistics:
        n_rows = self.rows.source.n_rows
        if n_rows is None:
            counted = self.rows.reduce(count_part, merge_counts, stage="count")
            n_rows = int(counted["n_rows"])
        limit = clusterer.sample_limit(n_rows)
        scan = self.rows.reduce(
            scan_part, merge_scans, clusterer.sample_seed, limit, stage="scan"
        )
        model, mass = self.model, scan["mass"]
        if not mass.any():
            raise ValueError(
                "Sample weights must contain at least one non-zero number."
            )
        model.classes_ = scan["classes"]
        model._penalty_weight(model.classes_, np.arange(len(mass)), mass)
        model._warn_of_scales(np.stack([scan["low"], scan["high"]]))
        mean = float(scan["squares"] / mass.sum())
        self.mean_square = mean if 0 < mean < np.inf else 1.0
        model.intercept_scaling_ = intercept_constant(model, self.mean_square)
        return scan

    def _assign(self, clusterer: Any, scan: Statistics) -> Plan:
        model, rows = self.model, self.rows
        regions: HardRegions | SoftRegions = HardRegions(clusterer)
        if model.assignment == "soft":
            regions = SoftRegions(
                np.asarray(clusterer.cluster_centers_),
                n_nearest=model.n_nearest,
                sharpness=model.sharpness,
            )
        class_weight = model._class_weight(model.classes_, scan["mass"])
        found = rows.reduce(
            assign_part,
            merge_assignments,
            rows.folder,
            regions,
            model.classes_,
            class_weight,
            stage="assign",
        )
        if isinstance(regions, SoftRegions):
            regions.adapt(float(found["distance"] / scan["mass"].sum()))
        else:
            n_centers = 0 if regions.centers is None else len(regions.centers)
            regions.n_regions = max(int(found["pairs"][:, 0].max()) + 1, n_centers)
        self._store_regions(clusterer, regions, found)
        return self._plan(regions, found)

    def _store_regions(
        self, clusterer: Any, regions: HardRegions | SoftRegions, found: Statistics
    ) -> None:
        model, (region, label) = self.model, found["pairs"].T
        model.clusterer_, model.regions_ = clusterer, regions
        model.n_regions_ = regions.n_regions
        sizes = np.bincount(region, found["sizes"], regions.n_regions)
        model.region_sizes_ = sizes.astype(np.intp)
        counts = np.zeros((regions.n_regions, len(model.classes_)))
        counts[region, label] = found["counts"]
        model.region_class_counts_ = counts

    def _plan(self, regions: HardRegions | SoftRegions, found: Statistics) -> Plan:
        model, source = self.model, self.rows.source
        model.metric_ = None
        is_scaled = isinstance(model.C, str)
        model.C_ = SCALED_C / self.mean_square if is_scaled else float(model.C)
        coding = Coding(regions, float(1.0 / np.sqrt(model.global_reg)), model.C_)
        sizes = np.zeros(source.n_partitions, dtype=np.int64)
        sizes[found["number"]] = found["n_rows"]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        n_codes = getattr(regions, "n_nearest", 1) + 1
        row_bytes = source.dtype.itemsize * (source.n_features + n_codes) + 8 * n_codes
        options = SolverOptions(
            loss=model.loss, tol=model.tol, max_iter=model.max_iter, seed=self.seed
        )
        return Plan(
            self.rows.folder,
            coding,
            self._tasks(coding),
            starts,
            max(1, int(_WORKING_BYTES / row_bytes)),
            options,
        )

    def _tasks(self, coding: Coding) -> tuple[CodedTask, ...]:
        model = self.model
        n_classes = len(model.classes_)
        positive: list[int | None] = list(range(n_classes))
        if n_classes == 2:
            positive = [1]
        elif model._is_joint:
            positive = [None]
        return tuple(
            CodedTask(
                n_classes, each, coding.n_nodes, model.intercept_scaling_, model.loss
            )
            for each in positive
        )

    def _solve(self, plan: Plan) -> list[TaskState]:
        """Pass after pass, until the gap of every task is small."""
        states = _restore_states(self.rows)
        if states is None:
            write_start(plan, self.rows.source.n_features)
            states = [TaskState() for _ in plan.tasks]
        while any(state.status is None for state in states):
            states = self._go_on(plan, states)
            if self.rows.checkpoint is not None:
                self.rows.checkpoint.save("solve", _as_arrays(states), now=True)
            _remove_older(plan, states)
        return states

    def _go_on(self, plan: Plan, states: list[TaskState]) -> list[TaskState]:
        """One pass of the tasks that are not done, and their certificates."""
        left = self.clock.remaining()
        going = [t for t, state in enumerate(states) if state.status is None]
        items = [(task, states[task].version, states[task].primal) for task in going]
        list(self.rows.run(run_pass, items, plan, left, stage="solve"))
        versions = tuple((task, version + 1) for task, version, _ in items)
        parts = np.flatnonzero(np.diff(plan.starts)).tolist()
        found = self.rows.run(evaluate_part, parts, plan, versions, stage="gap")
        sums = reduce(merge_terms, found)
        out_of_time = self.clock.remaining() == 0.0
        states = list(states)
        for (task, version), (loss, linear), support in zip(
            versions, sums["terms"].tolist(), sums["support"].tolist(), strict=True
        ):
            vectors = np.load(plan.vectors_file(task, version))
            penalty = 0.5 * float(np.vdot(vectors, vectors))
            state = TaskState(version, penalty + loss, linear - penalty, tuple(support))
            states[task] = _judged(state, self.model, out_of_time)
        return states

    def _store(self, plan: Plan, states: list[TaskState]) -> None:
        model = self.model
        vectors = [
            np.load(plan.vectors_file(task, state.version))
            for task, state in enumerate(states)
        ]
        # Tasks (or, jointly, classes) first.
        nodes = np.concatenate([each.swapaxes(0, 1) for each in vectors])
        solution = LinearSolution(
            nodes[:, :, :-1],
            nodes[:, :, -1] * model.intercept_scaling_,
            np.empty((len(nodes), 0)),
            [],
        )
        model._model = RegionalModel.from_solution(
            solution, plan.coding.global_weight, self.rows.source.dtype
        )
        model.duality_gap_ = PartitionSolution(states).worst_gap
        model.n_iter_ = max(state.version for state in states)
        model.n_support_ = np.concatenate([state.n_support for state in states])
        model.fit_report_ = self.clock.seconds


def _judged(state: TaskState, model: Any, out_of_time: bool) -> TaskState:
    """Say whether a task is done."""
    status = None
    if not np.isfinite(state.primal) or not np.isfinite(state.dual):
        status = Status.not_finite
    elif state.relative_gap <= model.tol:
        status = Status.converged
    elif out_of_time:
        status = Status.max_time
    elif state.version >= model.max_iter:
        status = Status.max_iter
    return replace(state, status=status)


def _as_arrays(states: list[TaskState]) -> Statistics:
    return {
        "version": np.array([state.version for state in states]),
        "primal": np.array([state.primal for state in states]),
        "dual": np.array([state.dual for state in states]),
        "n_support": np.array([state.n_support for state in states]),
        "status": np.array(
            [-1 if state.status is None else state.status.value for state in states]
        ),
    }


def _restore_states(rows: Partitions) -> list[TaskState] | None:
    known = rows.checkpoint.load("solve") if rows.checkpoint is not None else None
    if known is None:
        return None
    columns = [known[name] for name in _as_arrays([])]
    return [
        TaskState(
            int(version),
            float(primal),
            float(dual),
            tuple(n_support.tolist()),
            None if status < 0 else Status(int(status)),
        )
        for version, primal, dual, n_support, status in zip(*columns, strict=True)
    ]


def _remove_older(plan: Plan, states: list[TaskState]) -> None:
    """Remove the files of earlier passes, once the state of the last is written."""
    for task, state in enumerate(states):
        for file in (plan.vectors_file, plan.duals_file):
            file(task, state.version - 1).unlink(missing_ok=True)
