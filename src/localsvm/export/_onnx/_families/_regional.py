"""Linear SVMs over regions: ClusteredSVC and LocallyLinearSVC."""

from __future__ import annotations

import numpy as np

from localsvm.cluster import RIDGE, HardRegions, LocalCoordinates, SoftRegions
from localsvm.estimators import (
    BaseRegionalSVC,
    ClusteredSVC,
    ClusteredSVCCV,
    LocallyLinearSVC,
    RegionalModel,
)
from localsvm.export._onnx._answer import Answer, answers, rounded
from localsvm.export._onnx._families._centers import (
    center_scores,
    find_cluster,
    squared_distances,
)
from localsvm.export._onnx._graph import Graph
from localsvm.export._onnx._tensor import Tensor

# One matrix product evaluates all regions, unless a row needs so small a part of them
# that it is quicker to fetch their weights.
_MOST_REGIONS_PER_USED = 16

# Regions of each row and their weights, both of shape (n_rows, m).
Codes = tuple[Tensor, Tensor]


@answers(ClusteredSVC, ClusteredSVCCV, LocallyLinearSVC)
def regional_answer(graph: Graph, rows: Tensor, model: BaseRegionalSVC) -> Answer:
    """Mix the decisions of each row's regions."""
    codes = _code(graph, rows, model)
    n_used = getattr(model.regions_, "n_nearest", 1)
    scores = _decide(graph, rows, codes, n_used, model._fitted_model())
    return Answer(rounded(scores, graph.rows_dtype))


def _code(graph: Graph, rows: Tensor, model: BaseRegionalSVC) -> Codes:
    regions = model.regions_
    if isinstance(regions, HardRegions):
        found = find_cluster(graph, rows, regions.clusterer).expand(1)
        return found, (found * 0 + 1).real()
    if isinstance(regions, SoftRegions):
        return _soft_code(graph, rows, regions)
    return _local_code(graph, rows, regions)


def _soft_code(graph: Graph, rows: Tensor, regions: SoftRegions) -> Codes:
    scores, nearest = center_scores(graph, rows, regions.centers).extremes(
        regions.n_nearest, largest=False
    )
    weights = ((scores - scores.columns(0, 1)) * -regions.tau).exp()
    weights = (weights - regions.cut).at_least(0.0)
    return nearest, weights / (weights * weights).sum(1, keep=True).sqrt()


def _local_code(graph: Graph, rows: Tensor, regions: LocalCoordinates) -> Codes:
    _, anchors = center_scores(graph, rows, regions.centers).extremes(
        regions.n_nearest, largest=False
    )
    graph.uses(2 * regions.n_nearest * regions.centers.shape[1])
    squared = squared_distances(graph, rows, regions.centers, anchors)
    if regions.coding == "inverse_distance":
        weights = _inverse_distances(squared)
    else:
        weights = _least_squares(graph, squared, anchors, regions)
    return anchors, weights / weights.sum(1, keep=True)


def _inverse_distances(squared: Tensor) -> Tensor:
    """Distance of the nearest over that of each; one on an anchor, zero elsewhere."""
    distance = squared.sqrt()
    apart = distance.above(0.0)
    return apart.where(distance.columns(0, 1) / apart.where(distance, 1.0), 1.0)


def _least_squares(
    graph: Graph, squared: Tensor, anchors: Tensor, regions: LocalCoordinates
) -> Tensor:
    """Solve each row's equations by Gauss-Jordan steps.

    The ridge keeps the pivots of the positive definite matrix away from zero.
    """
    between = graph.weight(np.asarray(regions._between).ravel())
    n_nearest = regions.n_nearest
    pairs = anchors.expand(2) * regions.n_regions + anchors.expand(1)
    gram = (squared.expand(2) + squared.expand(1) - between.take(pairs)) * 0.5
    trace = squared.sum(1, keep=True)
    gram = gram / trace.above(0.0).where(trace, 1.0).expand(2)
    gram = gram + RIDGE * np.eye(n_nearest)
    graph.uses(4 * n_nearest**2)
    right_side = (squared * 0.0 + 1.0).expand(2)

    def eliminate(system: Tensor, unknown: Tensor) -> Tensor:
        """Make the column of one unknown that of the identity."""
        column = (system * graph.concatenate([unknown, nothing], axis=0)).sum(2)
        equation = (system * unknown.expand(1)).sum(1)
        pivot = (column * unknown).sum(1, keep=True)
        equation = (equation / pivot).expand(1)
        return system - (column - unknown).expand(2) * equation

    nothing = graph.constant(np.zeros(1), graph.real)
    system = graph.concatenate([gram, right_side], axis=2)
    unknowns = graph.weight(np.eye(n_nearest))
    shape = (None, n_nearest, n_nearest + 1)
    solved = graph.repeat(system, shape, unknowns, eliminate)
    return solved.take(np.array(n_nearest), axis=2)


def _decide(
    graph: Graph, rows: Tensor, codes: Codes, n_used: int, model: RegionalModel
) -> Tensor:
    """Decisions of shape (n_rows, n_tasks)."""
    regions, weights = codes
    if model.coef[-1].any() or model.intercept[-1].any():
        rest = 1.0 - weights.sum(1, keep=True)
        shared = regions.columns(0, 1) * 0 + model.n_regions
        regions = graph.concatenate([regions, shared])
        weights = graph.concatenate([weights, rest])
        n_used += 1
    if len(model.coef) <= _MOST_REGIONS_PER_USED * n_used:
        return _evaluate_all(graph, rows, (regions, weights), model)
    return _evaluate_used(graph, rows, (regions, weights), n_used, model)


def _evaluate_all(
    graph: Graph, rows: Tensor, codes: Codes, model: RegionalModel
) -> Tensor:
    """Decisions of all regions, and of those the ones that count for the row."""
    n_nodes, n_tasks, n_features = model.coef.shape
    regions, weights = codes
    coef = model.coef.reshape(-1, n_features).T
    graph.uses(2 * n_nodes * n_tasks)
    values = rows @ graph.weight(coef, graph.rows_dtype)
    values = values + graph.weight(model.intercept.ravel(), graph.rows_dtype)
    places = regions.expand(2) + np.zeros(n_tasks, dtype=np.int64)
    chosen = values.reshape(0, n_nodes, n_tasks).take_along(places)
    return (chosen * weights.expand(2)).sum(1)


def _evaluate_used(
    graph: Graph, rows: Tensor, codes: Codes, n_used: int, model: RegionalModel
) -> Tensor:
    """Blend the weights of the row's regions, and decide by that."""
    n_nodes, n_tasks, n_features = model.coef.shape
    regions, weights = codes
    graph.uses((n_used + 1) * n_tasks * n_features)
    coef = graph.weight(model.coef.reshape(n_nodes, -1), graph.rows_dtype)
    intercept = graph.weight(model.intercept, graph.rows_dtype)
    shares = weights.expand(1)
    blend = (shares @ coef.take(regions)).reshape(0, n_tasks, n_features)
    values = (blend @ rows.expand(2)).drop(2)
    return values + (shares @ intercept.take(regions)).drop(1)
