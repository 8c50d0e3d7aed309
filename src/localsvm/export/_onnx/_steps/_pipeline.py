"""Pipelines: steps that have graphs here, steps that skl2onnx converts, the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import Pipeline

from localsvm.data import TableEncoder
from localsvm.export._onnx._steps._transformers import can_transform


@dataclass(frozen=True)
class Parts:
    """What a model is made of, in the order in which rows pass it.

    Attributes
    ----------
    foreign : list
        First steps, up to the last one that only skl2onnx can convert.
    encoder : TableEncoder or None
        The first step, if it is one.
    steps : list
        Transformers of numeric rows.
    estimator : estimator
    """

    foreign: list[Any]
    encoder: TableEncoder | None
    steps: list[Any]
    estimator: Any

    @classmethod
    def of(cls, model: Any) -> Parts:
        """Take a model or pipeline apart."""
        *steps, estimator = _flat(model)
        encoder = None
        if steps and isinstance(steps[0], TableEncoder):
            encoder, *steps = steps
        strange = [i for i, step in enumerate(steps) if not can_transform(step)]
        if strange and encoder is not None:
            raise TypeError(
                f"{type(steps[strange[0]]).__name__} cannot be exported to ONNX after "
                "a TableEncoder; expected a scaler, PCA or the like, or none."
            )
        n_foreign = max(strange, default=-1) + 1
        return cls(steps[:n_foreign], encoder, steps[n_foreign:], estimator)


def _flat(model: Any) -> list[Any]:
    """List the steps of a pipeline and of pipelines in it; a model alone is one."""
    if not isinstance(model, Pipeline):
        return [] if model in (None, "passthrough") else [model]
    return [each for _, step in model.steps for each in _flat(step)]
