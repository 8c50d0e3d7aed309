"""Models that leave this library."""

from localsvm.export._onnx import to_onnx, write_onnx

__all__ = ["to_onnx", "write_onnx"]
