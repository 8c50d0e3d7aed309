"""The rows and columns of a table that are asked for, and its target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.data._columns._values import factorize
from localsvm.data._frames import absent_columns, duplicates
from localsvm.data._readers._options import Content


def select(
    content: Content,
    target: str | None,
    where: tuple[str, str] | None,
    drop: Sequence[str],
) -> tuple[Any, NDArray[Any] | None]:
    """Rows with a value in a column, without some columns; and the labels apart.

    Parameters
    ----------
    content : Content
        What a reader found.
    target : str or None
        Column of the labels; None is what the content itself says.
    where : tuple of two str or None
        Column and value.
    drop : sequence of str
        Columns to leave out.

    Returns
    -------
    X : DataFrame or CSR array
    y : ndarray or None
    """
    if content.labels is not None and target is not None:
        raise ValueError(
            f"has its labels apart from the columns; expected target=None, got "
            f"{target!r}."
        )
    if sparse.issparse(content.rows):
        if where or drop:
            raise ValueError("has no names of columns; expected no 'where' or 'drop'.")
        return content.rows, content.labels
    frame, labels = _checked(content.rows), content.labels
    wanted = target if target is not None else content.target
    condition = None if content.filtered else where
    chosen = [each for each in (wanted, condition and condition[0]) if each]
    absent = absent_columns([*chosen, *drop], list(frame.columns))
    if absent:
        raise ValueError(absent)
    if wanted in drop:
        raise ValueError(f"cannot drop its target column {wanted!r}.")
    if condition is not None:
        kept = _rows_with(frame, *condition)
        frame = frame[kept].reset_index(drop=True)
        labels = None if labels is None else labels[kept]
    if wanted is not None:
        labels = _labels(frame, wanted)
    return frame.drop(columns=list(dict.fromkeys([*chosen, *drop]))), labels


def _checked(frame: Any) -> Any:
    twice = duplicates(list(frame.columns))
    if twice:
        raise ValueError(
            f"has several columns named {', '.join(map(repr, twice[:5]))}; expected "
            "names that differ."
        )
    if not len(frame):
        raise ValueError("has no rows.")
    return frame


def _rows_with(frame: Any, column: str, value: str) -> NDArray[np.bool_]:
    codes, found = factorize(frame[column])
    if value not in found:
        shown = ", ".join(map(repr, found[:10])) + (", ..." if len(found) > 10 else "")
        raise ValueError(
            f"has no row with {value!r} in column {column!r}; found {shown}."
        )
    return np.asarray(codes == found.index(value))


def _labels(frame: Any, target: str) -> NDArray[Any]:
    values = frame[target]
    missing = values.isna().to_numpy()
    if missing.any():
        raise ValueError(
            f"has {int(missing.sum())} missing values in its target column {target!r}, "
            f"the first in row {int(missing.argmax())} (the first is 0); remove these "
            "rows."
        )
    if hasattr(values, "cat"):
        values = values.astype(values.cat.categories.dtype)
    return np.asarray(values.to_numpy())
