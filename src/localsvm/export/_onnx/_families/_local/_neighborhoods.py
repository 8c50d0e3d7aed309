"""Kernel SVMs of neighbourhoods: LocalSVC."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators import BaseLocalSVC, LocalSVC, LocalSVCCV
from localsvm.export._onnx._answer import Answer, answers, rounded
from localsvm.export._onnx._families._centers import squared_distances
from localsvm.export._onnx._families._kernels import (
    dense,
    kernel_values,
    octaves,
    polynomial,
    squared_distances_to,
    stored_as,
)
from localsvm.export._onnx._families._local._equal_vectors import with_distinct_vectors
from localsvm.export._onnx._families._local._global_model import global_decisions
from localsvm.export._onnx._families._local._routing import find_neighborhood
from localsvm.export._onnx._families._votes import combine_own_pairs, combine_pairs
from localsvm.export._onnx._graph import Graph
from localsvm.export._onnx._tensor import Tensor
from localsvm.solvers import LocalModels

# One matrix product compares a row with all support vectors, unless it needs so few of
# them that fetching those is quicker.
_MOST_VECTORS_PER_USED = 64


@answers(LocalSVC, LocalSVCCV)
def local_answer(graph: Graph, rows: Tensor, model: BaseLocalSVC) -> Answer:
    """Scores by the SVMs of each row's neighbourhood."""
    kept = model._model
    dtype = kept.support_rows.dtype
    rows = stored_as(rows, kept.support_rows)
    points = dense(kept.support_rows)
    models = with_distinct_vectors(kept.models, points)
    prior = None
    if kept.prior is not None:
        with graph.asked_about(dtype):
            prior = global_decisions(graph, rows, kept.prior, kept.shrink)
    if model.n_regions_ == 1:
        scores = _decide_by_one(graph, rows, model, models, prior)
    else:
        region = find_neighborhood(graph, rows, kept.router)
        scores = _Routed(graph, rows, region, model, models, points).decide(prior)
    return Answer(rounded(scores, dtype))


def _decide_by_one(
    graph: Graph,
    rows: Tensor,
    model: BaseLocalSVC,
    models: LocalModels,
    prior: Tensor | None,
) -> Tensor:
    """Scores by the only neighbourhood."""
    n_classes = len(model.classes_)
    if models.only_class[0] >= 0:
        only = np.where(np.arange(n_classes) == models.only_class[0], 1.0, -1.0)
        return rows.columns(0, 1) * 0.0 + (only[1:] if n_classes == 2 else only)
    pairs = models.pairs.reshape(-1, 2)
    decisions = rows.columns(0, 1) * 0.0 + models.intercept
    if len(models.support):
        kernel = replace(model._model.kernel, gamma=float(models.gamma[0]))
        support = model._model.support_rows[models.support]
        coef = models.coef.reshape(len(pairs), -1)
        values = kernel_values(graph, rows, support, kernel)
        decisions = values @ graph.weight(coef.T) + models.intercept
    if prior is not None and n_classes == 2:
        decisions = decisions + prior
    elif prior is not None:
        negative, positive = (
            prior.take(each, axis=1) for each in pairs.T.astype(np.int64)
        )
        decisions = decisions + (positive - negative) * 0.5
    return combine_pairs(graph, decisions, pairs, n_classes)


