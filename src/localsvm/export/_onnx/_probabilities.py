"""Probabilities from the scores of a graph, as a model was calibrated."""

from __future__ import annotations

from typing import Any

import numpy as np

from localsvm.export._onnx._graph import Graph
from localsvm.export._onnx._tensor import Tensor


def calibrated(graph: Graph, scores: Tensor, own: Any, dtype: str) -> Tensor:
    """Map scores to probabilities whose largest is that of the label.

    Parameters
    ----------
    graph : Graph
    scores : Tensor of shape (n_rows, n_outputs)
        One column for two classes.
    own : SignMap or ClassMap
        Of the model.
    dtype : {"float32", "float64"}
        Type of the outputs, in which the largest is to be larger.

    Returns
    -------
    Tensor of shape (n_rows, n_classes)
    """
    step = float(np.finfo(np.dtype(dtype)).eps)
    if scores_are_one_column(own):
        return _of_signs(graph, scores.real(), own, step)
    return _of_classes(graph, scores.real(), own, step)


def scores_are_one_column(own: Any) -> bool:
    """Whether a map is one of two classes."""
    return hasattr(own, "knots")


def _of_signs(graph: Graph, scores: Tensor, own: Any, step: float) -> Tensor:
    largest = float(np.finfo(graph.real).max)
    width = np.diff(own.knots, axis=1, append=largest)
    sides = []
    for side, sign in enumerate((-1.0, 1.0)):
        beyond = (scores * sign - own.knots[side]).at_least(0.0).at_most(width[side])
        sides.append((beyond * own.slopes[side]).sum(1, keep=True) * sign)
    odds = (sides[0] + sides[1]).at_least(-700.0).at_most(700.0)
    second = graph.apply("Sigmoid", odds)
    first = graph.apply("Sigmoid", -odds)
    is_second = scores.above(0.0)
    second = is_second.where(second.at_least(0.5 + step), second.at_most(0.5))
    first = is_second.where(first.at_most(0.5 - step), first.at_least(0.5))
    return graph.concatenate([first, second], axis=1)


def _of_classes(graph: Graph, scores: Tensor, own: Any, step: float) -> Tensor:
    n_classes = len(own.slope)
    graph.uses(4 * n_classes)
    logits = scores * own.slope + own.bias
    if own.squashed:
        tail = graph.apply("Log", (-logits.absolute()).exp() + 1.0)
        logits = logits.at_most(0.0) - tail
    places = np.arange(n_classes, dtype=np.int64)
    is_winner = scores.arg_max(1).expand(1).equals(places)
    raised = is_winner.where(logits.max(1, keep=True), logits)
    found = graph.apply("Softmax", raised, axis=1)
    others = is_winner.where(0.0, found).max(1, keep=True)
    # onnxruntime takes a product with a number next to one for nothing.
    ahead = graph.apply("Max", found, others + others * (2 * step))
    return is_winner.where(ahead, found)
