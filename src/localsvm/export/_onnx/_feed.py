"""Tables and arrays as the inputs of an ONNX graph."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.data import (
    absent_columns,
    as_days,
    as_frame,
    as_numbers,
    as_truth,
    factorize,
)
from localsvm.export._onnx._graph import onnx_module


def onnx_inputs(proto: Any, X: Any) -> dict[str, NDArray[Any]]:
    """Bring rows into the form in which an ONNX runtime takes them.

    Parameters
    ----------
    proto : onnx.ModelProto
        From :func:`to_onnx`, or read from a file by ``onnx.load``.
    X : table or array-like of shape (n_samples, n_features)
        Rows as the model takes them.

    Returns
    -------
    inputs : dict of str to ndarray
        By name of the input. Rows of numbers are one input ``X``. A table has one
        input of shape (n_samples, 1) per column: numbers, NaN where one is missing;
        booleans as 1 and 0; dates as days since 1970, in float64; categories as
        strings, empty where one is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from localsvm import ClusteredSVC
    >>> from localsvm.data import TableEncoder
    >>> from localsvm.export import onnx_inputs, to_onnx
    >>> X = pd.DataFrame({"age": [30, 50, 20, 60] * 9, "sex": ["m", "f", "f", "m"] * 9})
    >>> model = make_pipeline(TableEncoder(), ClusteredSVC(2)).fit(X, X["age"] > 40)
    >>> onnx_inputs(to_onnx(model), X[:1])
    {'age': array([[30.]], dtype=float32), 'sex': array([['m']], dtype=object)}
    """
    kinds = _kinds(proto)
    dtypes = {each.name: _dtype_of(each) for each in proto.graph.input}
    frame = as_frame(X)
    if list(dtypes) == ["X"] and "X" not in kinds:
        rows = X if frame is None else frame
        return {"X": np.ascontiguousarray(rows, dtype=dtypes["X"])}
    if frame is None:
        raise TypeError(
            f"The graph takes the columns {', '.join(map(repr, dtypes))}; expected a "
            f"table, got {type(X).__name__}."
        )
    columns = {name: kinds.get(name, (name, "")) for name in dtypes}
    names = {str(name): name for name in frame.columns}
    absent = absent_columns([column for column, _ in columns.values()], list(names))
    if absent:
        raise ValueError(f"The table {absent}")
    return {
        name: _values(frame[names[column]], column, kind, dtypes[name])[:, np.newaxis]
        for name, (column, kind) in columns.items()
    }


def _kinds(proto: Any) -> dict[str, tuple[str, str]]:
    """Column and kind of the inputs that encode a table."""
    properties = {each.key: each.value for each in proto.metadata_props}
    columns = json.loads(properties.get("columns", "null")) or []
    return {each["input"]: (each["column"], each["kind"]) for each in columns}


def _dtype_of(value_info: Any) -> np.dtype[Any]:
    number = value_info.type.tensor_type.elem_type
    dtype: np.dtype[Any] = onnx_module("onnx.helper").tensor_dtype_to_np_dtype(number)
    return dtype


def _values(values: Any, column: str, kind: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    if dtype.kind == "O":
        codes, labels = factorize(column, values)
        return np.array([*labels, ""], dtype=object)[codes]
    if kind == "boolean":
        return as_truth(column, values).astype(dtype)
    if kind.startswith("date"):
        _, _, format = kind.partition(":")
        return as_days(column, values, format).astype(dtype)
    return as_numbers(column, values).astype(dtype)
