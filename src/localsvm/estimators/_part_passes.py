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
    streams : tuple of tuple of int
        Partitions with rows, as they are passed over at the same time.
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
    streams: tuple[tuple[int, ...], ...]
    n_features: int
    capacity: int
    options: SolverOptions

    @cached_property
    def homes(self) -> dict[int, tuple[int, slice]]:
        """Stream of each partition, and the places of its rows there."""
        found = {}
        for stream, numbers in enumerate(self.streams):
            ends = np.cumsum(self.sizes[list(numbers)]).tolist()
            for number, end in zip(numbers, ends, strict=True):
                found[number] = stream, slice(end - int(self.sizes[number]), end)
        return found

    def n_rows(self, stream: int) -> int:
        """Rows of a stream."""
        return int(self.sizes[list(self.streams[stream])].sum())

    def shape(self, task: int) -> tuple[int, int, int]:
        """Shape of the weight vectors of a task."""
        own = self.tasks[task]
        return own.n_nodes, own.n_vectors, self.n_features + 1

    def vectors_file(self, task: int, version: int) -> Path:
        """File of the weight vectors of a task after so many passes."""
        return self.folder / f"{self.name}-vectors-{task}-{version}.npy"

    def end_file(self, task: int, stream: int, version: int) -> Path:
        """File of the weight vectors that a stream ends with."""
        return self.folder / f"{self.name}-end-{task}-{stream}-{version}.npy"

    def duals_file(self, task: int, stream: int, version: int) -> Path:
        """File of the duals of the rows of a stream after so many passes."""
        return self.folder / f"{self.name}-duals-{task}-{stream}-{version}.npy"

    def files(self, task: int, version: int) -> list[Path]:
        """All files of a task after so many passes."""
        return [
            self.vectors_file(task, version),
            *(
                file(task, stream, version)
                for stream in range(len(self.streams))
                for file in (self.end_file, self.duals_file)
            ),
        ]

    def duals(self, task: int, version: int, number: int) -> NDArray[np.float64]:
        """Duals of the rows of a partition, of shape (n_vectors, n_rows)."""
        stream, own = self.homes[number]
        stored = np.load(self.duals_file(task, stream, version), mmap_mode="r")
        return np.array(stored[:, own])


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
    item: tuple[int, int, int, float], problem: PartProblem, deadline: float | None
) -> int:
    """Take a task over a stream once, from one version of its files to the next.

    Parameters
    ----------
    item : tuple
        Number of the task, of the stream, of the passes before, and the primal
        objective after them.
    problem : PartProblem
    deadline : float or None
        Time, as of ``time.time``, after which the rest of the pass is left out.

    Returns
    -------
    int
        Number of solves.
    """
    number, stream, version, objective = item
    cancel = cancel_event()
    target = problem.duals_file(number, stream, version + 1)
    temporary = _temporary(target)
    shutil.copyfile(problem.duals_file(number, stream, version), temporary)
    duals = np.load(temporary, mmap_mode="r+")
    seed = _seed(problem, number, version, stream)
    descent = SelectiveDescent(
        problem.tasks[number],
        np.load(problem.vectors_file(number, version)),
        duals,
        problem.capacity,
        objective,
        replace(problem.options, cancel=cancel, seed=seed),
    )
    for part, rows in _in_random_order(problem, stream, seed):
        if cancel is not None and cancel.is_set():
            raise InterruptedError("cancelled")
        if deadline is not None:
            left = deadline - time.time()
            if left <= 0:
                break
            descent.options = replace(descent.options, max_time=left)
        descent.look(rows, problem.homes[part][1].start)
    descent.finish()
    duals.flush()
    del descent.duals, duals
    save_array(problem.end_file(number, stream, version + 1), descent.vectors)
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


def write_zeros(problem: PartProblem) -> None:
    """Write the first version of all tasks: nothing is learned."""
    for task in range(len(problem.tasks)):
        save_array(problem.vectors_file(task, 0), np.zeros(problem.shape(task)))
        for stream in range(len(problem.streams)):
            _open_duals(problem, task, stream, problem.duals_file(task, stream, 0))


def write_start(item: tuple[int, int], problem: PartProblem, start: Start) -> None:
    """Write the first version of a task and a stream: given duals, put into bounds.

    Parameters
    ----------
    item : (int, int)
        Number of the task and of the stream.
    problem : PartProblem
    start : callable
    """
    number, stream = item
    task, vectors = problem.tasks[number], np.zeros(problem.shape(number))
    target = problem.duals_file(number, stream, 0)
    temporary = _temporary(target)
    duals = _open_duals(problem, number, stream, temporary)
    for part in problem.streams[stream]:
        rows = problem.read(part)
        own = task.within_bounds(rows, start(number, part, rows))
        vectors += task.weigh(rows, own)
        duals[:, problem.homes[part][1]] = own
    duals.flush()
    del duals
    save_array(problem.end_file(number, stream, 0), vectors)
    os.replace(temporary, target)


def join_starts(problem: PartProblem, task: int) -> None:
    """Add up what the duals of all streams define at the start."""
    ends = [
        np.load(problem.end_file(task, stream, 0))
        for stream in range(len(problem.streams))
    ]
    save_array(problem.vectors_file(task, 0), np.sum(ends, axis=0))


def join_streams(problem: PartProblem, task: int, version: int) -> None:
    """Make one version of the weight vectors of what the streams have changed."""
    end = np.load(problem.end_file(task, 0, version))
    save_array(problem.vectors_file(task, version), end)


def _in_random_order(
    problem: PartProblem, stream: int, seed: int
) -> Iterator[tuple[int, CodedRows]]:
    """Partitions of a stream; the next one is read while one is worked on."""
    order = np.random.default_rng(seed).permutation(problem.streams[stream]).tolist()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(problem.read, order[0])
        for index, number in enumerate(order):
            rows = coming.result()
            if index + 1 < len(order):
                coming = pool.submit(problem.read, order[index + 1])
            yield number, rows


def _seed(problem: PartProblem, task: int, version: int, stream: int) -> int:
    words = (problem.options.seed, task, version, stream)[: 4 if stream else 3]
    return int(np.random.SeedSequence(words).generate_state(1, np.uint32)[0])


def _open_duals(
    problem: PartProblem, task: int, stream: int, path: Path
) -> np.memmap[Any, np.dtype[np.float64]]:
    shape = problem.tasks[task].n_vectors, problem.n_rows(stream)
    return np.lib.format.open_memmap(path, "w+", np.float64, shape)


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