@dataclass(frozen=True)
class _Routed:
    """Rows with the neighbourhood that answers each of them.

    Models of different sizes are made equal: positions from 0 to the largest size,
    where those beyond a model's own size point to something that is not counted.
    """

    graph: Graph
    rows: Tensor
    region: Tensor
    model: BaseLocalSVC
    models: LocalModels
    points: NDArray[Any]

    def decide(self, prior: Tensor | None) -> Tensor:
        """Scores of shape (n_rows, n_outputs)."""
        n_classes = len(self.model.classes_)
        classes = np.arange(n_classes, dtype=np.int64)
        if n_classes == 2:
            classes = classes[1:]
        only = self._of_region(self.models.only_class).expand(1)
        constant = only.equals(classes).real() * 2.0 - 1.0
        if not len(self.models.pairs):
            return constant
        return only.below(0).where(self._vote(prior, n_classes), constant)

    def _vote(self, prior: Tensor | None, n_classes: int) -> Tensor:
        """Scores by the pairs of classes in each row's neighbourhood."""
        place, exists = self._places(self.models.pair_start)
        negative, positive = (
            exists.where(self._at(each, place), -1)
            for each in self.models.pairs.reshape(-1, 2).T
        )
        intercept = self._weights_at(self.models.intercept, place)
        decisions = self._products(place) + intercept
        if n_classes == 2:
            return decisions if prior is None else decisions + prior
        if prior is not None:
            own, other = (
                prior.take_along(each.at_least(0)) for each in (positive, negative)
            )
            decisions = decisions + (own - other) * 0.5
        self.graph.uses(6 * n_classes * _longest(self.models.pair_start))
        return combine_own_pairs(self.graph, decisions, (negative, positive), n_classes)

    def _products(self, line: Tensor) -> Tensor:
        """Kernel values times duals, of shape (n_rows, most pairs).

        ``line`` numbers the pairs of all models, of which each has a line of duals.
        """
        models = self.models
        n_pairs, n_support = (
            _longest(each) for each in (models.pair_start, models.support_start)
        )
        if n_support == 0:
            return self.rows.columns(0, 1) * np.zeros(n_pairs)
        place, _ = self._places(models.support_start)
        index = self._at(models.support, place)
        values = self._kernel_values(index, n_support)
        self.graph.uses(n_pairs * n_support)
        duals = self._weights_at(_lines_of_duals(models), line)
        return (duals @ values.expand(2)).drop(2)

    def _kernel_values(self, index: Tensor, n_used: int) -> Tensor:
        """Kernel values with the support vectors at the index."""
        graph, kernel, points = self.graph, self.model._model.kernel, self.points
        fetches = len(points) > _MOST_VECTORS_PER_USED * n_used
        gamma = graph.weight(self.models.gamma).take(self.region).expand(1)
        if kernel.name == "rbf":
            # Routing by rows has compared with all of them anyway.
            if fetches and self.model.route != "row":
                graph.uses(n_used * points.shape[1])
                squared = squared_distances(graph, self.rows, points, index)
            else:
                squared = squared_distances_to(graph, self.rows, points)
                squared = squared.take_along(index)
            return (-(squared * gamma)).exp()
        if kernel.name == "laplace":
            # No product of matrices gives the distances to all of them.
            graph.uses(2 * n_used * points.shape[1])
            steps = graph.weight(points).take(index) - self.rows.expand(1)
            return octaves(-(steps.absolute().sum(2) * gamma))
        if fetches:
            graph.uses(n_used * points.shape[1])
            fetched = graph.weight(points).take(index)
            products = (fetched @ self.rows.expand(2)).drop(2)
        else:
            graph.uses(len(points))
            products = (self.rows @ graph.weight(points.T)).take_along(index)
        if kernel.name == "linear":
            return products
        return polynomial(products * gamma, kernel)

    def _places(self, start: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Positions of a model's entries in a flat array, and whether they are its."""
        slot = np.arange(_longest(start), dtype=np.int64)
        first = self._of_region(start[:-1]).expand(1)
        size = self._of_region(np.diff(start)).expand(1)
        return first + slot, size.above(slot)

    def _of_region(self, table: NDArray[np.integer]) -> Tensor:
        return self.graph.constant(table, np.int64).take(self.region)

    def _at(self, table: NDArray[np.integer], place: Tensor) -> Tensor:
        flat = self.graph.constant(table, np.int64)
        return flat.take(place.at_most(len(table) - 1))

    def _weights_at(self, table: NDArray[np.float64], place: Tensor) -> Tensor:
        return self.graph.weight(table).take(place.at_most(len(table) - 1))


def _lines_of_duals(models: LocalModels) -> NDArray[np.float64]:
    """Duals of every pair of every model in a line, filled up with zeros.

    One line is fetched in one piece, which is much faster than number by number.
    """
    lines = np.zeros((int(models.pair_start[-1]), _longest(models.support_start)))
    for model, size in enumerate(np.diff(models.support_start)):
        own = slice(*models.pair_start[model : model + 2])
        coef = models.coef[slice(*models.coef_start[model : model + 2])]
        if size:
            lines[own, :size] = coef.reshape(-1, size)
    return lines


def _longest(start: NDArray[np.int64]) -> int:
    """Most entries of a model."""
    return int(np.diff(start).max())
