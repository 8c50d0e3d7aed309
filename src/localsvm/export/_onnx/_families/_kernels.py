"""Kernel values of rows, and SVMs on one set of support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.estimators import ReducedSVC
from localsvm.export._onnx._answer import Answer, answers, rounded
from localsvm.export._onnx._families._centers import center_scores, middle_of
from localsvm.export._onnx._graph import Graph
from localsvm.export._onnx._tensor import Tensor
from localsvm.kernels import Kernel


@answers(ReducedSVC)
def reduced_answer(graph: Graph, rows: Tensor, model: ReducedSVC) -> Answer:
    """Decisions of one class against the rest, or of two classes."""
    fitted = model._model
    intercept = graph.weight(fitted.intercept)
    if fitted.is_linear:
        scores = rows @ graph.weight(fitted.coef.T) + intercept
    else:
        support = fitted.support_vectors
        rows = stored_as(rows, support)
        values = kernel_values(graph, rows, support, fitted.kernel)
        # The model multiplies kernel values by duals of their own type.
        scores = values @ graph.weight(fitted.dual_coef.T, support.dtype) + intercept
    return Answer(rounded(scores, graph.rows_dtype))


def stored_as(rows: Tensor, reference: Any) -> Tensor:
    """Round the rows as a model does whose training rows have the given type."""
    if reference.dtype == rows.graph.rows_dtype:
        return rows
    return rows.cast(reference.dtype).real()


def dense(rows: Any) -> NDArray[Any]:
    """Rows of a model as a dense array."""
    return rows.toarray() if sparse.issparse(rows) else np.asarray(rows)


def kernel_values(graph: Graph, rows: Tensor, support: Any, kernel: Kernel) -> Tensor:
    """Kernel values with all support vectors, of shape (n_rows, n_support)."""
    points = dense(support)
    graph.uses(len(points))
    if kernel.name == "rbf":
        return (squared_distances_to(graph, rows, points) * -kernel.gamma).exp()
    if kernel.name == "laplace":
        graph.uses(2 * points.size)
        distances = (graph.weight(points) - rows.expand(1)).absolute().sum(2)
        return octaves(distances * -kernel.gamma)
    if kernel.name == "linear":
        return rows @ graph.weight(points.T)
    # A factor after the product would be merged into it, rounded to float32.
    slope = kernel.gamma * points.astype(np.float64)
    return polynomial(rows @ graph.weight(slope.T), kernel)


def polynomial(scaled_products: Tensor, kernel: Kernel) -> Tensor:
    """Values of the polynomial kernel, from inner products times gamma."""
    base = scaled_products + kernel.coef0
    return base if kernel.degree == 1 else base.power(kernel.degree)


def octaves(exponent: Tensor) -> Tensor:
    """Values of the Laplace kernel, from absolute distances times -gamma."""
    power = exponent.exp()
    total = power
    for _ in range(6):
        power = power * power
        total = total + power
    # Between a factor and a product: the two would be merged, rounded to float32.
    return (total / 7.0).at_least(0.0)


def squared_distances_to(graph: Graph, rows: Tensor, points: NDArray[Any]) -> Tensor:
    """Squared distances to all points, of shape (n_rows, n_points).

    By products of rows that are centred on the points, as the model takes them.
    """
    moved = rows - graph.weight(middle_of(points))
    own = (moved * moved).sum(1, keep=True)
    return (center_scores(graph, rows, points) + own).at_least(0.0)
