"""The model file: plain data that any later version reads."""

from localsvm.export._file._description import FileDescription, describe_file
from localsvm.export._file._model_file import ModelFile, load, load_file, save
from localsvm.export._file._updates import UpdatableFile

__all__ = [
    "FileDescription",
    "ModelFile",
    "UpdatableFile",
    "describe_file",
    "load",
    "load_file",
    "save",
]
