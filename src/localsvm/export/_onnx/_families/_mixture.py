"""Mixtures of linear SVMs: gates, losses, and the classes' sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from localsvm.estimators import CenterGate, LinearGate, MixtureSVC, TwoLevelGate
from localsvm.export._onnx._answer import Answer, answers, rounded
from localsvm.export._onnx._graph import Graph
from localsvm.export._onnx._tensor import Tensor


@answers(MixtureSVC)
def mixture_answer(graph: Graph, rows: Tensor, model: MixtureSVC) -> Answer:
    """Logarithm of each class's sum over the components (Eq. 6 and 21)."""
    mixture = model._fitted_model()
    n_logits = len(mixture.gate.coef)
    shape = mixture.n_components, mixture.n_tasks
    slope, offset = mixture.stacked
    graph.uses(n_logits + 4 * shape[0] * mixture.n_classes)
    values = rows @ graph.weight(slope) + graph.weight(offset)
    log_shares = _log_shares(graph, values.columns(0, n_logits), mixture.gate)
    decisions = values.columns(n_logits, n_logits + shape[0] * shape[1])
    losses = _class_losses(graph, decisions.reshape(0, *shape), mixture.n_tasks)
    sums = (log_shares.expand(2) - losses).log_sum_exp(1)
    scores = rounded(sums, mixture.dtype)
    probabilities = graph.apply("Softmax", scores.real(), axis=1)
    if mixture.n_tasks == 1:
        scores = scores.columns(1, 2) - scores.columns(0, 1)
    return Answer(scores, probabilities)


def _log_shares(graph: Graph, logits: Tensor, gate: Any) -> Tensor:
    if isinstance(gate, LinearGate):
        return graph.apply("LogSoftmax", logits, axis=1)
    if isinstance(gate, CenterGate):
        return graph.apply("LogSoftmax", logits, axis=1) + np.log(gate.prior)
    return _two_level_shares(graph, logits, gate)


def _two_level_shares(graph: Graph, logits: Tensor, gate: TwoLevelGate) -> Tensor:
    """Shares of the groups times those of the components within (Eq. 22)."""
    n_groups = gate.top.n_components
    of_groups = _log_shares(graph, logits.columns(0, n_groups), gate.top)
    parts, start = [], n_groups
    for group, within in enumerate(gate.groups):
        own = logits.columns(start, start + within.n_components)
        of_group = of_groups.columns(group, group + 1)
        parts.append(_log_shares(graph, own, within) + of_group)
        start += within.n_components
    return graph.concatenate(parts)


def _class_losses(graph: Graph, decisions: Tensor, n_tasks: int) -> Tensor:
    """Loss of each class, of shape (n_rows, n_components, n_classes)."""
    own = graph.apply("Relu", 1.0 - decisions)
    other = graph.apply("Relu", decisions + 1.0)
    if n_tasks == 1:
        return graph.concatenate([other, own], axis=2)
    return own - other + other.sum(2, keep=True)
