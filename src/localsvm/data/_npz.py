"""NumPy's files of arrays, without pickles."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_UNREADABLE = (ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error)


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Arrays of an npz file by name; pickled ones are refused."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {array: archive[array] for array in archive.files}
    except _UNREADABLE as error:
        raise ValueError(f"is not an npz file of plain arrays: {error}") from error
