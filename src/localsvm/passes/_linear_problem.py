"""SVMs on rows in the files of partitions: what runs on the workers, and its files."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.engine import Statistics, cancel_event, save_array
from localsvm.solvers import CodedRows, CodedTask, SelectiveDescent, SolverOptions

# The duals that rows of a partition start with, given the number of the task, that of
# the partition, and the rows.
Start = Callable[[int, int, CodedRows], NDArray[np.float64]]


@dataclass(frozen=True)
class PartProblem:
    """SVMs on the rows of all partitions; can be sent to workers.

    Attributes
    ----------
    folder : Path
        That all workers see.
    name : str
        Names of files begin with it.
    read : callable
        ``read(number)`` gives the rows of a partition, always the same.
    tasks : tuple of CodedTask
        The SVMs. They see the same rows and have their own duals and weights.
    sizes : ndarray of shape (n_partitions,)
        Rows that ``read`` gives.
    n_features : int
    capacity : int
        Rows of a solve that are new to it.
    options : SolverOptions
        ``tol`` is the relative duality gap wanted; the loss is that of the tasks.
    """

    folder: Path
    name: str
    read: Callable[[int], CodedRows]
    tasks: tuple[CodedTask, ...]
    sizes: NDArray[np.int64]
    n_features: int
    capacity: int
    options: SolverOptions

    @cached_property
    def places(self) -> dict[int, slice]:
        """Places of the rows of each partition that has some, among all rows."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)]).tolist()
        return {
            number: slice(starts[number], starts[number + 1])
            for number in np.flatnonzero(self.sizes).tolist()
        }

    def shape(self, task: int) -> tuple[int, int, int]:
        """Shape of the weight vectors of a task."""
        own = self.tasks[task]
        return own.n_nodes, own.n_vectors, self.n_features + 1

    def vectors_file(self, task: int, version: int) -> Path:
        """File of the weight vectors of a task after so many passes."""
        return self.folder / f"{self.name}-vectors-{task}-{version}.npy"

    def duals_file(self, task: int, version: int) -> Path:
        """File of the duals of a task after so many passes."""
        return self.folder / f"{self.name}-duals-{task}-{version}.npy"

    def files(self, task: int, version: int) -> list[Path]:
        """All files of a task after so many passes."""
        return [self.vectors_file(task, version), self.duals_file(task, version)]

    def duals(self, task: int, version: int, number: int) -> NDArray[np.float64]:
        """Duals of the rows of a partition, of shape (n_vectors, n_rows)."""
        stored = np.load(self.duals_file(task, version), mmap_mode="r")
        return np.array(stored[:, self.places[number]])


@dataclass(frozen=True)
class PartDuals:
    """Duals of a solution, as a start for another of the same rows.

    Attributes
    ----------
    problem : PartProblem
    versions : tuple of int
        Passes of each task.
    """

    problem: PartProblem
    versions: tuple[int, ...]

    def __call__(
        self, task: int, number: int, rows: CodedRows | None = None
    ) -> NDArray[np.float64]:
        """Duals of the rows of a partition, of shape (n_vectors, n_rows)."""
        del rows
        return self.problem.duals(task, self.versions[task], number)


def run_pass(
    item: tuple[int, int, float], problem: PartProblem, deadline: float | None
) -> int:
    """Take a task over all partitions once, from one version of its files to the next.

    Parameters
    ----------
    item : tuple
        Number of the task, of the passes before, and the primal objective after them.
    problem : PartProblem
    deadline : float or None
        Time, as of ``time.time``, after which the rest of the pass is left out.

    Returns
    -------
    int
        Number of solves.
    """
    number, version, objective = item
    cancel = cancel_event()
    target = problem.duals_file(number, version + 1)
    temporary = _temporary(target)
    shutil.copyfile(problem.duals_file(number, version), temporary)
    duals = np.load(temporary, mmap_mode="r+")
    seed = _seed(problem, number, version)
    descent = SelectiveDescent(
        problem.tasks[number],
        np.load(problem.vectors_file(number, version)),
        duals,
        problem.capacity,
        objective,
        replace(problem.options, cancel=cancel, seed=seed),
    )
    for part, rows in _in_random_order(problem, seed):
        if cancel is not None and cancel.is_set():
            raise InterruptedError("cancelled")
        if deadline is not None:
            left = deadline - time.time()
            if left <= 0:
                break
            descent.options = replace(descent.options, max_time=left)
        descent.look(rows, problem.places[part].start)
    descent.finish()
    duals.flush()
    del descent.duals, duals
    save_array(problem.vectors_file(number, version + 1), descent.vectors)
    os.replace(temporary, target)
    return descent.n_solves


