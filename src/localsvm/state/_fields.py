"""Kinds of attributes: how each is written, and what is asked of it when it is read.

Both ways make the same checks, so that what is written can be read.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.state._store import Dims, Sink, Source
from localsvm.state._values import read_value, write_value

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_LABELS = {str, int, float, bool, *(np.dtype(code).type for code in "U?bBhHiIlLefd")}
_CSR = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}


class Field(ABC):
    """An attribute: to plain data, and back with every doubt."""

    @abstractmethod
    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Turn a value into what JSON can hold, its arrays going to ``sink``."""

    @abstractmethod
    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Check and rebuild; a ValueError names the place."""


class Whole(Field):
    """An integer, possibly the length of an axis."""

    def __init__(self, low: int = 0, high: int = 2**62, *, dim: str = "") -> None:
        self._low, self._high, self._dim = low, high, dim

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise TypeError(f"{place} is {value!r:.60}; expected an integer.")
        return self.read(int(value), place, Source({}), dims)

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> int:
        if type(plain) is not int or not self._low <= plain <= self._high:
            raise ValueError(
                f"{place} is {plain!r:.40}; expected an integer from {self._low} to "
                f"{self._high}."
            )
        if self._dim:
            dims.bind(self._dim, plain, place)
        return plain


class Number(Field):
    """A float; with ``finite=False`` also infinity or NaN."""

    def __init__(
        self, low: float = -math.inf, *, finite: bool = True, above: bool = False
    ) -> None:
        self._low, self._finite, self._above = low, finite, above

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        if not isinstance(value, Real):
            raise TypeError(f"{place} is {value!r:.60}; expected a number.")
        plain = write_value(float(value), place, sink)
        self.read(plain, place, Source({}), dims)
        return plain

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> float:
        value = read_value(plain, place, source)
        if type(value) not in (int, float):
            raise ValueError(f"{place} is {plain!r:.40}; expected a number.")
        value = float(value)
        if self._finite and not math.isfinite(value):
            raise ValueError(f"{place} is {value}; expected a finite number.")
        if value < self._low or (self._above and value == self._low):
            sign = ">" if self._above else ">="
            raise ValueError(f"{place} is {value}; expected {sign} {self._low}.")
        return value


class Flag(Field):
    """True or False."""

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        return self.read(bool(value), place, Source({}), dims)

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> bool:
        if type(plain) is not bool:
            raise ValueError(f"{place} is {plain!r:.40}; expected true or false.")
        return plain


class Word(Field):
    """One of a few strings."""

    def __init__(self, *choices: str) -> None:
        self._choices = choices

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        return self.read(value, place, Source({}), dims)

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> str:
        if not isinstance(plain, str) or plain not in self._choices:
            raise ValueError(
                f"{place} is {plain!r:.40}; expected one of {', '.join(self._choices)}."
            )
        return plain


class Text(Field):
    """Any string."""

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write the string."""
        return self.read(value, place, Source({}), dims)

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> str:
        """Read the string."""
        if not isinstance(plain, str):
            raise ValueError(f"{place} is {plain!r:.40}; expected a text.")
        return str(plain)


class Told(Field):
    """Plain data that no prediction depends on: numbers, texts, arrays, tables."""

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        return write_value(value, place, sink)

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        return read_value(plain, place, source)


class Report(Told):
    """Plain data by names."""

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        value = super().read(plain, place, source, dims)
        if not isinstance(value, dict):
            raise ValueError(f"{place} is {plain!r:.60}; expected names and values.")
        return value


class Maybe(Field):
    """A field, or None."""

    def __init__(self, field: Field) -> None:
        self._field = field

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        return None if value is None else self._field.write(value, place, sink, dims)

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        return None if plain is None else self._field.read(plain, place, source, dims)


class Sometimes:
    """Marks an attribute that may be missing."""

    def __init__(self, field: Field) -> None:
        self.field = field


