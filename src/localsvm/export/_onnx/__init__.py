"""Fitted models as ONNX graphs of standard operators."""

# Each of these lets its functions answer for a family of estimators.
from localsvm.export._onnx._families import (
    _additive as _additive,
    _kernels as _kernels,
    _mixture as _mixture,
    _regional as _regional,
    _staged as _staged,
    _support_cluster as _support_cluster,
)
from localsvm.export._onnx._families._local import _neighborhoods as _neighborhoods
from localsvm.export._onnx._feed import onnx_inputs
from localsvm.export._onnx._model import to_onnx, write_onnx
from localsvm.export._onnx._steps._skl2onnx import register_converters

__all__ = ["onnx_inputs", "register_converters", "to_onnx", "write_onnx"]
