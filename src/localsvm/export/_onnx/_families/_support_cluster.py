"""Support Cluster Machines: kernels of rows with Gaussians, in logarithms."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators import ClusterMachine, SupportClusterSVC
from localsvm.exceptions import DataError
from localsvm.export._onnx._answer import Answer, answers, rounded
from localsvm.export._onnx._families._votes import combine_pairs
from localsvm.export._onnx._graph import Graph
from localsvm.export._onnx._tensor import Tensor

_LOG_2_PI = math.log(2.0 * math.pi)

Floats = NDArray[np.float64]


@answers(SupportClusterSVC)
def support_cluster_answer(
    graph: Graph, rows: Tensor, model: SupportClusterSVC
) -> Answer:
    """Eq. 11 for every task, and scores of the classes from those."""
    machine, n_classes = model._fitted_machine(), len(model.classes_)
    if machine.kernel.form == "paper" and graph.real == np.float32:
        raise DataError(
            "kernel_form='paper' needs arithmetic='float64': its values are beyond the "
            "range of float32. Got arithmetic='float32'."
        )
    if len(machine.pairs) == 0:
        only = int(model.region_class_counts_[0].argmax())
        constant = np.where(np.arange(n_classes) == only, 1.0, -1.0)
        constant = constant[1:] if n_classes == 2 else constant
        return Answer(rows.columns(0, 1) * 0.0 + constant)
    decisions = _decide(graph, rows, machine)
    if (machine.pairs >= 0).all():
        scores = combine_pairs(graph, decisions, machine.pairs, n_classes)
    else:
        scores = _one_against_rest(graph, decisions, machine, n_classes)
    return Answer(_narrowed(scores))


def _decide(graph: Graph, rows: Tensor, machine: ClusterMachine) -> Tensor:
    """Decisions of shape (n_rows, n_tasks)."""
    intercept = graph.weight(machine.intercept)
    if len(machine.support) == 0:
        return rows.columns(0, 1) * 0.0 + intercept
    kernel, clusters = machine.kernel, machine.clusters
    equal = kernel.form == "expected_rbf"
    width = kernel.width if equal else kernel.width / 2
    offset = -machine.log_scale + (0.0 if equal else clusters.log_prior)
    logs = _log_overlap(graph, rows, (clusters.mean, clusters.covariance), width)
    highest = 0.0 if equal else 0.9 * math.log(np.finfo(np.float64).max)
    values = (logs + np.asarray(offset)).at_most(highest).exp()
    # The model multiplies kernel values by duals of the rows' type.
    return values @ graph.weight(machine.duals.T, graph.rows_dtype) + intercept


def _log_overlap(
    graph: Graph, rows: Tensor, clusters: tuple[Floats, Floats | None], width: float
) -> Tensor:
    """Logarithms of the Gaussians' densities, smoothed by ``width``.

    Distances come from products of rows that are centred on the means.
    """
    mean, covariance = clusters
    center = mean.mean(axis=0)
    moved, shifted = rows - graph.weight(center), mean - center
    if covariance is not None and covariance.ndim == 3:
        return _whitened(graph, moved, shifted, covariance, width)
    spread = np.full(mean.shape, width) + (0.0 if covariance is None else covariance)
    logs = -0.5 * (shifted**2 / spread + np.log(spread) + _LOG_2_PI).sum(axis=1)
    graph.uses(3 * len(mean))
    by_row = moved @ graph.weight((shifted / spread).T)
    by_square = (moved * moved) @ graph.weight(-0.5 / spread.T)
    return by_row + by_square + graph.weight(logs)


def _whitened(
    graph: Graph, moved: Tensor, shifted: Floats, covariance: Floats, width: float
) -> Tensor:
    """One triangular map per Gaussian, all of them in one matrix product."""
    n_clusters, n_features = shifted.shape
    factor = np.linalg.cholesky(covariance + width * np.eye(n_features))
    inverse = np.linalg.inv(factor)
    logs = np.log(np.diagonal(inverse, axis1=1, axis2=2)).sum(axis=1)
    logs = logs - 0.5 * n_features * _LOG_2_PI
    middle: Floats = np.einsum("kij,kj->ki", inverse, shifted)
    graph.uses(2 * n_clusters * n_features)
    white = moved @ graph.weight(inverse.reshape(-1, n_features).T) - middle.ravel()
    white = white.reshape(0, n_clusters, n_features)
    return (white * white).sum(2) * -0.5 + graph.weight(logs)


def _one_against_rest(
    graph: Graph, decisions: Tensor, machine: ClusterMachine, n_classes: int
) -> Tensor:
    """Give each class its column; classes without clusters come last."""
    present = machine.pairs[:, 1]
    place = np.zeros(n_classes, dtype=np.int64)
    place[present] = np.arange(len(present))
    absent = np.ones(n_classes, dtype=bool)
    absent[present] = False
    scores = decisions.take(place, axis=1)
    if not absent.any():
        return scores
    last = decisions.min(1, keep=True) - 1.0
    return graph.constant(absent, np.bool_).where(last, scores)


def _narrowed(scores: Tensor) -> Tensor:
    """Scores in the type of the rows; the paper's form may be beyond float32."""
    dtype = scores.graph.rows_dtype
    largest = float(np.finfo(dtype).max)
    return rounded(scores.at_least(-largest).at_most(largest), dtype)
