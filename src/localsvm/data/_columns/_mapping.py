"""Rows as a mapping from names of columns to arrays, which need no pandas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._extras import require
from localsvm.data._columns._column import Column
from localsvm.data._frames import absent_columns
from localsvm.exceptions import DataError


def columns_of_mapping(columns: Sequence[Column], X: Mapping[str, Any]) -> list[Any]:
    """Values of each column: arrays of numbers or strings, or series."""
    needed = [column.name for column in columns if column.n_features]
    absent = absent_columns(needed, list(X))
    if absent:
        raise DataError(f"The table {absent}")
    arrays = {name: np.asarray(X[name]) for name in needed}
    first = arrays[needed[0]]
    for name, values in arrays.items():
        if values.ndim != 1 or values.shape != first.shape or not len(values):
            raise DataError(
                f"Column {name!r} has the shape {values.shape}; expected (n_samples,), "
                f"as {needed[0]!r} of shape {first.shape}, with at least 1 sample."
            )
    # A column that gives no feature may be absent; it only has to have a length.
    return [
        _as_values(column, arrays[column.name]) if column.n_features else first
        for column in columns
    ]


def _as_values(column: Column, values: NDArray[Any]) -> Any:
    """Values as the column takes them: as they are, or as a series."""
    if values.dtype.kind in "biuf":
        return values
    if column.by_label and all(type(each) is str or each is None for each in values):
        return values.astype(object, copy=False)
    pandas = require("pandas", "tables", "Encoding a table")
    return pandas.Series(values).infer_objects()
