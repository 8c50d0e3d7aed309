"""ReducedSVC on rows in partitions: summarise, solve, look at all rows, again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.engine import Blocks, Labels, MemoryNeed, Statistics
from localsvm.estimators._reduced.blocks import (
    Hyperplanes,
    Plan,
    check_part,
    collect_part,
    gather,
    join_parts,
    solve_task,
    summarize_part,
)
from localsvm.estimators._reduced.fit import (
    FitOptions,
    ReducedFit,
    ReducedSettings,
    TaskReport,
)
from localsvm.estimators._reduced.model import ReducedModel
from localsvm.estimators._reduced.records import Floats, ReducedFiles, stack
from localsvm.estimators._reduced.reduction import relative_gap
from localsvm.estimators._reduced.rule import ReductionRule
from localsvm.rows import take_rows
from localsvm.solvers import Status

# So many clusters of a class are no burden to the first solve.
_CHEAP_CLUSTERS = 2000
# Rows that may travel after a pass, in rows and groups of its problem.
_GROWTH = 2.0
_CURE = (
    "Use kernel='linear', with which rows far inside the margin stay where they are, a "
    "smaller band or a smaller C; LocalSVC or SupportClusterSVC, which solve for parts "
    "or summaries of the rows; or allow more memory."
)


@dataclass(frozen=True)
class Before:
    """What is known before a pass.

    Attributes
    ----------
    version : int
        Passes that were made.
    n_travelled, n_new : int
        Rows that travelled before the last pass, and after it.
    n_left : int
        Rows that have not travelled.
    n_groups : ndarray of shape (n_parts, n_tasks)
    used : ndarray of shape (n_passes, n_tasks)
        Rows and groups in the problems so far.
    """

    version: int
    n_travelled: int
    n_new: int
    n_left: int
    n_groups: NDArray[np.int64]
    used: NDArray[np.int64]

    def as_arrays(self) -> Statistics:
        """Give it as it can be written down."""
        return {name: np.asarray(value) for name, value in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: Statistics) -> Before:
        """Undo :meth:`as_arrays`."""
        names = ("version", "n_travelled", "n_new", "n_left")
        counts = {name: int(arrays[name]) for name in names}
        return cls(**counts, n_groups=arrays["n_groups"], used=arrays["used"])


class ReducedPartitionFit:
    """Steps of a fit to rows in blocks.

    Parameters
    ----------
    rows : Blocks
    settings : ReducedSettings
    options : FitOptions
    labels : Labels
        Classes and their weights.
    survey : dict
        Of all rows.
    """

    def __init__(
        self,
        rows: Blocks,
        settings: ReducedSettings,
        options: FitOptions,
        labels: Labels,
        survey: Statistics,
    ) -> None:
        self.rows = rows
        self.settings = settings
        self.options = options
        self.labels = labels
        self.survey = survey
        self.clock = options.clock

    def run(self) -> ReducedFit:
        """Summarise, solve and check until the solution is that of all rows."""
        plan = self._plan()
        with self.clock.stage("cluster"):
            before = self._summarize(plan)
        return self._solve(plan, self._restored() or before)

    def _plan(self) -> Plan:
        settings, options, found = self.settings, self.options, self.survey
        like: Any = np.empty((0, self.rows.n_features))
        if found["is_sparse"]:
            like = sparse.csr_array(like)
        counts = np.maximum(found["counts"], 1.0)
        rule = settings.reduction or ReductionRule()
        is_linear = settings.kernel.name == "linear"
        rule = replace(rule, use_bounds=rule.use_bounds and is_linear)
        solver = replace(options.for_reduction(), deadline=None)
        return Plan(
            ReducedFiles(self.rows.folder),
            self.labels.classes,
            self.labels.class_weight,
            settings.kernel,
            settings.C,
            settings.takes_interior_point(like),
            rule.with_options(options.tol, solver),
            settings.clusterer,
            np.maximum(np.sqrt(counts), _CHEAP_CLUSTERS) / counts,
            options.seed,
        )

    def _summarize(self, plan: Plan) -> Before:
        found = self.rows.reduce(summarize_part, join_parts, plan, stage="cluster")
        sizes = np.zeros(self.rows.source.n_partitions, dtype=np.int64)
        sizes[found["number"]] = found["n_rows"]
        self.n_rows = int(sizes.sum())
        present = found["n_kept"] > 0
        self.numbers = found["number"][present].tolist()
        self.starts = (np.cumsum(sizes) - sizes)[self.numbers].tolist()
        return Before(
            0,
            0,
            int(found["n_new"].sum()),
            int(found["n_left"].sum()),
            found["n_groups"][present],
            np.empty((0, plan.n_tasks), dtype=np.int64),
        )

    def _restored(self) -> Before | None:
        checkpoint = self.rows.checkpoint
        state = None if checkpoint is None else checkpoint.load("passes")
        return None if state is None else Before.from_arrays(state)

    def _solve(self, plan: Plan, before: Before) -> ReducedFit:
        """Pass after pass, until no row violates the conditions."""
        while True:
            self._require_room(plan, before)
            with self.clock.stage("solve"):
                n_travelled, found = self._solve_tasks(plan, before)
            used = np.vstack([before.used, [each["n_units"] for each in found]])
            before = replace(before, n_travelled=n_travelled, used=used)
            with self.clock.stage("check"):
                checked = self._check(plan, before, found)
            violation = np.maximum(
                [each["violation"] for each in found], checked["violation"].max(axis=0)
            )
            after = replace(
                before,
                version=before.version + 1,
                n_new=int(checked["n_new"].sum()),
                n_left=int(checked["n_left"].sum()),
                n_groups=checked["n_groups"],
            )
            if self._is_done(plan, before, after, violation):
                break
            self._keep_state(plan, after)
            before = after
        primal = np.array([float(each["primal"]) for each in found])
        primal += checked["loss"].sum(axis=0)
        with self.clock.stage("collect"):
            return self._collect(plan, before, found, violation, primal)

    def _is_done(
        self, plan: Plan, before: Before, after: Before, violation: Floats
    ) -> bool:
        stuck = after.n_new == 0 and np.array_equal(after.n_groups, before.n_groups)
        return bool(
            violation.max() <= self.options.tol
            or before.version == plan.settings.max_passes
            or stuck
            or self.clock.remaining() == 0.0
        )

    def _require_room(self, plan: Plan, before: Before) -> None:
        """Refuse before rows travel if they do not fit where they are solved for."""
        itemsize, n_tasks = self.rows.source.dtype.itemsize, plan.n_tasks
        n_rows = before.n_travelled + before.n_new
        n_rows += int(before.n_groups.sum(axis=0).max(initial=0))
        cache = min(self.options.cache_size * 2**20, itemsize * float(n_rows) ** 2)
        need = MemoryNeed(
            copies=4.0 + 16.0 / itemsize,
            bytes_per_row=100.0 + 16.0 * n_tasks,
            fixed=0.0 if plan.by_interior_point else cache,
        )
        what = f"The SVM after pass {before.version}, of the rows that can matter,"
        self.rows.require_memory_of(need, n_rows, what, _CURE)
        per_row = 16.0 * (n_tasks + 1)
        if plan.kernel.name == "linear":
            kept = MemoryNeed(copies=0.0, bytes_per_row=per_row)
            what = "What the model says of rows with a dual (support_, dual_coef_)"
            n_rows += before.n_left
        else:
            kept = MemoryNeed(copies=3.0, bytes_per_row=per_row)
            what = "The model with its support vectors"
        self.rows.require_memory_here(kept, n_rows, what, _CURE)

    def _solve_tasks(self, plan: Plan, before: Before) -> tuple[int, list[Statistics]]:
        """Bring the new rows to the others and solve each task."""
        rows, version = self.rows, before.version
        (n_travelled,) = rows.run(
            gather, [version], plan, self.numbers, self.starts, stage="gather"
        )
        found = rows.run(
            solve_task,
            range(plan.n_tasks),
            version,
            plan,
            self._deadline(),
            stage="solve",
        )
        return n_travelled, list(found)

    def _deadline(self) -> float | None:
        """When the time is over, as of the clock that all processes share."""
        left = self.clock.remaining()
        return None if left is None else time.time() + left

    def _check(
        self, plan: Plan, before: Before, found: Sequence[Statistics]
    ) -> Statistics:
        planes = Hyperplanes(
            before.version,
            np.array([each["coef"] for each in found]),
            np.array([each["intercept"] for each in found]),
        )
        items = self._items(before, found)
        share = _GROWTH * float(before.used[-1].max()) / max(1, before.n_left)
        told = self.rows.run(check_part, items, plan, planes, share, stage="check")
        return reduce(join_parts, told)

    def _items(
        self, before: Before, found: Sequence[Statistics]
    ) -> list[tuple[int, list[Floats]]]:
        """Each partition with the duals of its groups."""
        ends = np.cumsum(before.n_groups, axis=0)
        starts = ends - before.n_groups
        return [
            (
                number,
                [each["groups"][a:b] for each, a, b in zip(found, *own, strict=True)],
            )
            for number, *own in zip(self.numbers, starts, ends, strict=True)
        ]

    def _keep_state(self, plan: Plan, after: Before) -> None:
        """Write down where the fit is; then files of older passes are not needed."""
        if self.rows.checkpoint is not None:
            self.rows.checkpoint.save("passes", after.as_arrays(), now=True)
        plan.files.remove_before(after.version, self.numbers, plan.n_tasks)

    def _collect(
        self,
        plan: Plan,
        before: Before,
        found: Sequence[Statistics],
        violation: Floats,
        primal: Floats,
    ) -> ReducedFit:
        how = "on features" if plan.kernel.name == "linear" else "on kernel rows"
        by = "by an interior point method" if plan.by_interior_point else "by SMO"
        out_of_time = self.clock.remaining() == 0.0
        support, n_support, dual_coef, vectors = self._support(plan, before, found)
        return ReducedFit(
            self.settings,
            ReducedModel(
                plan.kernel,
                vectors,
                dual_coef,
                np.array([each["coef"] for each in found]),
                np.array([float(each["intercept"]) for each in found]),
            ),
            support,
            n_support,
            tuple(
                TaskReport(
                    float(each["objective"]),
                    relative_gap(
                        float(primal[task]),
                        float(each["objective"]),
                        float(violation[task]),
                    ),
                    float(violation[task]),
                    before.used[:, task].tolist(),
                    Status.max_time if out_of_time else Status(int(each["status"])),
                    int(each["n_iter"]),
                )
                for task, each in enumerate(found)
            ),
            f"clusters of {self.rows.n_blocks} blocks opened, {how}, {by}",
            f"{before.n_travelled} of {self.n_rows} rows",
        )

    def _support(
        self, plan: Plan, before: Before, found: Sequence[Statistics]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats, Any]:
        """Rows that have a dual, in the order of the blocks.

        Their numbers, how many of each class there are, their duals, and the rows.
        """
        version, n_tasks = before.version, plan.n_tasks
        is_linear = plan.kernel.name == "linear"
        travelled = plan.files.read_travelled(version)
        solved = plan.files.read_duals(n_tasks, version)
        duals = np.array([own[: travelled.n_rows] for own in solved])
        support = np.flatnonzero(duals.any(axis=0))
        kept = support[:0] if is_linear else support
        pieces = [
            (
                travelled.number[support],
                travelled.class_index[support],
                duals[:, support],
                take_rows(travelled.X, kept),
            )
        ]
        items = self._items(before, found)
        stayed = self.rows.run(collect_part, items, plan, version, stage="collect")
        for start, (place, *others) in zip(self.starts, stayed, strict=True):
            pieces.append((start + place, *others))
        numbers, classes, columns, rows = zip(*pieces, strict=True)
        number, X = np.concatenate(numbers), stack(list(rows))
        order = np.argsort(number, kind="stable")
        return (
            number[order].astype(np.intp),
            np.bincount(np.concatenate(classes), minlength=len(plan.classes)),
            np.ascontiguousarray(np.concatenate(columns, axis=1)[:, order]),
            X if is_linear else take_rows(X, order),
        )


def memory_of_blocks(itemsize: int) -> MemoryNeed:
    """Rows as they are read, merged, and those of a class in float64, clustered.

    As much again, and more, is what the allocator keeps of arrays that are gone.
    """
    return MemoryNeed(copies=6.0 + 3 * 8.0 / itemsize, bytes_per_row=300.0)
