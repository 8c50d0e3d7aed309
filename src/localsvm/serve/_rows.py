"""Tensors and JSON rows as what a model predicts: an array or a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._extras import require
from localsvm.serve._columns import InputColumn, columns_of, encoder_of
from localsvm.serve._content import field, kind_of, shown
from localsvm.serve._errors import too_large, wrong
from localsvm.serve._tensors import Tensor, check_text

MATRIX = "X"

_LARGEST = 2**63
_LONGEST_HINT = 100


class RowBuilder:
    """Makes rows for a model.

    Parameters
    ----------
    model : fitted classifier or Pipeline

    Attributes
    ----------
    columns : tuple of InputColumn
    """

    def __init__(self, model: Any) -> None:
        self.columns = columns_of(model)
        encoder = encoder_of(model)
        self._encodes = encoder is not None
        self._named = hasattr(model, "feature_names_in_")
        self._names = {column.name: column for column in self.columns}
        all_columns = self.columns if encoder is None else encoder.columns_
        self._all_names = [column.name for column in all_columns]
        self._ignored = set(self._all_names) - set(self._names)
        self._pandas: Any = None
        if self._named or self._encodes:
            self._pandas = require(
                "pandas", "tables", "Serving a model of named columns"
            )

    def of_tensors(self, tensors: Sequence[Tensor]) -> Any:
        """Rows of one matrix "X", or of one tensor per column.

        An array, or what a model of named columns takes: a table, or for an encoder
        arrays by the names of columns.
        """
        first = tensors[0]
        is_column = MATRIX in self._names and len(first.shape) == 1
        if len(tensors) == 1 and first.name == MATRIX and not is_column:
            return self._of_matrix(first)
        return self._of_columns(tensors)

    def of_json(self, content: dict[str, Any], max_rows: int) -> Any:
        """Rows of ``{"rows": [...]}``, each an object by column, or a list."""
        rows = field(content, "rows", list)
        if not rows:
            raise wrong("rows is empty; expected at least one row.")
        if len(rows) > max_rows:
            raise too_large(
                f"rows has {len(rows)} rows; expected at most {max_rows} a request."
            )
        checked = [self._read_row(row, f"rows[{n}]") for n, row in enumerate(rows)]
        return self._assemble(
            {
                column.name: _read_values(column, [row[place] for row in checked])
                for place, column in enumerate(self.columns)
            }
        )

    def _of_matrix(self, tensor: Tensor) -> Any:
        expected = len(self.columns)
        if len(tensor.shape) != 2 or tensor.shape[1] != expected:
            raise wrong(
                f"{tensor.place}.shape is {list(tensor.shape)}; expected [rows, "
                f"{expected}], one per column of the model."
            )
        values = tensor.values.reshape(tensor.shape)
        if self._pandas is None:
            return self._as_floats(values, tensor.place, tensor.datatype)
        for place, column in enumerate(self.columns):
            self._check_kind(column, tensor, values[:, place])
        return self._of_arrays(
            {column.name: values[:, j] for j, column in enumerate(self.columns)}
        )

    def _of_columns(self, tensors: Sequence[Tensor]) -> Any:
        found: dict[str, NDArray[Any]] = {}
        for tensor in tensors:
            if tensor.name in self._ignored:
                continue
            column = self._names.get(tensor.name)
            if column is None:
                raise wrong(f"{tensor.place}.name is {self._unknown(tensor.name)}")
            if tensor.name in found:
                raise wrong(f"{tensor.place}.name is {tensor.name!r} once more.")
            _check_column_shape(tensor, tensors[0].n_rows)
            self._check_kind(column, tensor, tensor.values)
            found[tensor.name] = tensor.values
        absent = [name for name in self._names if name not in found]
        if absent and not (self._encodes and found):
            raise wrong(f"inputs has no tensor {_listed(absent)}.")
        for name in absent:
            found[name] = _missing(self._names[name], tensors[0].n_rows)
        if self._pandas is not None:
            return self._of_arrays({name: found[name] for name in self._names})
        return np.column_stack([found[name] for name in self._names]).astype(float)

    def _check_kind(
        self, column: InputColumn, tensor: Tensor, values: NDArray[Any]
    ) -> None:
        """Refuse what an encoder is not there to take."""
        if not self._encodes:
            self._as_floats(values, tensor.place, tensor.datatype)
        elif column.kind == "number" and tensor.datatype in ("BYTES", "BOOL"):
            raise wrong(
                f"{tensor.place}.datatype is {tensor.datatype}; column {column.name!r} "
                "is of numbers, expected e.g. FP64."
            )

    def _as_floats(self, values: NDArray[Any], place: str, datatype: str) -> Any:
        if values.dtype == object:
            raise wrong(f"{place}.datatype is {datatype}; expected numbers, e.g. FP64.")
        missing = np.flatnonzero(np.isnan(values))
        if len(missing):
            raise wrong(f"{place}.data[{missing[0]}] is null; expected a number.")
        return (
            values if values.dtype in (np.float32, np.float64) else values.astype(float)
        )

    def _read_row(self, row: Any, place: str) -> list[Any]:
        """Values of a row in the order of the columns."""
        if isinstance(row, list):
            if len(row) != len(self.columns):
                raise wrong(
                    f"{place} has {len(row)} values; the model has "
                    f"{len(self.columns)} columns."
                )
            values = row
        elif isinstance(row, dict):
            values = self._by_name(row, place)
        else:
            raise wrong(f"{place} is {kind_of(row)}; expected an object or a list.")
        for column, value in zip(self.columns, values, strict=True):
            self._check_value(column, value, f"{place}.{column.name}")
        return values

    def _by_name(self, row: dict[str, Any], place: str) -> list[Any]:
        """Values of an object; to an encoder, an absent column is a missing value."""
        unknown = [n for n in row if n not in self._names and n not in self._ignored]
        if unknown:
            raise wrong(f"{place} has the column {self._unknown(unknown[0])}")
        absent = [name for name in self._names if name not in row]
        if len(absent) == len(self._names):
            raise wrong(f"{place} has no column of the model: {_listed(absent)}.")
        if absent and not self._encodes:
            raise wrong(f"{place} has no value of {_listed(absent)}.")
        return [row.get(name) for name in self._names]

    def _check_value(self, column: InputColumn, value: Any, place: str) -> None:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if number and not -_LARGEST < value < _LARGEST and not _is_finite_float(value):
            raise wrong(f"{place} is {shown(value)}; expected at most 64 bits.")
        if isinstance(value, (list, dict)):
            raise wrong(f"{place} is {kind_of(value)}; expected one value.")
        if isinstance(value, str):
            check_text([value], place)
        wants_number = not self._encodes or column.kind == "number"
        if wants_number and not number and not (self._encodes and value is None):
            raise wrong(f"{place} is {shown(value)}; expected a number.")

    def _of_arrays(self, values: dict[str, NDArray[Any]]) -> Any:
        """Leave the arrays to an encoder that knows the columns by their names."""
        return values if self._named and self._encodes else self._assemble(values)

    def _assemble(self, values: Mapping[str, NDArray[Any]]) -> Any:
        """Make a table, or the array that the model was fitted without names to."""
        if self._pandas is None:
            return np.column_stack(list(values.values()))
        if self._named:
            return self._pandas.DataFrame(dict(values)).infer_objects()
        # By position: what the encoder drops has to be there, too.
        n_rows = len(next(iter(values.values())))
        nothing = np.full(n_rows, None)
        every = [values.get(name, nothing) for name in self._all_names]
        return np.column_stack([column.astype(object) for column in every])

    def _unknown(self, name: str) -> str:
        # A name may be as long as a body.
        short = name[:_LONGEST_HINT]
        close = get_close_matches(short, list(self._names), n=1)
        hint = (
            f"; did you mean {close[0]!r}?" if close else f": {_listed(self._names)}."
        )
        return f"{shown(name)}, which the model does not have{hint}"


def _read_values(column: InputColumn, values: list[Any]) -> NDArray[Any]:
    if column.kind == "number":
        return np.array([np.nan if v is None else v for v in values], dtype=float)
    return np.array(values, dtype=object)


def _missing(column: InputColumn, n_rows: int) -> NDArray[Any]:
    if column.kind == "number":
        return np.full(n_rows, np.nan)
    return np.full(n_rows, None, dtype=object)


def _check_column_shape(tensor: Tensor, n_rows: int) -> None:
    flat = len(tensor.shape) == 1 or tensor.shape[1] == 1
    if not flat or tensor.n_rows != n_rows:
        raise wrong(
            f"{tensor.place}.shape is {list(tensor.shape)}; expected [{n_rows}] or "
            f"[{n_rows}, 1], a column with as many rows as the first."
        )


def _listed(names: Any) -> str:
    names = list(names)
    more = ", ..." if len(names) > 5 else ""
    return ", ".join(repr(name) for name in names[:5]) + more


def _is_finite_float(value: Any) -> bool:
    return isinstance(value, float) and bool(np.isfinite(value))


def n_rows_of(X: Any) -> int:
    """Count the rows of an array, of a table or of arrays by column."""
    return len(next(iter(X.values())) if isinstance(X, dict) else X)


def take(X: Any, rows: slice) -> Any:
    """Rows of an array, of a table or of arrays by column."""
    if isinstance(X, dict):
        return {name: values[rows] for name, values in X.items()}
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def form_of(X: Any) -> Any:
    """Give what rows must share to be joined; None of a table, which is not joined."""
    if isinstance(X, dict):
        return tuple((name, values.dtype) for name, values in X.items())
    return X.dtype if isinstance(X, np.ndarray) else None


def joined(several: Sequence[Any]) -> Any:
    """Rows of one form, one after the other."""
    first = several[0]
    if isinstance(first, dict):
        return {name: np.concatenate([X[name] for X in several]) for name in first}
    return np.concatenate(several)
