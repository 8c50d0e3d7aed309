"""Tensors of the Open Inference Protocol as arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.serve._content import field, kind_of, shown
from localsvm.serve._errors import too_large, wrong

INTEGERS = {
    f"{sign}INT{bits}": np.dtype(f"{sign.lower()}int{bits}")
    for sign in ("", "U")
    for bits in (8, 16, 32, 64)
}
FLOATS = {f"FP{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)}
DATATYPES = ("BOOL", *INTEGERS, *FLOATS, "BYTES")

_LONGEST_NAME = 1000


@dataclass(frozen=True, eq=False)
class Tensor:
    """One checked input.

    Parameters
    ----------
    name : str
    place : str
        Where it stands in the request, for messages.
    datatype : str
    shape : tuple of int
        Of one or two dimensions.
    values : ndarray of shape (n_values,)
        Row by row. Numbers, NaN for missing ones; of BOOL and BYTES objects, None for
        missing ones.
    """

    name: str
    place: str
    datatype: str
    shape: tuple[int, ...]
    values: NDArray[Any]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.shape[0]


def read_tensors(content: dict[str, Any], max_rows: int) -> list[Tensor]:
    """Read the inputs of a request.

    Raises
    ------
    RequestError
        That names the field, what was found and what was expected.
    """
    inputs = field(content, "inputs", list)
    if not inputs:
        raise wrong("inputs is empty; expected at least one tensor.")
    return [
        _read_tensor(raw, f"inputs[{number}]", max_rows)
        for number, raw in enumerate(inputs)
    ]


def datatype_of(dtype: np.dtype[Any]) -> str:
    """Name of a type of numbers; all else is strings."""
    if dtype == np.bool_:
        return "BOOL"
    names = {known: name for name, known in {**INTEGERS, **FLOATS}.items()}
    return names.get(dtype, "BYTES")


def _read_tensor(raw: Any, place: str, max_rows: int) -> Tensor:
    if not isinstance(raw, dict):
        raise wrong(f"{place} is {kind_of(raw)}; expected an object.")
    name = field(raw, "name", str, place)
    if len(name) > _LONGEST_NAME:
        raise wrong(f"{place}.name has {len(name)} characters.")
    datatype = field(raw, "datatype", str, place)
    if datatype not in DATATYPES:
        raise wrong(
            f"{place}.datatype is {shown(datatype)}; expected one of "
            f"{', '.join(DATATYPES)}."
        )
    shape = _read_shape(field(raw, "shape", list, place), place)
    if shape[0] > max_rows:
        raise too_large(
            f"{place}.shape has {shape[0]} rows; expected at most {max_rows} a request."
        )
    data = _flatten(field(raw, "data", list, place), shape, place)
    return Tensor(name, place, datatype, shape, _as_array(data, datatype, place))


def _read_shape(raw: list[Any], place: str) -> tuple[int, ...]:
    whole = all(type(size) is int and size >= 1 for size in raw)
    if len(raw) not in (1, 2) or not whole:
        listed = ", ".join(map(shown, raw[:4])) + (", ..." if len(raw) > 4 else "")
        raise wrong(
            f"{place}.shape is [{listed}]; expected [rows] or [rows, columns], whole "
            "numbers of at least 1."
        )
    return tuple(raw)


def _flatten(data: list[Any], shape: tuple[int, ...], place: str) -> list[Any]:
    """Take values that are flat or row by row."""
    if len(shape) == 2 and data and isinstance(data[0], list):
        _check_count(data, shape[0], f"{place}.data", "rows", shape)
        for number, row in enumerate(data):
            where = f"{place}.data[{number}]"
            if not isinstance(row, list):
                raise wrong(f"{where} is {shown(row)}; expected a list, as before.")
            _check_count(row, shape[1], where, "values", shape)
        return [value for row in data for value in row]
    _check_count(data, math.prod(shape), f"{place}.data", "values", shape)
    return data


def _check_count(
    data: list[Any], expected: int, place: str, what: str, shape: tuple[int, ...]
) -> None:
    if len(data) != expected:
        raise wrong(
            f"{place} has {len(data)} {what}; shape {list(shape)} needs {expected}."
        )


def _as_array(data: list[Any], datatype: str, place: str) -> NDArray[Any]:
    """Check the values, and give numbers their type; None may be anywhere."""
    allowed = _types(datatype)
    present = set(map(type, data))
    if not present <= allowed | {type(None)}:
        number = next(
            n for n, v in enumerate(data) if v is not None and type(v) not in allowed
        )
        raise wrong(
            f"{place}.data[{number}] is {shown(data[number])}; expected {datatype}."
        )
    if datatype == "BYTES":
        check_text((value for value in data if value is not None), f"{place}.data")
    if datatype in INTEGERS:
        _check_range(data, np.iinfo(INTEGERS[datatype]), f"{place}.data", datatype)
    if datatype in ("BOOL", "BYTES"):
        return np.array(data, dtype=object)
    missing = [value is None for value in data]
    if not any(missing):
        return _as_numbers(data, datatype, place)
    filled = [0 if value is None else value for value in data]
    numbers = _as_numbers(filled, datatype, place).astype(np.float64)
    numbers[missing] = np.nan
    return numbers


def _types(datatype: str) -> set[type]:
    if datatype in FLOATS:
        return {int, float}
    others: dict[str, set[type]] = {"BOOL": {bool}, "BYTES": {str}}
    return others.get(datatype, {int})


def _check_range(data: list[Any], limits: Any, place: str, datatype: str) -> None:
    for number, value in enumerate(data):
        if value is not None and not limits.min <= value <= limits.max:
            raise wrong(
                f"{place}[{number}] is {shown(value)}; expected {datatype}, from "
                f"{limits.min} to {limits.max}."
            )


def _as_numbers(data: list[Any], datatype: str, place: str) -> NDArray[Any]:
    if datatype in INTEGERS:
        return np.array(data, dtype=INTEGERS[datatype])
    try:
        numbers = np.array(data, dtype=np.float64)
    except OverflowError as error:
        raise wrong(
            f"{place}.data has an integer beyond the range of {datatype}."
        ) from error
    with np.errstate(over="ignore"):
        numbers = numbers.astype(FLOATS[datatype])
    infinite = np.flatnonzero(~np.isfinite(numbers))
    if len(infinite):
        raise wrong(
            f"{place}.data[{infinite[0]}] is {shown(data[infinite[0]])}, beyond the "
            f"range of {datatype}."
        )
    return numbers


def check_text(strings: Any, place: str) -> None:
    """Refuse halves of surrogate pairs, which no encoding writes."""
    try:
        "".join(strings).encode("utf-8")
    except UnicodeEncodeError as error:
        raise wrong(f"{place} has half of a surrogate pair in a string.") from error