def evaluate_part(
    number: int, problem: PartProblem, versions: tuple[tuple[int, int], ...]
) -> Statistics:
    """Losses, linear part of the dual and support rows of some tasks, in float64.

    Parameters
    ----------
    number : int
        Of the partition.
    problem : PartProblem
    versions : tuple of (task, version)

    Returns
    -------
    dict
        "terms" of shape (n_versions, 2); "support" of shape (n_versions, n_vectors).
    """
    rows = problem.read(number)
    rows = replace(
        rows, X=rows.X.astype(np.float64), weights=rows.weights.astype(np.float64)
    )
    terms, support = [], []
    for index, version in versions:
        task = problem.tasks[index]
        vectors = np.load(problem.vectors_file(index, version))
        duals = problem.duals(index, version, number)
        found = task.compare(rows, task.decide(rows, vectors), duals)
        terms.append([found.loss.sum(), found.linear.sum()])
        support.append(np.count_nonzero(duals, axis=1))
    return {"terms": np.array(terms), "support": np.array(support)}


def merge_terms(first: Statistics, second: Statistics) -> Statistics:
    """Add up what :func:`evaluate_part` says of two partitions."""
    return {name: first[name] + second[name] for name in first}


def support_of_block(
    number: int, problem: PartProblem, versions: tuple[int, ...], n_classes: int
) -> NDArray[np.intp]:
    """Rows of each class in a block with a non-zero dual in any task."""
    class_index = problem.read(number).class_index
    support = np.zeros(len(class_index), dtype=bool)
    for task, version in enumerate(versions):
        support |= (problem.duals(task, version, number) != 0).any(axis=0)
    return np.bincount(class_index[support], minlength=n_classes)


def write_zeros(problem: PartProblem) -> None:
    """Write the first version of all tasks: nothing is learned."""
    for task in range(len(problem.tasks)):
        save_array(problem.vectors_file(task, 0), np.zeros(problem.shape(task)))
        _open_duals(problem, task, problem.duals_file(task, 0))


def write_start(number: int, problem: PartProblem, start: Start) -> None:
    """Write the first version of a task: given duals, put into their bounds.

    Parameters
    ----------
    number : int
        Of the task.
    problem : PartProblem
    start : callable
    """
    task, vectors = problem.tasks[number], np.zeros(problem.shape(number))
    target = problem.duals_file(number, 0)
    temporary = _temporary(target)
    duals = _open_duals(problem, number, temporary)
    for part in problem.places:
        rows = problem.read(part)
        own = task.within_bounds(rows, start(number, part, rows))
        vectors += task.weigh(rows, own)
        duals[:, problem.places[part]] = own
    duals.flush()
    del duals
    save_array(problem.vectors_file(number, 0), vectors)
    os.replace(temporary, target)


def _in_random_order(
    problem: PartProblem, seed: int
) -> Iterator[tuple[int, CodedRows]]:
    """Partitions with rows; the next one is read while one is worked on."""
    order = np.random.default_rng(seed).permutation(list(problem.places)).tolist()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(problem.read, order[0])
        for index, number in enumerate(order):
            rows = coming.result()
            if index + 1 < len(order):
                coming = pool.submit(problem.read, order[index + 1])
            yield number, rows


def _seed(problem: PartProblem, task: int, version: int) -> int:
    words = (problem.options.seed, task, version)
    return int(np.random.SeedSequence(words).generate_state(1, np.uint32)[0])


def _open_duals(
    problem: PartProblem, task: int, path: Path
) -> np.memmap[Any, np.dtype[np.float64]]:
    shape = problem.tasks[task].n_vectors, int(problem.sizes.sum())
    return np.lib.format.open_memmap(path, "w+", np.float64, shape)


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
