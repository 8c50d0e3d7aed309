"""Converters for skl2onnx that put graphs from here into its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from localsvm._extras import require
from localsvm.estimators import GradientMetric
from localsvm.export._onnx._answer import known_estimators
from localsvm.export._onnx._graph import OPSETS, Graph
from localsvm.export._onnx._outputs import add_outputs, label_table
from localsvm.export._onnx._steps._transformers import transform


def register_converters() -> None:
    """Teach skl2onnx the estimators of this library, and GradientMetric.

    Afterwards ``skl2onnx.to_onnx`` and ``skl2onnx.convert_sklearn`` take pipelines with
    them at the end, with whatever steps skl2onnx itself can convert. The outputs are
    ``label``, ``scores`` and, where the model has them, ``probabilities``.

    See Also
    --------
    to_onnx : The same without skl2onnx, where the steps are known here.

    Notes
    -----
    Needs opset 18 or newer, which is what skl2onnx targets by itself. The graph
    computes in float64, as that of :func:`to_onnx` does.

    Examples
    --------
    >>> import numpy as np
    >>> import skl2onnx
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from localsvm import ClusteredSVC
    >>> from localsvm.data import make_xor
    >>> from localsvm.export import register_converters
    >>> X, y = make_xor(400, random_state=0)
    >>> model = make_pipeline(StandardScaler(), ClusteredSVC(4)).fit(X, y)
    >>> register_converters()
    >>> proto = skl2onnx.to_onnx(model, X[:1].astype(np.float32))
    >>> [output.name for output in proto.graph.output]
    ['label', 'scores', 'probabilities']
    """
    skl2onnx = require("skl2onnx", "onnx", "Registering converters")
    skl2onnx.update_registered_converter(
        GradientMetric,
        "LocalsvmGradientMetric",
        shape_transformer,
        convert_transformer,
    )
    for estimator in known_estimators():
        skl2onnx.update_registered_converter(
            estimator,
            f"Localsvm{estimator.__name__}",
            _shape_estimator,
            _convert_estimator,
            parser=_parse_estimator,
        )


def convert_transformer(scope: Any, operator: Any, container: Any) -> None:
    """Put the graph of a transformer in the place of its operator."""
    transformer = operator.raw_operator
    dtype = _dtype_of(operator.inputs[0])
    graph = Graph(dtype, np.float64, _unique_prefix(scope))
    rows = graph.input("X", dtype, transformer.n_features_in_).real()
    mapped = transform(graph, rows, transformer).cast(dtype)
    graph.output("mapped", mapped, "n_features")
    _emit(graph, scope, operator, container)


def shape_transformer(operator: Any) -> None:
    """Tell skl2onnx how many columns the transformer gives."""
    given = operator.inputs[0].type
    n_columns = len(operator.raw_operator.get_feature_names_out())
    operator.outputs[0].type = type(given)([given.shape[0], n_columns])


def _convert_estimator(scope: Any, operator: Any, container: Any) -> None:
    if container.target_opset < OPSETS[""]:
        raise RuntimeError(
            f"{type(operator.raw_operator).__name__} needs target_opset="
            f"{OPSETS['']} or newer; got {container.target_opset}."
        )
    dtype = _dtype_of(operator.inputs[0])
    graph = Graph(dtype, np.float64, _unique_prefix(scope))
    rows = graph.input("X", dtype, operator.raw_operator.n_features_in_).real()
    add_outputs(graph, rows, operator.raw_operator, str(dtype))
    _emit(graph, scope, operator, container)


def _parse_estimator(
    scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None
) -> list[Any]:
    """Declare the outputs of an estimator."""
    types = require("skl2onnx.common.data_types", "onnx", "A pipeline in ONNX")
    labels = {
        "b": types.BooleanTensorType,
        "i": types.Int64TensorType,
        "f": types.DoubleTensorType,
    }
    label = labels.get(label_table(model.classes_).dtype.kind, types.StringTensorType)
    numbers = {"float32": types.FloatTensorType, "float64": types.DoubleTensorType}
    number = numbers[str(_dtype_of(inputs[0]))]
    operator = scope.declare_local_operator(f"Localsvm{type(model).__name__}", model)
    operator.inputs = inputs
    outputs = [("label", label), ("scores", number)]
    if hasattr(model, "predict_proba"):
        outputs.append(("probabilities", number))
    for name, kind in outputs:
        operator.outputs.append(scope.declare_local_variable(name, kind()))
    return list(operator.outputs)


def _shape_estimator(operator: Any) -> None:
    """Leave the shapes to the graph."""


def _dtype_of(variable: Any) -> np.dtype[Any]:
    """Type of rows that scikit-learn would make of an input."""
    types = require("skl2onnx.common.data_types", "onnx", "A pipeline in ONNX")
    narrow = isinstance(variable.type, types.FloatTensorType)
    return np.dtype(np.float32 if narrow else np.float64)


def _unique_prefix(scope: Any) -> str:
    return f"{scope.get_unique_operator_name('localsvm')}/"


def _emit(graph: Graph, scope: Any, operator: Any, container: Any) -> None:
    """Copy a graph into the container."""
    proto = graph.proto("part")
    to = graph.type_number(graph.rows_dtype)
    names = [variable.full_name for variable in operator.inputs]
    joined = scope.get_unique_variable_name("joined_columns")
    container.add_node("Concat", names, joined, axis=1)
    container.add_node("Cast", joined, proto.input[0].name, to=to)
    container.nodes.extend(proto.node)
    container.initializers.extend(proto.initializer)
    for domain in graph.domains:
        container.node_domain_version_pair_sets.add((domain, OPSETS[domain]))
    for output, variable in zip(proto.output, operator.outputs, strict=True):
        container.add_node("Identity", output.name, variable.full_name)
