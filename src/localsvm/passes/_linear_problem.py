"""Linear SVMs on blocks of rows: what runs on the workers, and what they store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from localsvm._threads import iterate_in_threads
from localsvm.engine import FolderStore, Record, Store, cancel_event
from localsvm.solvers import CodedRows, CodedTask, SelectiveDescent, SolverOptions

# The duals that rows of a block start with, given the number of the task, that of the
# block, and the rows.
Start = Callable[[int, int, CodedRows], NDArray[np.float64]]


@dataclass(frozen=True)
class BlockProblem:
    """SVMs on the rows of all blocks; can be sent to workers.

    Attributes
    ----------
    name : str
        Keys of the store begin with it.
    read : callable
        ``read(number)`` gives the rows of a block, always the same.
    tasks : tuple of CodedTask
        The SVMs. They see the same rows and have their own duals and weights.
    sizes : ndarray of shape (n_blocks,)
        Rows that ``read`` gives.
    n_features : int
    capacity : int
        Rows of a solve that are new to it.
    options : SolverOptions
        ``tol`` is the relative duality gap wanted; the loss is that of the tasks.
    store : Store or None, default=None
        That of the blocks.
    folder : Path or None, default=None
        Folder of the store, if that is not given.
    """

    name: str
    read: Callable[[int], CodedRows]
    tasks: tuple[CodedTask, ...]
    sizes: NDArray[np.int64]
    n_features: int
    capacity: int
    options: SolverOptions
    store: Store | None = None
    folder: Path | None = None

    @property
    def kept(self) -> Store:
        """Where weight vectors and duals are."""
        if self.store is None:
            assert self.folder is not None
            return FolderStore(self.folder)
        return self.store

    @cached_property
    def places(self) -> dict[int, slice]:
        """Places of the rows of each block that has some, among all rows."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)]).tolist()
        return {
            number: slice(starts[number], starts[number + 1])
            for number in np.flatnonzero(self.sizes).tolist()
        }

    def shape(self, task: int) -> tuple[int, int, int]:
        """Shape of the weight vectors of a task."""
        own = self.tasks[task]
        return own.n_nodes, own.n_vectors, self.n_features + 1

    def keys(self, task: int, version: int) -> tuple[str, str]:
        """Keys of the weight vectors and the duals of a task after a pass."""
        return (
            f"{self.name}-vectors-{task}-{version}",
            f"{self.name}-duals-{task}-{version}",
        )

    def vectors(self, task: int, version: int) -> NDArray[np.float64]:
        """Weight vectors of a task after a pass; not to be changed."""
        return np.asarray(self.kept.get(self.keys(task, version)[0])["values"])

    def duals(self, task: int, version: int, number: int) -> NDArray[np.float64]:
        """Duals of the rows of a block, of shape (n_vectors, n_rows)."""
        stored = self.kept.get(self.keys(task, version)[1], mapped=True)["values"]
        return np.array(stored[:, self.places[number]])

    def drop(self, task: int, version: int) -> None:
        """Remove the weight vectors and the duals of a task after a pass."""
        for key in self.keys(task, version):
            self.kept.drop(key)


@dataclass(frozen=True)
class BlockDuals:
    """Duals of a solution, as a start for another of the same rows.

    Attributes
    ----------
    problem : BlockProblem
    versions : tuple of int
        Passes of each task.
    """

    problem: BlockProblem
    versions: tuple[int, ...]

    def __call__(
        self, task: int, number: int, rows: CodedRows | None = None
    ) -> NDArray[np.float64]:
        """Duals of the rows of a block, of shape (n_vectors, n_rows)."""
        del rows
        return self.problem.duals(task, self.versions[task], number)


def run_pass(
    item: tuple[int, int, float], problem: BlockProblem, deadline: float | None
) -> int:
    """Take a task over all blocks once, from one version of its arrays to the next.

    Parameters
    ----------
    item : tuple
        Number of the task, of the passes before, and the primal objective after them.
    problem : BlockProblem
    deadline : float or None
        Time, as of ``time.time``, after which the rest of the pass is left out.

    Returns
    -------
    int
        Number of solves.
    """
    number, version, objective = item
    cancel = cancel_event()
    new_vectors, new_duals = problem.keys(number, version + 1)
    # A pass that was cut short, by its worker or by the time, may have left them.
    problem.drop(number, version + 1)
    seed = _seed(problem, number, version)
    with problem.kept.revising(problem.keys(number, version)[1], new_duals) as duals:
        descent = SelectiveDescent(
            problem.tasks[number],
            np.array(problem.vectors(number, version)),
            duals,
            problem.capacity,
            objective,
            replace(problem.options, cancel=cancel, seed=seed),
        )
        for block, rows in _in_random_order(problem, seed):
            if cancel is not None and cancel.is_set():
                raise InterruptedError("cancelled")
            if deadline is not None:
                left = deadline - time.time()
                if left <= 0:
                    break
                descent.limit_time(left)
            descent.look(rows, problem.places[block].start)
        descent.finish()
        del descent.duals
        problem.kept.put(new_vectors, {"values": descent.vectors})
    return descent.n_solves


