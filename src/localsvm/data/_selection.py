"""The selected rows and columns of a table, and its target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.data._columns._values import factorize, label_of
from localsvm.data._frames import absent_columns, as_frame, duplicates
from localsvm.data._readers._options import Content, ReadOptions
from localsvm.exceptions import DataError


def select(
    content: Content,
    target: str | None,
    options: ReadOptions,
    drop: Sequence[str],
    keep: Sequence[str] = (),
) -> tuple[Any, NDArray[Any] | None]:
    """Rows with a value in a column, without some columns; and the labels apart.

    Parameters
    ----------
    content : Content
        What a reader found.
    target : str or None
        Column of the labels; None is what the content itself says.
    options : ReadOptions
        With the condition on the rows, and what becomes of those without a label.
    drop : sequence of str
        Columns to leave out.
    keep : sequence of str, default=()
        Columns that stay even if ``where`` names them.

    Returns
    -------
    X : DataFrame or CSR array
    y : ndarray or None
    """
    if content.labels is not None and target is not None:
        raise DataError(
            f"has its labels apart from the columns; expected {{remedy}}, got "
            f"{target!r}.",
            parameter="target",
        )
    if sparse.issparse(content.rows):
        if options.where or drop:
            raise DataError(
                "has no column names; expected {remedy}.",
                parameter="where" if options.where else "drop",
            )
        return content.rows, content.labels
    wanted = target if target is not None else content.target
    condition = None if content.filtered else options.where
    used = [each for each in (wanted, condition and condition[0]) if each]
    if wanted is not None and wanted in drop:
        raise DataError(f"cannot drop its target column {wanted!r}.")
    _check_names(_names(content.rows), [*used, *drop])
    leaving = [name for name in drop if name not in used]
    frame, labels = _frame_without(content.rows, leaving), content.labels
    if condition is not None:
        kept = _rows_with(frame, *condition)
        frame = frame[kept].reset_index(drop=True)
        labels = None if labels is None else labels[kept]
    if wanted is not None:
        if options.missing_labels == "drop":
            frame = _with_labels(frame, wanted)
        labels = _labels(frame, wanted)
    gone = [name for name in used if name == wanted or name not in keep]
    return frame.drop(columns=list(dict.fromkeys(gone))), labels


def _names(rows: Any) -> list[str]:
    return list(rows.column_names if hasattr(rows, "column_names") else rows.columns)


def _check_names(names: list[str], used: Sequence[str]) -> None:
    twice = duplicates(names)
    if twice:
        raise DataError(
            f"has several columns named {', '.join(map(repr, twice[:5]))}; expected "
            "names that differ."
        )
    absent = absent_columns(used, names)
    if absent:
        raise DataError(absent)


def _frame_without(rows: Any, drop: Sequence[str]) -> Any:
    """Frame of the columns that are left; those that go need not fit into one."""
    if hasattr(rows, "drop_columns"):
        frame = as_frame(rows.drop_columns(list(dict.fromkeys(drop))))
    else:
        frame = rows.drop(columns=list(drop))
    if not len(frame):
        raise DataError("has no rows.")
    return frame


def _rows_with(frame: Any, column: str, value: str) -> NDArray[np.bool_]:
    kept, found = find_rows(frame[column], value)
    if kept.any():
        return kept
    shown = ", ".join(map(repr, found[:10])) + (", ..." if len(found) > 10 else "")
    raise DataError(f"has no row with {value!r} in column {column!r}; found {shown}.")


def find_rows(values: Any, value: str) -> tuple[NDArray[np.bool_], list[str]]:
    """Which of a column's values is the given one, and all distinct values."""
    codes, found = factorize(values.name, values)
    for label in (value, _as_label_of_number(value)):
        if label in found:
            return np.asarray(codes == found.index(label)), found
    return np.zeros(len(values), dtype=bool), found


def _as_label_of_number(value: str) -> str:
    try:
        return label_of(float(value))
    except (ValueError, OverflowError):
        return value


def _with_labels(frame: Any, target: str) -> Any:
    """Rows that have a label, which is an integer or boolean again if it can be."""
    there = frame[target].notna()
    if there.all():
        return frame
    if not there.any():
        raise DataError(f"has no label in its target column {target!r}.")
    frame = frame[there].reset_index(drop=True)
    labels = frame[target].infer_objects()
    if labels.dtype.kind == "f" and (labels % 1 == 0).all():
        labels = labels.astype(np.int64)
    return frame.assign(**{target: labels})


def _labels(frame: Any, target: str) -> NDArray[Any]:
    values = frame[target]
    missing = values.isna().to_numpy()
    if missing.any():
        raise DataError(
            f"has {int(missing.sum())} missing values in its target column {target!r}, "
            f"the first in row {int(missing.argmax())} (the first is 0); pass "
            "{remedy} to leave these rows out.",
            parameter="missing_labels",
            value="drop",
        )
    return np.asarray(values.to_numpy())
