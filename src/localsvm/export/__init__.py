"""Models that leave this library."""

from localsvm.export._file import FileDescription, describe_file, load, save
from localsvm.export._onnx import (
    onnx_inputs,
    register_converters,
    to_onnx,
    write_onnx,
)

__all__ = [
    "FileDescription",
    "describe_file",
    "load",
    "onnx_inputs",
    "register_converters",
    "save",
    "to_onnx",
    "write_onnx",
]
