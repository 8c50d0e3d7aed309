"""Outputs of a graph: labels, scores and probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.export._onnx._answer import Answer, answer
from localsvm.export._onnx._graph import Graph
from localsvm.export._onnx._probabilities import calibrated
from localsvm.export._onnx._tensor import Tensor


def add_outputs(graph: Graph, rows: Tensor, model: Any, dtype: str) -> None:
    """Name label, scores and, where there are any, probabilities."""
    n_classes = len(model.classes_)

    def decide(block: Tensor) -> list[Tensor]:
        found = answer(graph, block, model)
        results = [_winner(found, n_classes), found.scores]
        calibration = getattr(model, "_calibration", None)
        if found.probabilities is not None:
            results.append(found.probabilities)
        elif calibration is not None:
            results.append(calibrated(graph, found.scores, calibration.map, dtype))
        return results

    n_columns = model.n_features_in_
    winner, scores, *probabilities = graph.in_blocks(rows, n_columns, decide)
    labels = label_table(model.classes_)
    graph.output("label", graph.constant(labels, labels.dtype).take(winner))
    scores = scores.cast(dtype)
    if n_classes == 2:
        graph.output("scores", scores.drop(1))
    else:
        graph.output("scores", scores, n_classes)
    for each in probabilities:
        graph.output("probabilities", each.cast(dtype), n_classes)


def _winner(found: Answer, n_classes: int) -> Tensor:
    """Position of each row's class, the first at a tie."""
    if n_classes == 2:
        return found.scores.above(0.0).cast(np.int64).drop(1)
    return found.scores.arg_max(1)


def label_table(classes: NDArray[Any]) -> NDArray[Any]:
    """Classes in a type that ONNX has."""
    if classes.dtype.kind == "b":
        return classes
    if classes.dtype.kind in "iu":
        return classes.astype(np.int64)
    if classes.dtype.kind == "f":
        return classes.astype(np.float64)
    if all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object)
    raise TypeError(
        f"The labels {classes.tolist()[:3]} have no type in ONNX; expected numbers or "
        "strings. Fit the model to such labels."
    )
