"""SVMs on rows in partitions: passes over files until the duality gap is small.

How to use it in a method:

1. Write what is needed of each partition to files of ``rows.folder``, once.
2. Write a reader, a callable that can be pickled (an instance of a frozen dataclass of
   a module): ``read(number) -> CodedRows`` gives the rows of a partition. It gives the
   same rows in the same order whenever it is called; partitions without rows are not
   asked for. A row that is to be in several SVMs at once, with different bounds, is
   given several times; rows with bound zero do no harm.
3. Solve::

       problem = PartProblem(
           folder=rows.folder, name="solve", read=reader, tasks=tasks, sizes=sizes,
           streams=split_streams(sizes), n_features=n_features,
           capacity=rows_of_a_solve(row_bytes), options=SolverOptions(tol=..., ...),
       )
       solution = PartSolver(rows, problem, clock).run()
       weights = solution.vectors(task)  # (n_nodes, n_vectors, n_features + 1)
       check_solution(solution, model)

   ``sizes`` are the rows that the reader gives for each partition of the source.
   ``rows.require_memory`` should have been told of ``working_bytes`` as well.

4. For a problem with the same rows in the same places but other bounds or classes (a
   step of an iteration), solve another with a name of its own, and start it from the
   duals of the one before; they are put into their new bounds, and the weights are
   those that they define then::

       problem = replace(problem, name=f"solve-{step}", read=other_reader)
       solution = PartSolver(rows, problem, clock, max_passes=3).run(before.duals)
       before.remove_files()

   ``solution.duals(task, number)`` are those of the rows of a partition. Any other
   callable ``start(task, number, rows) -> duals`` that can be pickled is a start too.

With a checkpoint, the state after each pass is saved under the name of the problem, and
``run`` goes on from it, a finished one at once; so the files must stay until what
follows of them is saved too. The result depends on the partitions, not on workers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from localsvm.engine import Partitions, Statistics
from localsvm.estimators._base import StageClock
from localsvm.estimators._part_passes import (
    PartDuals,
    PartProblem,
    Start,
    evaluate_part,
    join_starts,
    join_streams,
    merge_terms,
    run_pass,
    write_start,
    write_zeros,
)
from localsvm.solvers import Status

# Rows of a solve that are new to it, in bytes. With those that are kept, joined and
# compared it takes eight times that.
_WORKING_BYTES = 48e6
_WORKING_COPIES = 8


def rows_of_a_solve(row_bytes: float) -> int:
    """Give the rows of a solve that are new to it, for rows of so many bytes."""
    return max(1, int(_WORKING_BYTES / row_bytes))


def working_bytes(row_bytes: float, n_rows: int | None) -> float:
    """Memory of a pass besides the partitions that it reads."""
    most = _WORKING_COPIES * _WORKING_BYTES
    return most if n_rows is None else min(most, _WORKING_COPIES * row_bytes * n_rows)


def split_streams(sizes: NDArray[np.int64]) -> tuple[tuple[int, ...], ...]:
    """Split the partitions with rows into those that are passed over at once."""
    return (tuple(np.flatnonzero(sizes).tolist()),)


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
class PartSolution:
    """How the tasks ended, and where their files are.

    Attributes
    ----------
    problem : PartProblem
    states : sequence of TaskState
    """

    problem: PartProblem
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
    def n_passes(self) -> int:
        """Most passes that a task took."""
        return max(state.version for state in self.states)

    @property
    def shortfall(self) -> str:
        """How far from optimal the worst task is, in words."""
        return f"worst relative duality gap {self.worst_gap:.1e}"

    def count(self, status: Status) -> int:
        """Count the tasks that ended with ``status``."""
        return sum(state.status == status for state in self.states)

    def vectors(self, task: int) -> NDArray[np.float64]:
        """Weight vectors of shape (n_nodes, n_vectors, n_features + 1).

        The last entry belongs to the constant column.
        """
        file = self.problem.vectors_file(task, self.states[task].version)
        return np.asarray(np.load(file))

    @property
    def duals(self) -> PartDuals:
        """Duals of the rows, as a start for another problem."""
        return PartDuals(self.problem, tuple(state.version for state in self.states))

    def remove_files(self) -> None:
        """Remove the weight vectors and duals; only the states stay."""
        for task, state in enumerate(self.states):
            for file in self.problem.files(task, state.version):
                file.unlink(missing_ok=True)


class PartSolver:
    """Solves SVMs on rows in partitions, pass after pass.

    Parameters
    ----------
    rows : Partitions
    problem : PartProblem
        With ``options.tol``, the relative duality gap wanted.
    clock : StageClock
        Says when to stop.
    max_passes : int or None, default=None
        None is ``options.max_iter``.
    """

    def __init__(
        self,
        rows: Partitions,
        problem: PartProblem,
        clock: StageClock,
        *,
        max_passes: int | None = None,
    ) -> None:
        self.rows = rows
        self.problem = problem
        self.clock = clock
        self.max_passes = problem.options.max_iter if max_passes is None else max_passes

    def run(self, start: Start | None = None) -> PartSolution:
        """Pass after pass, until the gap of every task is small.

        Parameters
        ----------
        start : callable or None, default=None
            Duals to start with; None is zero.
        """
        states = self._restored()
        if states is None:
            self._write_start(start)
            states = [TaskState() for _ in self.problem.tasks]
        while any(state.status is None for state in states):
            states = self._go_on(states)
            if self.rows.checkpoint is not None:
                self.rows.checkpoint.save(
                    self.problem.name, _as_arrays(states), now=True
                )
            _remove_older(self.problem, states)
        return PartSolution(self.problem, states)

    def _write_start(self, start: Start | None) -> None:
        if start is None:
            write_zeros(self.problem)
            return
        tasks = range(len(self.problem.tasks))
        streams = range(len(self.problem.streams))
        items = [(task, stream) for task in tasks for stream in streams]
        stage = f"{self.problem.name}-start"
        list(self.rows.run(write_start, items, self.problem, start, stage=stage))
        for task in tasks:
            join_starts(self.problem, task)

    def _go_on(self, states: list[TaskState]) -> list[TaskState]:
        """One pass of the tasks that are not done, and their certificates."""
        problem, left = self.problem, self.clock.remaining()
        going = [t for t, state in enumerate(states) if state.status is None]
        items = [
            (task, stream, states[task].version, states[task].primal)
            for task in going
            for stream in range(len(problem.streams))
        ]
        deadline = None if left is None else time.time() + left
        list(self.rows.run(run_pass, items, problem, deadline, stage=problem.name))
        versions = tuple((task, states[task].version + 1) for task in going)
        for task, version in versions:
            join_streams(problem, task, version)
        return self._judged(states, versions)

    def _judged(
        self, states: list[TaskState], versions: tuple[tuple[int, int], ...]
    ) -> list[TaskState]:
        problem, stage = self.problem, f"{self.problem.name}-gap"
        parts = sorted(problem.homes)
        found = self.rows.run(evaluate_part, parts, problem, versions, stage=stage)
        sums = reduce(merge_terms, found)
        out_of_time = self.clock.remaining() == 0.0
        states = list(states)
        for (task, version), (loss, linear), support in zip(
            versions, sums["terms"].tolist(), sums["support"].tolist(), strict=True
        ):
            vectors = np.load(problem.vectors_file(task, version))
            penalty = 0.5 * float(np.vdot(vectors, vectors))
            state = TaskState(version, penalty + loss, linear - penalty, tuple(support))
            status = self._status(state, out_of_time)
            states[task] = replace(state, status=status)
        return states

    def _status(self, state: TaskState, out_of_time: bool) -> Status | None:
        """Whether a task is done, and why."""
        if not np.isfinite(state.primal) or not np.isfinite(state.dual):
            return Status.not_finite
        if state.relative_gap <= self.problem.options.tol:
            return Status.converged
        if out_of_time:
            return Status.max_time
        return Status.max_iter if state.version >= self.max_passes else None

    def _restored(self) -> list[TaskState] | None:
        checkpoint = self.rows.checkpoint
        known = checkpoint.load(self.problem.name) if checkpoint is not None else None
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


def _remove_older(problem: PartProblem, states: list[TaskState]) -> None:
    """Remove the files of earlier passes, once the state of the last is written."""
    for task, state in enumerate(states):
        for file in problem.files(task, state.version - 1):
            file.unlink(missing_ok=True)
