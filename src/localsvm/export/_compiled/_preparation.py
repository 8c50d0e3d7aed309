"""The way of the user's columns to prepared rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm import _core
from localsvm.estimators import ColumnCode, Preparation, joined_lists


def prepared_rows(preparation: Preparation, n_columns: int, dtype: Any) -> Any:
    """Give the steps of a preparation as the core takes them."""
    codes = preparation.columns
    return linear_map(
        preparation.components.T,
        preparation.offset,
        dtype,
        n_columns=n_columns,
        codes=None if codes is None else _codes(codes),
        maps=None if preparation.quantiles is None else preparation.quantiles.to_core,
        unit_rows=preparation.unit_rows,
    )


def linear_map(
    components: NDArray[Any],
    offset: NDArray[Any],
    dtype: Any,
    *,
    n_columns: int,
    codes: Any = None,
    maps: Any = None,
    unit_rows: bool = False,
) -> Any:
    """Give the map of rows by ``components`` (outputs x columns, or one per column)."""
    wide = np.dtype(dtype) == np.float64
    made: Any = _core.RowPreparationFloat64 if wide else _core.RowPreparationFloat32
    return made(
        n_cols=n_columns,
        codes=codes,
        maps=maps,
        unit_rows=unit_rows,
        components=np.ascontiguousarray(np.atleast_2d(components), dtype=dtype),
        offset=np.ascontiguousarray(offset, dtype=dtype),
        is_diagonal=components.ndim == 1,
    )


def _codes(columns: ColumnCode) -> Any:
    return _core.ColumnCodes(
        numbers=columns.numbers.astype(np.int64),
        medians=columns.medians,
        flagged=columns.flagged.astype(np.int64),
        categories=columns.categories.astype(np.int64),
        levels=_core.NumberLists(*joined_lists(columns.levels)),
        has_missing=columns.missing_levels.astype(np.uint8),
    )
