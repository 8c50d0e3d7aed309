"""Predictions on Dask collections: lazy, chunk by chunk."""

from __future__ import annotations

from typing import Any

import numpy as np

from localsvm._extras import require
from localsvm.engine._dask import is_dask_array, is_dask_frame
from localsvm.engine._sources import rows_dtype


def is_lazy(X: Any) -> bool:
    """Tell whether rows are a Dask collection.

    Parameters
    ----------
    X : object

    Returns
    -------
    bool
    """
    return is_dask_array(X) or is_dask_frame(X)


def predict_lazily(model: Any, method: str, X: Any, columns: Any, dtype: Any) -> Any:
    """Call a method of a model on every chunk of rows when the result is asked for.

    Parameters
    ----------
    model : fitted estimator
    method : str
        Its name; returns one entry or one row per row.
    X : dask.array or dask.dataframe
        The number of rows in a chunk need not be known.
    columns : sequence or None
        Names of the columns of the result, None if it has one dimension.
    dtype : dtype or None
        Of the result; None is that of the rows, float32 or float64.

    Returns
    -------
    dask.array or dask.dataframe
        With the chunks of X; of a data frame, a series or frame with its index.
    """
    dask = require("dask", "dask", "A Dask collection")
    shared = dask.delayed(model, pure=True)
    dtype = rows_dtype(X) if dtype is None else np.dtype(dtype)
    if is_dask_frame(X):
        pandas = require("pandas", "dask", "A Dask data frame")
        empty = np.empty((0, len(columns or [0])), dtype=dtype)
        meta = pandas.DataFrame(empty, columns=columns)
        meta = meta[0].rename(None) if columns is None else meta
        return X.map_partitions(_call_on_frame, shared, method, columns, meta=meta)
    rows = X.rechunk({1: -1})
    if columns is None:
        meta = np.empty(0, dtype=dtype)
        return rows.map_blocks(_call, shared, method, meta=meta, drop_axis=1)
    chunks = rows.chunks[0], (len(columns),)
    meta = np.empty((0, 0), dtype=dtype)
    return rows.map_blocks(_call, shared, method, meta=meta, chunks=chunks)


def _call(X: Any, model: Any, method: str) -> Any:
    if X.shape[0] == 0:
        return _nothing(model, method, X)
    return getattr(model, method)(X)


def _call_on_frame(X: Any, model: Any, method: str, columns: Any) -> Any:
    pandas = require("pandas", "dask", "A Dask data frame")
    values = _call(X, model, method)
    if columns is None:
        return pandas.Series(values, index=X.index)
    return pandas.DataFrame(values, columns=columns, index=X.index)


def _nothing(model: Any, method: str, X: Any) -> Any:
    """Give the result of a chunk without rows, which models do not take."""
    values = getattr(model, method)(np.zeros((1, X.shape[1]), dtype=rows_dtype(X)))
    return values[:0]
