"""The global model that local SVMs are added to."""

from __future__ import annotations

from typing import Any

import numpy as np

from localsvm.estimators import GlobalModel
from localsvm.export._onnx._answer import answer, is_known
from localsvm.export._onnx._graph import Graph
from localsvm.export._onnx._tensor import Tensor


def global_decisions(
    graph: Graph, rows: Tensor, model: GlobalModel, share: float
) -> Tensor | None:
    """``share`` of the decisions, of shape (n_rows, n_outputs); None if they are zero.

    A classifier that does not know all classes gives zero to the others.
    """
    if model.classifier is None:
        return None
    if is_known(model.classifier):
        decisions = answer(graph, rows, model.classifier).scores.real()
    else:
        decisions = _linear_decisions(graph, rows, model.classifier)
    if len(model.classes) == 2:
        return decisions * share
    known = np.searchsorted(model.classes, model.classifier.classes_)
    if len(known) == 2:
        decisions = graph.concatenate([-decisions, decisions])
    # A factor after the product would be merged into it, rounded to float32.
    return decisions @ graph.weight(share * np.eye(len(model.classes))[known])


def _linear_decisions(graph: Graph, rows: Tensor, classifier: Any) -> Tensor:
    """Decisions of a linear classifier of scikit-learn."""
    if not _is_linear(classifier):
        raise TypeError(
            f"global_model={type(classifier).__name__} cannot be exported to ONNX; "
            "expected an estimator of this library, or one whose decisions are "
            "X @ coef_.T + intercept_."
        )
    slope = np.atleast_2d(classifier.coef_).T
    return rows @ graph.weight(slope) + graph.weight(
        np.atleast_1d(classifier.intercept_)
    )


def _is_linear(classifier: Any) -> bool:
    if not (hasattr(classifier, "coef_") and hasattr(classifier, "intercept_")):
        return False
    coef = np.atleast_2d(classifier.coef_)
    probes = np.random.default_rng(0).standard_normal((3, coef.shape[1]))
    expected = probes @ coef.T + classifier.intercept_
    found = np.asarray(classifier.decision_function(probes)).reshape(3, -1)
    return found.shape == expected.shape and np.allclose(found, expected)
