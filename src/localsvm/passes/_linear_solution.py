"""How linear SVMs on blocks of rows ended, and what they found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localsvm.engine import Arrays, Blocks
from localsvm.passes._linear_problem import BlockDuals, BlockProblem, support_of_block
from localsvm.solvers import Status


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
class BlockEndings:
    """How tasks ended.

    Attributes
    ----------
    states : sequence of TaskState
    """

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
    def n_iter(self) -> int:
        """Most passes that a task took."""
        return max(state.version for state in self.states)

    @property
    def shortfall(self) -> str:
        """How far from optimal the worst task is, in words."""
        return f"worst relative duality gap {self.worst_gap:.1e}"

    def count(self, status: Status) -> int:
        """Count the tasks that ended with ``status``."""
        return sum(state.status == status for state in self.states)


@dataclass(frozen=True)
class BlockSolution(BlockEndings):
    """How the tasks of a problem ended, and where their vectors and duals are.

    Attributes
    ----------
    problem : BlockProblem
    """

    problem: BlockProblem

    def vectors(self, task: int) -> NDArray[np.float64]:
        """Weight vectors of shape (n_nodes, n_vectors, n_features + 1).

        The last entry belongs to the constant column.
        """
        return self.problem.vectors(task, self.states[task].version)

    @property
    def duals(self) -> BlockDuals:
        """Duals of the rows, as a start for another problem."""
        return BlockDuals(self.problem, tuple(state.version for state in self.states))

    def support_by_class(self, rows: Blocks, n_classes: int) -> NDArray[np.intp]:
        """Rows of each class with a non-zero dual in any task."""
        versions = tuple(state.version for state in self.states)
        found = rows.run(
            support_of_block,
            list(self.problem.places),
            self.problem,
            versions,
            n_classes,
            stage=f"{self.problem.name}-support",
        )
        return np.asarray(sum(found))

    def remove_files(self) -> None:
        """Remove the weight vectors and duals; only the states stay."""
        for task, state in enumerate(self.states):
            self.problem.drop(task, state.version)


def arrays_of(states: Sequence[TaskState]) -> Arrays:
    """States as a checkpoint takes them."""
    return {
        "version": np.array([state.version for state in states]),
        "primal": np.array([state.primal for state in states]),
        "dual": np.array([state.dual for state in states]),
        "n_support": np.array([state.n_support for state in states]),
        "status": np.array(
            [-1 if state.status is None else state.status.value for state in states]
        ),
    }


def states_of(known: Arrays) -> list[TaskState]:
    """States that a checkpoint holds."""
    columns = [known[name] for name in arrays_of([])]
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
