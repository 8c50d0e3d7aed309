"""Linear SVMs on blocks of rows: passes over them until the duality gap is small.

How to use it in a method:

1. Put what is needed of each block into ``blocks.store``, once.
2. Write a reader, a callable that can be pickled (an instance of a frozen dataclass of
   a module): ``read(number) -> CodedRows`` gives the rows of a block. It gives the
   same rows in the same order whenever it is called; blocks without rows are not
   asked for. A row that is to be in several SVMs at once, with different bounds, is
   given several times; rows with bound zero do no harm.
3. Solve::

       problem = BlockProblem(
           store=blocks.store, name="solve", read=reader, tasks=tasks, sizes=sizes,
           n_features=n_features, capacity=rows_of_a_solve(row_bytes),
           options=SolverOptions(tol=..., ...),
       )
       solution = BlockSolver(blocks, problem, clock).run()
       weights = solution.vectors(task)  # (n_nodes, n_vectors, n_features + 1)
       check_solution(solution, model)

   ``sizes`` are the rows that the reader gives for each block.
   ``blocks.require_memory`` should have been told of ``working_bytes`` as well.

4. For a problem with the same rows in the same places but other bounds or classes (a
   step of an iteration), solve another with a name of its own, and start it from the
   duals of the one before; they are put into their new bounds, and the weights are
   those that they define then::

       problem = replace(problem, name=f"solve-{step}", read=other_reader)
       solution = BlockSolver(blocks, problem, clock, max_passes=3).run(before.duals)
       before.remove_files()

   ``solve_together`` solves several problems at once, e.g. one per region.
   ``solution.duals(task, number)`` are those of the rows of a block. Any other
   callable ``start(task, number, rows) -> duals`` that can be pickled is a start too.

With a checkpoint, the state after each pass is saved under the name of the problem, and
``run`` goes on from it, a finished one at once; so what the solver stored
must stay until what follows from it is saved too. The result depends on the blocks,
not on the workers.

Tasks run in parallel, and so do problems, but the rows of a task are passed over one
after the other. Streams over parts of the rows that are joined after each pass (CoCoA+,
Ma et al. 2015) do not pay: their local problems are those of the whole with a C as many
times larger as there are streams, for which coordinate descent takes as many times more
visits of a row, and what they disagree about dies away slowly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from localsvm._clock import StageClock
from localsvm.engine import Blocks
from localsvm.passes._linear_problem import (
    BlockProblem,
    Start,
    Terms,
    evaluate_block,
    run_pass,
    store_start,
    store_zeros,
)
from localsvm.passes._linear_solution import (
    BlockSolution,
    TaskState,
    arrays_of,
    states_of,
)
from localsvm.solvers import Status

# Rows of a solve that are new to it, in bytes. With those that are kept, joined and
# compared it takes eight times that.
_WORKING_BYTES = 48e6
_WORKING_COPIES = 8


def rows_of_a_solve(row_bytes: float) -> int:
    """Give the number of new rows per solve, for the bytes of a row."""
    return max(1, int(_WORKING_BYTES / row_bytes))


def working_bytes(row_bytes: float, n_rows: int | None) -> float:
    """Memory of a pass besides the blocks that it reads."""
    most = _WORKING_COPIES * _WORKING_BYTES
    return most if n_rows is None else min(most, _WORKING_COPIES * row_bytes * n_rows)


class BlockSolver:
    """Solves SVMs on blocks of rows, pass after pass.

    Parameters
    ----------
    rows : Blocks
    problem : BlockProblem
        With ``options.tol``, the relative duality gap wanted.
    clock : StageClock
        Says when to stop.
    max_passes : int or None, default=None
        None is ``options.max_iter``.
    """

    def __init__(
        self,
        rows: Blocks,
        problem: BlockProblem,
        clock: StageClock,
        *,
        max_passes: int | None = None,
    ) -> None:
        self.rows = rows
        self.problem = problem
        self.clock = clock
        self.max_passes = problem.options.max_iter if max_passes is None else max_passes

    def run(self, start: Start | None = None) -> BlockSolution:
        """Pass after pass, until the gap of every task is small.

        Parameters
        ----------
        start : callable or None, default=None
            Duals to start with; None is zero.
        """
        return solve_together([self], [start])[0]

    def passes(self, states: Sequence[TaskState]) -> list[tuple[int, int, float]]:
        """List what ``run_pass`` takes, for the tasks that are not done."""
        return [
            (task, state.version, state.primal)
            for task, state in enumerate(states)
            if state.status is None
        ]

    def judge(
        self, states: Sequence[TaskState], terms: Terms, out_of_time: bool
    ) -> list[TaskState]:
        """States after a pass whose terms over all blocks are these."""
        states = list(states)
        for (task, version), (loss, linear), support in zip(
            next_versions(states),
            terms.sums.tolist(),
            terms.support.tolist(),
            strict=True,
        ):
            vectors = self.problem.vectors(task, version)
            penalty = 0.5 * float(np.vdot(vectors, vectors))
            state = TaskState(version, penalty + loss, linear - penalty, tuple(support))
            status = self._status(state, out_of_time)
            states[task] = replace(state, status=status)
        return states

    def save(self, states: list[TaskState]) -> None:
        """Write the states down, and remove what they do not need."""
        if self.rows.checkpoint is not None:
            self.rows.checkpoint.save(self.problem.name, arrays_of(states), now=True)
        _remove_older(self.problem, states)

    def _status(self, state: TaskState, out_of_time: bool) -> Status | None:
        """Whether a task is done, and why."""
        if not np.isfinite(state.primal) or not np.isfinite(state.dual):
            return Status.not_finite
        if state.relative_gap <= self.problem.options.tol:
            return Status.converged
        if out_of_time:
            return Status.max_time
        return Status.max_iter if state.version >= self.max_passes else None

    def restored(self) -> list[TaskState] | None:
        """States of a resumed fit."""
        checkpoint = self.rows.checkpoint
        known = checkpoint.load(self.problem.name) if checkpoint is not None else None
        return None if known is None else states_of(known)


def solve_together(
    solvers: Sequence[BlockSolver], starts: Sequence[Start | None]
) -> list[BlockSolution]:
    """Solve several problems on the same blocks; their passes run at once.

    Parameters
    ----------
    solvers : sequence of BlockSolver
        Of one fit; problems with names and readers of their own.
    starts : sequence of callable or None
        Of each problem, as :meth:`BlockSolver.run` takes them.
    """
    known = [solver.restored() for solver in solvers]
    new = [index for index, states in enumerate(known) if states is None]
    _store_starts([solvers[each] for each in new], [starts[each] for each in new])
    solvers = list(solvers)
    all_states = [
        [TaskState() for _ in solver.problem.tasks] if states is None else states
        for solver, states in zip(solvers, known, strict=True)
    ]
    while True:
        going = [index for index, states in enumerate(all_states) if _is_going(states)]
        if not going:
            break
        found = _go_on([(solvers[each], all_states[each]) for each in going])
        for index, states in zip(going, found, strict=True):
            all_states[index] = states
            solvers[index].save(states)
    return [
        BlockSolution(states, solver.problem)
        for solver, states in zip(solvers, all_states, strict=True)
    ]


def next_versions(states: Sequence[TaskState]) -> tuple[tuple[int, int], ...]:
    """Tasks that are not done, and the passes they have made after the next."""
    return tuple(
        (task, state.version + 1)
        for task, state in enumerate(states)
        if state.status is None
    )


def _is_going(states: Sequence[TaskState]) -> bool:
    return any(state.status is None for state in states)


def _store_starts(
    solvers: Sequence[BlockSolver], starts: Sequence[Start | None]
) -> None:
    warm = []
    for solver, start in zip(solvers, starts, strict=True):
        if start is None:
            store_zeros(solver.problem)
        else:
            warm.append((solver, (solver.problem, start)))
    if not warm:
        return
    items = [
        (index, task)
        for index, (solver, _) in enumerate(warm)
        for task in range(len(solver.problem.tasks))
    ]
    first, arguments = warm[0][0], [each for _, each in warm]
    stage = f"{first.problem.name}-start"
    list(first.rows.run(_call_own, items, store_start, arguments, stage=stage))


def _go_on(
    going: Sequence[tuple[BlockSolver, list[TaskState]]],
) -> list[list[TaskState]]:
    """One pass of all tasks that are not done, and their certificates."""
    first, left = going[0][0], going[0][0].clock.remaining()
    deadline = None if left is None else time.time() + left
    items: list[tuple[int, Any]] = [
        (index, item)
        for index, (solver, states) in enumerate(going)
        for item in solver.passes(states)
    ]
    passing = [(solver.problem, deadline) for solver, _ in going]
    stage = first.problem.name
    list(first.rows.run(_call_own, items, run_pass, passing, stage=stage))
    judging = [(solver.problem, next_versions(states)) for solver, states in going]
    numbers = sorted(set().union(*(solver.problem.places for solver, _ in going)))
    found = first.rows.run(_evaluate_all, numbers, judging, stage=f"{stage}-gap")
    sums = reduce(_merge_all, found)
    out_of_time = first.clock.remaining() == 0.0
    return [
        solver.judge(states, own, out_of_time)
        for (solver, states), own in zip(going, sums, strict=True)
    ]


def _evaluate_all(
    number: int, judging: Sequence[tuple[BlockProblem, tuple[tuple[int, int], ...]]]
) -> list[Terms | None]:
    """Terms of several problems on a block; None for one without rows there."""
    return [
        evaluate_block(number, problem, versions) if number in problem.places else None
        for problem, versions in judging
    ]


def _merge_all(
    first: list[Terms | None], second: list[Terms | None]
) -> list[Terms | None]:
    return [
        other if one is None else one if other is None else one.merge(other)
        for one, other in zip(first, second, strict=True)
    ]


def _call_own(
    item: tuple[int, Any],
    function: Callable[..., Any],
    arguments: Sequence[tuple[Any, ...]],
) -> Any:
    """Call a function for one of several problems, with the arguments of that."""
    index, own = item
    return function(own, *arguments[index])


def _remove_older(problem: BlockProblem, states: list[TaskState]) -> None:
    """Remove what earlier passes stored, once the state of the last is saved."""
    for task, state in enumerate(states):
        problem.drop(task, state.version - 1)
