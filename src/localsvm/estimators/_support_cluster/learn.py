"""Section 2.2.2: the SVMs of the clusters, all on one kernel matrix."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from localsvm._threads import map_in_threads
from localsvm.cluster import GaussianSummary
from localsvm.estimators._support_cluster.model import ClusterMachine, as_gaussians
from localsvm.kernels import ClusterKernel, Gaussians
from localsvm.solvers import (
    BoxProblem,
    Endings,
    KernelOptions,
    KernelSolution,
    solve_gram,
)


@dataclass(frozen=True)
class Task:
    """Two sides of clusters to be separated.

    Parameters
    ----------
    members : ndarray
        Clusters that take part.
    sign : ndarray
        Side of each, +1 or -1.
    classes : tuple of int
        Negative and positive class; -1 stands for all others.
    """

    members: NDArray[np.intp]
    sign: NDArray[np.float64]
    classes: tuple[int, int]


def make_tasks(
    class_index: NDArray[np.intp], n_classes: int, multi_class: str
) -> list[Task]:
    """Tasks of the classes that have clusters: pairs, or each against the rest."""
    present = np.unique(class_index).tolist()
    if multi_class == "ovr" and n_classes > 2 and len(present) > 1:
        sides = [(-1, positive) for positive in present]
    else:
        sides = list(combinations(present, 2))
    return [_task(class_index, negative, positive) for negative, positive in sides]


def _task(class_index: NDArray[np.intp], negative: int, positive: int) -> Task:
    in_task = (class_index == positive) | (negative < 0) | (class_index == negative)
    members = np.flatnonzero(in_task)
    sign = np.where(class_index[members] == positive, 1.0, -1.0)
    return Task(members, sign, (negative, positive))


def learn_clusters(
    summary: GaussianSummary,
    tasks: Sequence[Task],
    kernel: ClusterKernel,
    penalty_weight: NDArray[np.float64],
    C: float,
    options: KernelOptions,
    n_jobs: int | None,
) -> ClusterMachine:
    """Solve all tasks on one kernel matrix.

    Parameters
    ----------
    summary : GaussianSummary
    tasks : sequence of Task
    kernel : ClusterKernel
    penalty_weight : ndarray of shape (n_clusters,)
        Weight and class weight of each cluster, 1 for a cluster of mean weight.
    C : float
        Factor of the penalties.
    options : KernelOptions
        ``cancel`` is set here.
    n_jobs : int or None
        Threads over tasks and blocks of the matrix.
    """
    clusters = as_gaussians(summary)
    gram, log_scale = kernel.gram(clusters, n_jobs)
    cancel = threading.Event()

    def solve(task: Task) -> KernelSolution:
        problem = BoxProblem.of_classes(task.sign, C * penalty_weight[task.members])
        part = np.ascontiguousarray(gram[np.ix_(task.members, task.members)])
        return solve_gram(part, problem, replace(options, cancel=cancel))

    solutions = map_in_threads(solve, tasks, n_jobs, cancel)
    return _machine(kernel, log_scale, C, clusters, tasks, solutions)


def _machine(
    kernel: ClusterKernel,
    log_scale: float,
    C: float,
    clusters: Gaussians,
    tasks: Sequence[Task],
    solutions: Sequence[KernelSolution],
) -> ClusterMachine:
    duals = np.zeros((len(tasks), len(clusters.mean)))
    for row, task, solution in zip(duals, tasks, solutions, strict=True):
        row[task.members] = solution.duals
    support = np.flatnonzero(duals.any(axis=0))
    certificates = [solution.certificate for solution in solutions]
    return ClusterMachine(
        kernel,
        log_scale,
        C,
        support,
        clusters.take(support),
        np.ascontiguousarray(duals[:, support]),
        np.array([solution.intercept for solution in solutions]),
        np.array([task.classes for task in tasks], dtype=np.int32).reshape(-1, 2),
        Endings(
            np.array([each.status.value for each in certificates], dtype=np.int32),
            np.array([each.violation for each in certificates]),
        ),
        np.array([each.n_iter for each in certificates], dtype=np.int64),
        np.array([each.relative_gap for each in certificates]),
    )
