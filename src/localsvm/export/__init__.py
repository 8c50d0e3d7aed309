"""Models that leave this library."""

from localsvm.export._c import to_c, write_c
from localsvm.export._compiled import CompiledModel, compile
from localsvm.export._file import (
    FileDescription,
    ModelFile,
    UpdatableFile,
    describe_file,
    load,
    load_file,
    save,
)
from localsvm.export._onnx import (
    onnx_inputs,
    register_converters,
    to_onnx,
    write_onnx,
)

__all__ = [
    "CompiledModel",
    "FileDescription",
    "ModelFile",
    "UpdatableFile",
    "compile",
    "describe_file",
    "load",
    "load_file",
    "onnx_inputs",
    "register_converters",
    "save",
    "to_c",
    "to_onnx",
    "write_c",
    "write_onnx",
]
