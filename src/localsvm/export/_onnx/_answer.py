"""What a model says of rows, as tensors of a graph: one function per family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from localsvm.estimators import method_of
from localsvm.export._onnx._graph import Graph
from localsvm.export._onnx._steps._transformers import map_by_metric
from localsvm.export._onnx._tensor import Tensor


@dataclass(frozen=True)
class Answer:
    """Decisions of rows.

    Attributes
    ----------
    scores : Tensor of shape (n_rows, n_outputs)
        One column for two classes, rounded as the model rounds them: what is a tie
        there is one here.
    probabilities : Tensor of shape (n_rows, n_classes) or None
        Where the model defines them.
    """

    scores: Tensor
    probabilities: Tensor | None = None


Family = Callable[[Graph, Tensor, Any], Answer]
_FAMILIES: dict[type, Family] = {}


def answers(*estimators: type) -> Callable[[Family], Family]:
    """Let a function answer for the given estimators."""

    def register(family: Family) -> Family:
        _FAMILIES.update(dict.fromkeys(estimators, family))
        return family

    return register


def known_estimators() -> list[type]:
    """Estimators that some function answers for."""
    return list(_FAMILIES)


def is_known(model: Any) -> bool:
    """Whether a function answers for the estimator."""
    return type(model) in _FAMILIES


def check_exportable(model: Any) -> None:
    """Raise unless the model is fitted and of a known type."""
    method = method_of(model)
    if method is not None and method.onnx_refusal:
        raise TypeError(
            f"{method.class_name} cannot be exported to ONNX: {method.onnx_refusal}"
        )
    if not is_known(model):
        names = ", ".join(sorted(each.__name__ for each in _FAMILIES))
        raise TypeError(
            f"{type(model).__name__} cannot be exported to ONNX; expected one of "
            f"{names}, or a pipeline that ends with one."
        )
    check_is_fitted(model)


def answer(graph: Graph, rows: Tensor, model: Any) -> Answer:
    """Let a fitted estimator answer rows."""
    check_exportable(model)
    rows = map_by_metric(graph, rows, getattr(model, "metric_", None))
    if model.n_features_in_ == 1:
        # onnxruntime merges the scale of a single column into a matrix product that
        # follows, rounded to float32. This stands between the two.
        rows = rows.at_least(-np.inf)
    return _FAMILIES[type(model)](graph, rows, model)


def rounded(scores: Tensor, dtype: Any) -> Tensor:
    """Scores in the type that the model gives them."""
    return scores.cast(dtype) if np.dtype(dtype) == np.float32 else scores
