"""What the rows are: their number, columns, missing values and classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline

from localsvm.data import TableEncoder, as_frame
from localsvm.inspect._labels import LabelCoding
from localsvm.inspect._report._text import clean, number, percent

_SHOWN_COLUMNS = 40
_SHOWN_CLASSES = 40
_SHOWN_VALUES = 3
_KINDS = {"b": "boolean", "i": "number", "u": "number", "f": "number", "M": "date"}


@dataclass(frozen=True)
class ColumnLine:
    """One column of the table."""

    name: str
    kind: str
    n_missing: int
    values: str


@dataclass(frozen=True)
class ClassLine:
    """One class: its rows, None where none are known."""

    label: str
    n_train: int | None
    n_test: int
    share: float


@dataclass(frozen=True)
class DataSection:
    """Rows, columns and classes of the data.

    Attributes
    ----------
    n_train : int or None
    n_test, n_columns : int
    n_features : int
        Columns that the classifier gets.
    storage : str
        Of rows without columns to describe, such as sparse ones.
    columns : list of ColumnLine
    n_hidden_columns : int
    n_missing : int
        Entries without a value, in all columns.
    described : {"training", "scored"}
        The rows that the columns are described by.
    classes : list of ClassLine
    n_hidden_classes : int
    """

    n_train: int | None
    n_test: int
    n_columns: int
    n_features: int
    storage: str
    columns: list[ColumnLine]
    n_hidden_columns: int
    n_missing: int
    described: str
    classes: list[ClassLine]
    n_hidden_classes: int


def describe_data(
    model: Any, test: tuple[Any, LabelCoding], train: tuple[Any, LabelCoding] | None
) -> DataSection:
    """Describe the rows of a report.

    Parameters
    ----------
    model : fitted classifier or Pipeline
    test, train : tuple of rows and LabelCoding
    """
    X = _own_columns(model, test[0] if train is None else train[0])
    columns, n_missing, storage = _describe_columns(model, X)
    classes = _count_classes(test[1], None if train is None else train[1])
    last = model[-1] if isinstance(model, Pipeline) else model
    n_columns = int(np.shape(X)[1])
    return DataSection(
        n_train=None if train is None else len(train[1].true),
        n_test=len(test[1].true),
        n_columns=n_columns,
        n_features=int(getattr(last, "n_features_in_", n_columns)),
        storage=storage,
        columns=columns,
        n_hidden_columns=n_columns - len(columns) if columns else 0,
        n_missing=n_missing,
        described="scored" if train is None else "training",
        classes=classes[:_SHOWN_CLASSES],
        n_hidden_classes=max(0, len(classes) - _SHOWN_CLASSES),
    )


def _own_columns(model: Any, X: Any) -> Any:
    """Columns of a table that the model takes; it may have others."""
    frame = None if sparse.issparse(X) else as_frame(X)
    names = getattr(model, "feature_names_in_", None)
    if frame is None or names is None or not set(names) <= set(frame.columns):
        return X
    return frame[list(names)]


def _describe_columns(model: Any, X: Any) -> tuple[list[ColumnLine], int, str]:
    """Lines of the first columns, missing entries of all, words for other storage."""
    if sparse.issparse(X):
        share = X.nnz / max(1, X.shape[0] * X.shape[1])
        return [], 0, f"sparse rows, {percent(share, 2)} of the entries are not zero"
    frame = as_frame(X)
    if frame is None:
        values = np.asarray(X)
        n_missing = int(np.isnan(values).sum()) if values.dtype.kind == "f" else 0
        names = getattr(model, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(values.shape[1])]
        take: Callable[[int], Any] = lambda j: values[:, j]  # noqa: E731
    else:
        names, n_missing = list(frame.columns), int(frame.isna().to_numpy().sum())
        take = lambda j: frame.iloc[:, j]  # noqa: E731
    kinds = _encoder_kinds(model)
    lines = [
        _describe_column(str(name), take(j), kinds.get(str(name)))
        for j, name in enumerate(names[:_SHOWN_COLUMNS])
    ]
    return lines, n_missing, ""


def _describe_column(name: str, values: Any, kind: str | None) -> ColumnLine:
    missing = values.isna().to_numpy() if hasattr(values, "isna") else _is_nan(values)
    there = values[~missing]
    found = _KINDS.get(np.asarray(there[:1]).dtype.kind, "category")
    words = _describe_values(there, found) if len(there) else "none"
    return ColumnLine(clean(name), kind or found, int(missing.sum()), words)


def _describe_values(values: Any, kind: str) -> str:
    low, high = (values.min(), values.max()) if kind in ("date", "number") else (0, 0)
    if kind == "date":
        return f"{str(low)[:10]} to {str(high)[:10]}"
    if kind == "number":
        if low == high:
            return number(float(low))
        middle = number(float(np.median(values)))
        return f"{number(float(low))} to {number(float(high))}, median {middle}"
    counts = _count_values(values)
    top = sorted(counts, key=lambda value: (-counts[value], str(value)))[:_SHOWN_VALUES]
    shares = [percent(counts[each] / len(values), 0) for each in top]
    words = [f"{clean(each, 24)}: {s}" for each, s in zip(top, shares, strict=True)]
    more = len(counts) - len(top)
    return ", ".join(words) + (f" and {more:,} more" if more else "")


def _count_values(values: Any) -> dict[Any, int]:
    if hasattr(values, "value_counts"):
        counts: dict[Any, int] = values.value_counts().to_dict()
        return {value: count for value, count in counts.items() if count}
    return dict(Counter(values.tolist()))


def _is_nan(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    return np.zeros(len(values), dtype=bool)


def _encoder_kinds(model: Any) -> dict[str, str]:
    """Kinds that a table encoder found, by column."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else []
    return {
        column.name: "left out" if column.kind == "drop" else column.kind
        for step in steps
        if isinstance(step, TableEncoder)
        for column in step.columns_
    }


def _count_classes(test: LabelCoding, train: LabelCoding | None) -> list[ClassLine]:
    labels = [*test.labels, *(train.unknown if train else ())]
    labels = list(dict.fromkeys(labels))
    n_test = np.bincount(test.true, minlength=len(test.labels))
    in_test = dict(zip(test.labels, n_test.tolist(), strict=True))
    in_train: dict[Any, int] = {}
    if train is not None:
        counts = np.bincount(train.true, minlength=len(train.labels)).tolist()
        in_train = dict(zip(train.labels, counts, strict=True))
    base = in_train or in_test
    total = max(1, sum(base.values()))
    lines = [
        ClassLine(
            clean(label),
            in_train.get(label, 0) if train else None,
            in_test.get(label, 0),
            base.get(label, 0) / total,
        )
        for label in labels
    ]
    return sorted(lines, key=lambda line: -line.share)