class Array(Field):
    """Numbers of given types and axes.

    Parameters
    ----------
    dtypes : sequence of types
    *axes : int or str
        Lengths, or names of lengths, possibly "name+1".
    low, below : int, float or str, default=None
        Bounds of the numbers; names are lengths.
    finite : bool, default=True
    by_rows : bool, default=False
        Whether the core, which reads row after row, is to see it.
    """

    def __init__(
        self,
        dtypes: tuple[Any, ...],
        *axes: int | str,
        low: float | None = None,
        below: int | str | None = None,
        finite: bool = True,
        by_rows: bool = False,
    ) -> None:
        self._dtypes = tuple(np.dtype(dtype) for dtype in dtypes)
        self._axes = axes
        self._low, self._below, self._finite = low, below, finite
        self._by_rows = by_rows

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        self.check(np.asarray(value), place, dims)
        return sink.put(value, place)

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> NDArray[Any]:
        array = source.take(plain, place)
        self.check(array, place, dims)
        return array

    def check(self, array: NDArray[Any], place: str, dims: Dims) -> None:
        """Raise a ValueError unless type, shape and numbers are as expected."""
        if array.dtype not in self._dtypes:
            expected = " or ".join(dtype.name for dtype in self._dtypes)
            raise ValueError(f"{place} has dtype {array.dtype}; expected {expected}.")
        dims.check_shape(array.shape, self._axes, place)
        if self._by_rows and not array.flags.c_contiguous:
            raise ValueError(f"{place} is not stored row after row.")
        if not array.size:
            return
        smallest, largest = array.min(), array.max()
        if self._finite and not (np.isfinite(smallest) and np.isfinite(largest)):
            raise ValueError(f"{place} has NaN or infinity; expected finite numbers.")
        if self._low is not None and smallest < self._low:
            raise ValueError(f"{place} has {smallest}; expected >= {self._low}.")
        below = dims[self._below] if isinstance(self._below, str) else self._below
        if below is not None and largest >= below:
            raise ValueError(f"{place} has {largest}; expected less than {below}.")


def floats(*axes: int | str, by_rows: bool = False) -> Array:
    """Finite numbers of single or double precision."""
    return Array(_FLOATS, *axes, by_rows=by_rows)


def doubles(*axes: int | str, low: float | None = None, finite: bool = True) -> Array:
    """Numbers of double precision."""
    return Array((np.float64,), *axes, low=low, finite=finite)


def indices(*axes: int | str, below: int | str | None = None, low: int = 0) -> Array:
    """Integers of 64 bits from ``low`` on."""
    return Array((np.int64,), *axes, low=low, below=below)


def short_indices(
    *axes: int | str, below: int | str | None = None, low: int = 0
) -> Array:
    """Integers of 32 bits from ``low`` on."""
    return Array((np.int32,), *axes, low=low, below=below)


class Names(Field):
    """Names of the columns, an array of strings."""

    def __init__(self, axis: str) -> None:
        self._axis = axis

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        return self._checked(np.asarray(value, dtype=object).tolist(), place, dims)

    def read(
        self, plain: Any, place: str, source: Source, dims: Dims
    ) -> NDArray[np.object_]:
        return np.array(self._checked(plain, place, dims), dtype=object)

    def _checked(self, names: Any, place: str, dims: Dims) -> list[str]:
        if not isinstance(names, list) or not all(
            isinstance(name, str) for name in names
        ):
            raise ValueError(f"{place} is {names!r:.60}; expected a list of strings.")
        dims.bind(self._axis, len(names), place)
        return names


class Labels(Field):
    """Labels of one type: numbers, booleans or strings."""

    def __init__(self, *axes: int | str) -> None:
        self._axes = axes

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        self._check(np.asarray(value), place, dims)
        return write_value(np.asarray(value), place, sink)

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> NDArray[Any]:
        labels = read_value(plain, place, source)
        self._check(labels, place, dims)
        return np.asarray(labels)

    def _check(self, labels: Any, place: str, dims: Dims) -> None:
        if not isinstance(labels, np.ndarray):
            raise ValueError(f"{place} is {labels!r:.60}; expected an array.")
        dims.check_shape(labels.shape, self._axes, place)
        kinds = {labels.dtype.type}
        if labels.dtype == object:
            kinds = {type(label) for label in labels.tolist()}
        if not labels.size or len(kinds) != 1 or not kinds <= _LABELS:
            raise ValueError(f"{place} has labels {labels!r:.60}; expected one type.")
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise ValueError(f"{place} has NaN or infinity; expected finite labels.")


