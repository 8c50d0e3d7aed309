"""Predictions on rows in blocks that are computed at once, block by block."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._extras import require
from localsvm.engine._options import current_options
from localsvm.engine._sources import Batches, is_dataset, open_queries


def predict_blocks(model: Any, method: str, X: Any) -> NDArray[Any]:
    """Call a method of a model on one block of rows after the other.

    Parameters
    ----------
    model : fitted estimator
    method : str
        Its name; returns one entry or one row per row.
    X : path, pyarrow.dataset.Dataset, Batches or iterator
        Of Parquet files the columns that the model was fitted to are read, by their
        names; others, such as the labels, may be there. Batches are rows, or tuples
        that begin with them.

    Returns
    -------
    ndarray
        One entry or one row per row, in their order.

    Notes
    -----
    One block of rows is in memory at a time, and the result.
    """
    results = []
    for place, rows in _blocks_of(model, X):
        try:
            results.append(getattr(model, method)(rows))
        except ValueError as error:
            raise ValueError(f"In {place}: {error}") from error
    if not results:
        raise ValueError("Found 0 rows in all batches; a minimum of 1 is required.")
    return np.concatenate(results)


def _blocks_of(model: Any, X: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(X, (str, os.PathLike)) or is_dataset(X):
        return _read_files(model, X)
    batches: Iterable[Any] = X
    if isinstance(X, Batches):
        batches = map(X.read, range(X.n_batches))
    return _read_batches(batches)


def _read_files(model: Any, X: Any) -> Iterator[tuple[str, Any]]:
    names = getattr(model, "feature_names_in_", None)
    features = None if names is None else names.tolist()
    for part in open_queries(
        X, features, model.n_features_in_, current_options().block_rows
    ):
        rows: Any = part.read_features()
        if features is not None:
            pandas = require("pandas", "dask", "A Parquet file")
            rows = pandas.DataFrame(rows, columns=features, copy=False)
        yield part.place, rows


def _read_batches(batches: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    for number, batch in enumerate(batches):
        is_pair = isinstance(batch, (tuple, list)) and len(np.shape(batch[0])) == 2
        rows = batch[0] if is_pair else batch
        if np.shape(rows)[0]:
            yield f"batch {number}", rows
