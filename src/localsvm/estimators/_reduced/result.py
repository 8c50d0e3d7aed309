"""What a fit returns, and how it is collected from blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from localsvm.engine import Blocks
from localsvm.estimators._held_out import HeldOut
from localsvm.estimators._reduced.blocks import Plan, collect_block
from localsvm.estimators._reduced.model import ReducedModel
from localsvm.estimators._reduced.records import (
    ActiveRows,
    Check,
    Floats,
    PassState,
    stack,
)
from localsvm.estimators._reduced.reduction import (
    ReducedSolution,
    TwoClassRows,
    objectives,
    relative_gap,
)
from localsvm.estimators._reduced.settings import FitOptions, ReducedSettings
from localsvm.rows import take_rows
from localsvm.solvers import Endings, Status


@dataclass(frozen=True)
class TaskReport:
    """How a task ended.

    Attributes
    ----------
    objective : float
        Of the dual.
    gap : float
        Relative duality gap over all rows.
    violation : float
        Largest violation of the optimality conditions, over all rows.
    rows_used : sequence of int
        Rows and groups in the problem of each pass.
    status : Status
    n_iter : int
    """

    objective: float
    gap: float
    violation: float
    rows_used: Sequence[int]
    status: Status
    n_iter: int

    @classmethod
    def of(cls, rows: TwoClassRows, solution: ReducedSolution) -> TaskReport:
        """Report on a solution of these rows."""
        last = solution.last
        primal, dual = objectives(rows, solution)
        return cls(
            dual,
            relative_gap(primal, dual, solution.violation),
            solution.violation,
            solution.rows_used,
            last.status,
            last.n_iter,
        )


@dataclass(frozen=True)
class ReducedFit:
    """Result of a fit.

    Attributes
    ----------
    settings : ReducedSettings
    model : ReducedModel
    support : ndarray of shape (n_support,)
        Training rows with a dual in any task.
    n_support : ndarray of shape (n_classes,)
        How many of them are of each class.
    tasks : tuple of TaskReport
    method : str
        How it was solved, in words.
    active : str or None
        Of a fit to blocks, how many rows entered the master problem.
    held_out : HeldOut or None
        Of a fit to rows in memory, decisions on some of them by fits without the row.
    """

    settings: ReducedSettings
    model: ReducedModel
    support: NDArray[np.intp]
    n_support: NDArray[np.intp]
    tasks: tuple[TaskReport, ...]
    method: str
    active: str | None = None
    held_out: HeldOut | None = None

    @property
    def violation(self) -> float:
        """Largest violation over all rows and tasks."""
        return float(max(task.violation for task in self.tasks))

    @property
    def gap(self) -> float:
        """Largest relative duality gap of a task."""
        return float(max(task.gap for task in self.tasks))

    @property
    def n_iter(self) -> int:
        """Most steps of a solver, at least one."""
        return max(1, *(task.n_iter for task in self.tasks))

    def endings(self, tol: float) -> Endings:
        """Status of each task; what is exact has converged, whatever its solver says.

        Parameters
        ----------
        tol : float
        """
        status = [
            Status.converged if task.violation <= tol else task.status
            for task in self.tasks
        ]
        return Endings(
            np.array([each.value for each in status]),
            np.array([task.violation for task in self.tasks]),
        )


@dataclass(frozen=True)
class Places:
    """Blocks with rows, and where these stand among all.

    Attributes
    ----------
    numbers : list of int
        Blocks with rows that count.
    starts : list of int
        Rows of the blocks before each of them.
    n_rows : int
        Rows of all blocks.
    """

    numbers: list[int]
    starts: list[int]
    n_rows: int


@dataclass(frozen=True)
class TaskSolution:
    """Solution of the master problem of a task.

    Attributes
    ----------
    group_duals : ndarray of shape (n_groups,)
        In the order of the blocks.
    coef : ndarray of shape (n_features,)
        Empty unless the kernel is linear.
    intercept : float
    objective : float
        Of the dual.
    primal : float
        Primal objective of the hyperplane and the active rows.
    violation : float
        Largest violation of the active rows.
    n_units : int
    status : Status
    n_iter : int
    """

    group_duals: Floats
    coef: Floats
    intercept: float
    objective: float
    primal: float
    violation: float
    n_units: int
    status: int
    n_iter: int


@dataclass(frozen=True)
class PassEnd:
    """The last pass.

    Attributes
    ----------
    state : PassState
        Before it.
    solved : list of TaskSolution
    check : Check
    """

    state: PassState
    solved: list[TaskSolution]
    check: Check

    @property
    def violation(self) -> Floats:
        """Largest violation over all rows, of each task."""
        own = [each.violation for each in self.solved]
        return np.maximum(own, self.check.violation)

    @property
    def primal(self) -> Floats:
        """Primal objective over all rows, of each task."""
        return np.array([each.primal for each in self.solved]) + self.check.loss


def with_group_duals(
    places: Places, state: PassState, solved: Sequence[TaskSolution]
) -> list[tuple[int, list[Floats]]]:
    """Each block with the duals of its groups in each task."""
    ends = np.cumsum(state.n_groups, axis=0)
    starts = ends - state.n_groups
    return [
        (
            number,
            [each.group_duals[a:b] for each, a, b in zip(solved, *own, strict=True)],
        )
        for number, *own in zip(places.numbers, starts, ends, strict=True)
    ]


def collect(
    blocks: Blocks,
    plan: Plan,
    settings: ReducedSettings,
    options: FitOptions,
    places: Places,
    end: PassEnd,
) -> ReducedFit:
    """Build the model from the rows that have a dual, in the order of the blocks."""
    state, solved, violation = end.state, end.solved, end.violation
    support = _support(blocks, plan, places, end)
    is_linear = plan.kernel.name == "linear"
    order = np.argsort(support.number, kind="stable")
    how = "on features" if is_linear else "on kernel rows"
    by = "by an interior point method" if plan.by_interior_point else "by SMO"
    out_of_time = options.clock.remaining() == 0.0
    return ReducedFit(
        settings,
        ReducedModel(
            plan.kernel,
            support.X if is_linear else take_rows(support.X, order),
            np.ascontiguousarray(support.duals[:, order]),
            np.array([each.coef for each in solved]),
            np.array([each.intercept for each in solved]),
        ),
        support.number[order].astype(np.intp),
        np.bincount(support.class_index, minlength=plan.n_classes),
        tuple(
            TaskReport(
                each.objective,
                relative_gap(float(primal), each.objective, float(away)),
                float(away),
                used.tolist(),
                Status.max_time if out_of_time else Status(each.status),
                each.n_iter,
            )
            for each, primal, away, used in zip(
                solved, end.primal, violation, state.used.T, strict=True
            )
        ),
        f"clusters of {blocks.n_blocks} blocks opened, {how}, {by}",
        f"{state.n_active} of {places.n_rows} rows",
    )


def _support(blocks: Blocks, plan: Plan, places: Places, end: PassEnd) -> ActiveRows:
    """Rows with a dual, active ones first; see :func:`collect_block` for X."""
    version = end.state.version
    active = plan.stored.read_active(version)
    solved = plan.stored.read_duals(plan.n_tasks, version)
    duals = np.array([own[: active.n_rows] for own in solved])
    support = np.flatnonzero(duals.any(axis=0))
    kept = support[:0] if plan.kernel.name == "linear" else support
    pieces = [
        ActiveRows(
            take_rows(active.X, kept),
            active.class_index[support],
            active.weight[support],
            active.number[support],
            duals[:, support],
        )
    ]
    items = with_group_duals(places, end.state, end.solved)
    stayed = blocks.run(collect_block, items, plan, version, stage="collect")
    for start, own in zip(places.starts, stayed, strict=True):
        pieces.append(replace(own, number=start + own.number))
    return ActiveRows(
        stack([piece.X for piece in pieces]),
        np.concatenate([piece.class_index for piece in pieces]),
        np.concatenate([piece.weight for piece in pieces]),
        np.concatenate([piece.number for piece in pieces]),
        np.concatenate([piece.duals for piece in pieces], axis=1),
    )
