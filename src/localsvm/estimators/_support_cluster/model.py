"""The Support Cluster Machine itself: duals of clusters, decisions of rows."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._threads import map_in_threads
from localsvm.cluster import GaussianSummary
from localsvm.kernels import ClusterKernel, Gaussians
from localsvm.solvers import (
    BoxProblem,
    Endings,
    KernelOptions,
    KernelSolution,
    combine_pairs,
    decide_in_blocks,
    pair_shares,
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


@dataclass(frozen=True)
class ClusterMachine:
    """Solution of the dual (Eq. 3, 7) for every task, on support clusters alone.

    Attributes
    ----------
    kernel : ClusterKernel
    log_scale : float
        Logarithm of the factor that was taken out of the kernel.
    support : ndarray of shape (n_support,)
        Clusters with a dual in any task.
    clusters : Gaussians
        The support clusters.
    duals : ndarray of shape (n_tasks, n_support)
        Signed: alpha times the side.
    intercept : ndarray of shape (n_tasks,)
    pairs : ndarray of shape (n_tasks, 2)
        Negative and positive class; -1 stands for all others.
    endings : Endings
    n_iter : ndarray of shape (n_tasks,)
    relative_gap : ndarray of shape (n_tasks,)
    """

    kernel: ClusterKernel
    log_scale: float
    support: NDArray[np.intp]
    clusters: Gaussians
    duals: NDArray[np.float64]
    intercept: NDArray[np.float64]
    pairs: NDArray[np.int32]
    endings: Endings
    n_iter: NDArray[np.int64]
    relative_gap: NDArray[np.float64]

    def decide(self, X: Any, n_jobs: int | None) -> NDArray[np.float64]:
        """Eq. 11 for every row and task, in the kernel's form."""
        if len(self.support) == 0:
            return np.tile(self.intercept, (X.shape[0], 1))
        compare = self.kernel.compare_with(self.clusters, self.log_scale, X.dtype.type)
        decisions = decide_in_blocks(compare, self.duals, X, n_jobs)
        decisions += self.intercept
        return decisions

    def gradients(self, X: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
        """Gradients of the scores of rows, of shape (n_samples, n_outputs, n_features).

        Of pairs of several classes, those of the mean of a class's decisions against
        the others: votes have no gradient. Zero for classes without clusters.
        """
        n_outputs = 1 if n_classes == 2 else n_classes
        gradients = np.zeros((X.shape[0], n_outputs, X.shape[1]))
        if len(self.support) == 0:
            return gradients
        of_tasks = self.kernel.weighted_gradient(
            X, self.clusters, self.log_scale, self.duals
        )
        if (self.pairs >= 0).all():
            for output, shares in pair_shares(self.pairs, n_classes):
                gradients[:, output] = np.einsum("t,itj->ij", shares, of_tasks)
        else:
            gradients[:, self.pairs[:, 1]] = of_tasks
        return gradients

    def score(self, decisions: NDArray[np.float64], n_classes: int) -> NDArray[Any]:
        """One score per class from the decisions of the tasks, one in all for two."""
        if (self.pairs >= 0).all():
            return combine_pairs(decisions, self.pairs, n_classes)
        scores = np.empty((len(decisions), n_classes))
        # Classes without clusters come last.
        scores[:] = decisions.min(axis=1, keepdims=True) - 1
        scores[:, self.pairs[:, 1]] = decisions
        return scores


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
    penalty: NDArray[np.float64],
    options: KernelOptions,
    n_jobs: int | None,
) -> ClusterMachine:
    """Solve all tasks on one kernel matrix.

    Parameters
    ----------
    summary : GaussianSummary
    tasks : sequence of Task
    kernel : ClusterKernel
    penalty : ndarray of shape (n_clusters,)
        C times weight and class weight of each cluster; it is divided by the weight of
        all clusters of a task.
    options : KernelOptions
        ``cancel`` is set here.
    n_jobs : int or None
        Threads over tasks and blocks of the matrix.
    """
    clusters = as_gaussians(summary)
    gram, log_scale = kernel.gram(clusters, n_jobs)
    cancel = threading.Event()

    def solve(task: Task) -> KernelSolution:
        own = summary.weight[task.members]
        problem = BoxProblem.of_classes(task.sign, penalty[task.members] / own.sum())
        part = np.ascontiguousarray(gram[np.ix_(task.members, task.members)])
        return solve_gram(part, problem, replace(options, cancel=cancel))

    solutions = map_in_threads(solve, tasks, n_jobs, cancel)
    return _machine(kernel, log_scale, clusters, tasks, solutions)


def as_gaussians(summary: GaussianSummary) -> Gaussians:
    """Clusters with the priors P of the paper, shares of all rows."""
    prior = summary.weight / summary.weight.sum()
    return Gaussians(summary.mean, summary.covariance, prior)


def _machine(
    kernel: ClusterKernel,
    log_scale: float,
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
