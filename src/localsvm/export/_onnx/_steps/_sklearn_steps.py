"""First steps of a pipeline that skl2onnx converts, joined with a graph from here."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from localsvm._extras import require
from localsvm.data import as_frame
from localsvm.export._onnx._graph import IR_VERSION, OPSETS, onnx_module
from localsvm.export._onnx._steps._skl2onnx import (
    convert_transformer,
    shape_transformer,
)
from localsvm.export._onnx._steps._transformers import STEPS

_PREFIX = "steps/"


def convert_steps(steps: list[Any], dtype: str, X: Any) -> Any:
    """Convert the first steps of a pipeline by skl2onnx.

    Transformers that have a graph here keep it: those of skl2onnx take no float64
    (SimpleImputer), or leave something out (its indicator).

    Parameters
    ----------
    steps : list of fitted transformers
    dtype : {"float32", "float64"}
        Type of the numbers among the inputs.
    X : table, array or None
        Some rows, which show the types of the columns; None means only numbers.

    Returns
    -------
    proto : onnx.ModelProto
        Of one output, the prepared rows.
    """
    skl2onnx = require("skl2onnx", "onnx", f"{type(steps[0]).__name__} in a pipeline")
    try:
        proto = skl2onnx.convert_sklearn(
            make_pipeline(*steps),
            initial_types=_initial_types(steps[0], dtype, X),
            target_opset=OPSETS,
            custom_conversion_functions=dict.fromkeys(STEPS, convert_transformer),
            custom_shape_calculators=dict.fromkeys(STEPS, shape_transformer),
        )
        # Some of its converters leave numbers of float32 among those of float64.
        onnx_module("onnx.checker").check_model(proto, full_check=True)
    except (RuntimeError, onnx_module("onnx.shape_inference").InferenceError) as error:
        names = ", ".join(type(step).__name__ for step in steps)
        raise TypeError(
            f"skl2onnx cannot export {names} with dtype={dtype!r}: {error}"
        ) from error
    proto.ir_version = IR_VERSION
    return proto


def output_type(proto: Any) -> np.dtype[Any]:
    """Type of the prepared rows."""
    number = proto.graph.output[0].type.tensor_type.elem_type
    dtype: np.dtype[Any] = onnx_module("onnx.helper").tensor_dtype_to_np_dtype(number)
    return dtype


def merge(first: Any, then: Any) -> Any:
    """Let a graph with the input "X" answer the rows that another one prepares."""
    compose = onnx_module("onnx.compose")
    del first.opset_import[:]
    helper = onnx_module("onnx.helper")
    opsets = [helper.make_opsetid(*each) for each in OPSETS.items()]
    first.opset_import.extend(opsets)
    first = compose.add_prefix(first, _PREFIX, rename_inputs=False)
    return compose.merge_models(
        first,
        then,
        io_map=[(first.graph.output[0].name, "X")],
        producer_name=then.producer_name,
        producer_version=then.producer_version,
        name=then.graph.name,
    )


def _initial_types(first: Any, dtype: str, X: Any) -> list[tuple[str, Any]]:
    """Describe the inputs to skl2onnx: of a table one per column."""
    types = require("skl2onnx.common.data_types", "onnx", "A pipeline in ONNX")
    number = {"float32": types.FloatTensorType, "float64": types.DoubleTensorType}
    frame = None if X is None else as_frame(X)
    if frame is None and X is None and hasattr(first, "transformers_"):
        names = getattr(first, "feature_names_in_", None)
        if names is not None:
            raise ValueError(
                f"The pipeline takes a table with the columns {', '.join(names[:5])}"
                f"{', ...' if len(names) > 5 else ''}; to_onnx needs some of its rows "
                "as X, to know which of them are numbers and which strings."
            )
    if frame is None:
        return [("X", number[dtype]([None, first.n_features_in_]))]
    return [
        (str(name), (number[dtype] if numeric else types.StringTensorType)([None, 1]))
        for name, numeric in zip(frame.columns, _are_numbers(frame), strict=True)
    ]


def _are_numbers(frame: Any) -> list[bool]:
    return [kind.kind in "biuf" for kind in frame.dtypes]
