"""The model file: plain data that any later version reads."""

from localsvm.export._file._description import FileDescription, describe_file
from localsvm.export._file._model_file import load, save

__all__ = ["FileDescription", "describe_file", "load", "save"]
