"""NumPy's npz and npy files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._extras import require
from localsvm.data._readers._options import Content, ReadOptions
from localsvm.data._sets._npz import load_array, load_arrays
from localsvm.exceptions import DataError

_PARTS = ("train", "test")


def read_npz(path: Path, options: ReadOptions) -> Content:
    """Read ``X`` and ``y``, or ``X_train`` and so on, of which one part is selected.

    The labels may be absent. An array ``feature_names`` names the columns.
    """
    arrays = load_arrays(path)
    end = _ending(arrays, options)
    X = arrays.get(f"X{end}")
    if X is None:
        raise DataError(
            f"has no array X{end}; found {', '.join(arrays) or 'none'}, expected X "
            "and y, or X_train, y_train, X_test and y_test."
        )
    y = arrays.get(f"y{end}")
    if X.ndim != 2 or (y is not None and y.shape != X.shape[:1]):
        shapes = f"X{end} of shape {X.shape}"
        shapes += "" if y is None else f" and y{end} of shape {y.shape}"
        raise DataError(f"has {shapes}; expected a matrix and one label per row.")
    return Content(_frame(X, arrays.get("feature_names")), y, filtered=bool(end))


def read_npy(path: Path, options: ReadOptions) -> Content:
    """Read one matrix, or records with names."""
    array = load_array(path)
    if array.dtype.names and array.ndim == 1:
        return Content(require("pandas", "tables", "Reading a table").DataFrame(array))
    if array.ndim != 2:
        raise DataError(f"has an array of shape {array.shape}; expected a matrix.")
    return Content(_frame(array, None))


def _ending(arrays: Mapping[str, Any], options: ReadOptions) -> str:
    if "X_train" not in arrays:
        return ""
    column, part = options.where or ("", "")
    if column != "split" or part not in _PARTS:
        raise DataError(
            "has rows for training and for testing; expected {remedy}.",
            parameter="where",
            value=("split=train", "split=test"),
        )
    return f"_{part}"


def _frame(X: NDArray[Any], names: NDArray[Any] | None) -> Any:
    if names is None or names.shape != X.shape[1:]:
        names = np.array([f"x{position}" for position in range(X.shape[1])])
    pandas = require("pandas", "tables", "Reading a table")
    return pandas.DataFrame(X, columns=[str(name) for name in names])