class Classes(Labels):
    """Distinct labels in ascending order; sets the classes and the tasks."""

    def __init__(self, fewest: int = 2) -> None:
        super().__init__("classes")
        self._fewest = fewest

    def _check(self, labels: Any, place: str, dims: Dims) -> None:
        super()._check(labels, place, dims)
        if len(labels) < self._fewest or not (labels[1:] > labels[:-1]).all():
            raise ValueError(
                f"{place} is {labels!r:.60}; expected at least {self._fewest} distinct "
                "labels in ascending order."
            )
        dims.bind("tasks", 1 if len(labels) == 2 else len(labels), place)


class Rows(Field):
    """Rows of single or double precision, dense or CSR."""

    def __init__(self, rows: str, columns: str) -> None:
        self._axes = rows, columns

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        if not sparse.issparse(value):
            return floats(*self._axes, by_rows=True).write(value, place, sink, dims)
        parts = {name: getattr(value, name) for name in ("data", "indices", "indptr")}
        self._check(parts, value.shape[1], place, dims)
        kind = "csr_array" if isinstance(value, sparse.sparray) else "csr_matrix"
        return {
            kind: {
                name: sink.put(part, f"{place}.{name}") for name, part in parts.items()
            },
            "n_columns": int(value.shape[1]),
        }

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        if not isinstance(plain, dict) or "n_columns" not in plain:
            return floats(*self._axes, by_rows=True).read(plain, place, source, dims)
        columns = Whole(1, 2**31 - 1).read(plain["n_columns"], place, source, dims)
        for kind, make in _CSR.items():
            if set(plain) == {kind, "n_columns"}:
                parts = self._take(plain[kind], place, source)
                self._check(parts, columns, place, dims)
                return _csr(make, parts, columns)
        raise ValueError(f"{place} has the fields {sorted(plain)!r:.60}.")

    def _take(self, plain: Any, place: str, source: Source) -> dict[str, NDArray[Any]]:
        names = ("data", "indices", "indptr")
        if not isinstance(plain, dict) or set(plain) != set(names):
            raise ValueError(f"{place} is {plain!r:.60}; expected a CSR matrix.")
        return {name: source.take(plain[name], f"{place}.{name}") for name in names}

    def _check(
        self, parts: Mapping[str, NDArray[Any]], columns: int, place: str, dims: Dims
    ) -> None:
        own = Dims()
        integers = (np.int32, np.int64)
        floats("entries").check(parts["data"], f"{place}.data", own)
        own.bind("columns", columns, place)
        Array(integers, "entries", low=0, below="columns").check(
            parts["indices"], f"{place}.indices", own
        )
        Array(integers, "rows+1", low=0).check(parts["indptr"], f"{place}.indptr", own)
        check_starts(parts["indptr"], own["entries"], f"{place}.indptr")
        _check_canonical(parts["indices"], parts["indptr"], place)
        dims.bind(self._axes[0], own["rows"], place)
        dims.bind(self._axes[1], columns, place)


def _csr(make: Any, parts: Mapping[str, NDArray[Any]], columns: int) -> Any:
    shape = len(parts["indptr"]) - 1, columns
    matrix = make(tuple(parts.values()), shape=shape)
    # The constructor may have chosen another type.
    for name, part in parts.items():
        setattr(matrix, name, part)
    return matrix


def check_starts(start: NDArray[Any], total: int, place: str) -> None:
    """Raise unless parts begin at 0, follow one another and end at ``total``."""
    if (
        len(start) < 1
        or start[0] != 0
        or start[-1] != total
        or (start[1:] < start[:-1]).any()
    ):
        raise ValueError(
            f"{place} must rise from 0 to {total}, where the parts that it cuts end."
        )


def _check_canonical(columns: NDArray[Any], start: NDArray[Any], place: str) -> None:
    """Raise unless the columns of each row ascend."""
    falls = columns[1:] <= columns[:-1]
    first = start[1:-1]
    falls[first[(first > 0) & (first < len(columns))] - 1] = False
    if falls.any():
        raise ValueError(f"{place} has a row whose columns are not in ascending order.")
