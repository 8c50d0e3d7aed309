"""NumPy's files of arrays, without pickles."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.exceptions import DataError

_MAGIC_OF_NPY = b"\x93NUMPY"
# What NumPy and zipfile raise when a file is damaged.
_UNREADABLE = (
    ValueError,
    TypeError,
    EOFError,
    KeyError,
    MemoryError,
    OverflowError,
    SyntaxError,
    RuntimeError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Arrays of an npz file by name; pickled ones are refused."""
    if not zipfile.is_zipfile(path):
        raise DataError("is not an npz file of plain arrays.")
    with (
        _damage_as_data_error("npz file of plain arrays"),
        np.load(path, allow_pickle=False) as archive,
    ):
        return {array: archive[array] for array in archive.files}


def load_array(path: Path) -> NDArray[Any]:
    """Array of an npy file; a pickled one is refused."""
    with open(path, "rb") as file:
        if file.read(len(_MAGIC_OF_NPY)) != _MAGIC_OF_NPY:
            raise DataError("is not an npy file.")
    with _damage_as_data_error("npy file of a plain array"):
        return np.asarray(np.load(path, allow_pickle=False))


@contextmanager
def _damage_as_data_error(expected: str) -> Iterator[None]:
    try:
        yield
    except _UNREADABLE as error:
        raise DataError(f"is not an {expected}: {error}") from error