@dataclass(frozen=True)
class Terms(Record):
    """Sums over rows that the certificate of a task needs; in float64.

    Attributes
    ----------
    sums : ndarray of shape (n_tasks, 2)
        Losses, and linear part of the dual.
    support : ndarray of shape (n_tasks, n_vectors)
        Rows with a non-zero dual.
    """

    sums: NDArray[np.float64]
    support: NDArray[np.intp]

    def merge(self, other: Terms) -> Terms:
        """Add up."""
        return Terms(self.sums + other.sums, self.support + other.support)


def evaluate_block(
    number: int, problem: BlockProblem, versions: tuple[tuple[int, int], ...]
) -> Terms:
    """Terms of some tasks on a block.

    Parameters
    ----------
    number : int
        Of the block.
    problem : BlockProblem
    versions : tuple of (task, version)
    """
    rows = problem.read(number)
    rows = replace(
        rows, X=rows.X.astype(np.float64), weights=rows.weights.astype(np.float64)
    )
    sums, support = [], []
    for index, version in versions:
        task = problem.tasks[index]
        duals = problem.duals(index, version, number)
        found = task.compare(
            rows, task.decide(rows, problem.vectors(index, version)), duals
        )
        sums.append([found.loss.sum(), found.linear.sum()])
        support.append(np.count_nonzero(duals, axis=1))
    return Terms(np.array(sums), np.array(support))


def support_of_block(
    number: int, problem: BlockProblem, versions: tuple[int, ...], n_classes: int
) -> NDArray[np.intp]:
    """Rows of each class in a block with a non-zero dual in any task."""
    class_index = problem.read(number).class_index
    support = np.zeros(len(class_index), dtype=bool)
    for task, version in enumerate(versions):
        support |= (problem.duals(task, version, number) != 0).any(axis=0)
    return np.bincount(class_index[support], minlength=n_classes)


def store_zeros(problem: BlockProblem) -> None:
    """Store the first version of all tasks: nothing is learned."""
    for number in range(len(problem.tasks)):
        with _creating(problem, number):
            pass
        vectors = problem.keys(number, 0)[0]
        problem.kept.put(vectors, {"values": np.zeros(problem.shape(number))})


def store_start(number: int, problem: BlockProblem, start: Start) -> None:
    """Store the first version of a task: given duals, put into their bounds.

    Parameters
    ----------
    number : int
        Of the task.
    problem : BlockProblem
    start : callable
    """
    task, vectors = problem.tasks[number], np.zeros(problem.shape(number))
    with _creating(problem, number) as duals:
        for block in problem.places:
            rows = problem.read(block)
            own = task.within_bounds(rows, start(number, block, rows))
            vectors += task.weigh(rows, own)
            duals[:, problem.places[block]] = own
        problem.kept.put(problem.keys(number, 0)[0], {"values": vectors})


def _in_random_order(
    problem: BlockProblem, seed: int
) -> Iterator[tuple[int, CodedRows]]:
    """Blocks with rows; the next one is read while one is worked on."""
    order = np.random.default_rng(seed).permutation(list(problem.places)).tolist()
    return zip(order, iterate_in_threads(problem.read, order, 1), strict=True)


def _seed(problem: BlockProblem, task: int, version: int) -> int:
    words = (problem.options.seed, task, version)
    return int(np.random.SeedSequence(words).generate_state(1, np.uint32)[0])


def _creating(
    problem: BlockProblem, task: int
) -> AbstractContextManager[NDArray[np.float64]]:
    """Context of the first duals of a task; what an interrupted fit left is dropped."""
    problem.drop(task, 0)
    shape = problem.tasks[task].n_vectors, int(problem.sizes.sum())
    context: AbstractContextManager[NDArray[np.float64]] = problem.kept.creating(
        problem.keys(task, 0)[1], shape
    )
    return context
