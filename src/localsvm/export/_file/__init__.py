"""The model file: plain data that any later version reads."""

from localsvm.export._file._model_file import (
    FileDescription,
    describe_file,
    load,
    save,
)

__all__ = ["FileDescription", "describe_file", "load", "save"]
