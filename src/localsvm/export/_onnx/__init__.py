"""Fitted models as ONNX graphs of standard operators."""

from localsvm.export._onnx import _regional  # noqa: F401
from localsvm.export._onnx._model import to_onnx, write_onnx

__all__ = ["to_onnx", "write_onnx"]
