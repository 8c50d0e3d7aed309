"""Fitted models as ONNX graphs of standard operators."""

# Each of these lets its functions answer for a family of estimators.
from localsvm.export._onnx import (
    _kernels,
    _mixture,
    _regional,
    _support_cluster,
)
from localsvm.export._onnx._model import to_onnx, write_onnx

__all__ = [
    "_kernels",
    "_mixture",
    "_regional",
    "_support_cluster",
    "to_onnx",
    "write_onnx",
]
