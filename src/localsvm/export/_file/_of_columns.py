"""Transformers of columns: each of some columns of a table.

scikit-learn keeps their private state by version, so one is fitted to a row, with
columns by number and without transformers, and then given those of the file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import FunctionTransformer

from localsvm.state import (
    COLUMNS,
    Dims,
    Field,
    Flag,
    Sink,
    Sometimes,
    Source,
    Spec,
    columns_of,
    read_object,
    read_value,
    width_of,
    write_object,
    write_value,
)

_KINDS = ("transformer", "pipeline")
_WORDS = ("drop", "passthrough")
_REST = "remainder"
_MOST_JOBS = 64
# A row is made of all columns, and those are listed that are left.
_BYTES_PER_COLUMN = 64


class _Parts(Field):
    """Name, fitted transformer, columns as they were given, and their numbers."""

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write the parts."""
        plain = []
        for name, part, columns, numbers in value:
            at = f"{place}.{name}"
            if not isinstance(part, str):
                part = write_object(part, at, sink, *_KINDS)
            plain.append([name, part, write_value(columns, at, sink), list(numbers)])
        _check_parts(value, place, dims)
        sink.budget.charge(_BYTES_PER_COLUMN * dims["columns"], place)
        return plain

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Rebuild the parts."""
        if not isinstance(plain, list):
            raise ValueError(f"{place} is {plain!r:.60}; expected a list.")
        parts = [_read_part(entry, place, source) for entry in plain]
        _check_parts(parts, place, dims)
        source.budget.charge(_BYTES_PER_COLUMN * dims["columns"], place)
        return parts


def _read_part(entry: Any, place: str, source: Source) -> tuple[str, Any, Any, Any]:
    if not isinstance(entry, list) or len(entry) != 4 or not _is_name(entry[0]):
        raise ValueError(
            f"{place} has the entry {entry!r:.60}; expected a name, a transformer, "
            "columns and their numbers."
        )
    name, part, columns, numbers = entry
    at = f"{place}.{name}"
    if part not in _WORDS:
        part = read_object(part, at, source, *_KINDS)
    if not isinstance(numbers, list) or not all(type(each) is int for each in numbers):
        raise ValueError(f"{at} has the columns {numbers!r:.60}; expected integers.")
    return name, part, read_value(columns, at, source), numbers


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and bool(name) and "__" not in name


def _check_parts(parts: Any, place: str, dims: Dims) -> None:
    names = [name for name, *_ in parts]
    if len(set(names)) < len(names):
        raise ValueError(f"{place} has several parts of one name.")
    for name, part, columns, numbers in parts:
        at = f"{place}.{name}"
        if not all(0 <= each < dims["columns"] for each in numbers):
            raise ValueError(f"{at} has columns that are not there.")
        if len(set(numbers)) < len(numbers):
            raise ValueError(f"{at} has a column twice.")
        if part != "drop" and np.isscalar(columns):
            raise ValueError(f"{at} has the column {columns!r:.60}; expected a list.")
        if isinstance(part, str) or not numbers:
            continue
        if columns_of(part, at) != len(numbers):
            raise ValueError(
                f"{at} takes {columns_of(part, at)} columns, but is given "
                f"{len(numbers)}."
            )
        width_of(part, at)


def _numbers_of(columns: Any, names: Any, n_columns: int) -> list[int]:
    """Numbers of columns that are given by name, by number or by a mask."""
    given = columns.tolist() if isinstance(columns, np.ndarray) else columns
    given = list(given) if isinstance(given, (list, tuple)) else [given]
    kinds = {type(each) for each in given}
    if not given or kinds == {int}:
        return [each % n_columns if -n_columns <= each else -1 for each in given]
    if kinds == {bool} and len(given) == n_columns:
        return [i for i, each in enumerate(given) if each]
    if kinds == {str} and names is not None:
        places = {name: i for i, name in enumerate(names)}
        return [places.get(each, -1) for each in given]
    return [-1]


def _params(value: Any) -> dict[str, Any]:
    """Parameters; what chose columns has become the columns it chose."""
    params = dict(value.get_params(deep=False))
    indices = getattr(value, "_transformer_to_input_indices", None)
    names = getattr(value, "feature_names_in_", None)
    params["transformers"] = [
        (name, part, _listed(columns, names, [] if indices is None else indices[name]))
        for name, part, columns in params["transformers"]
    ]
    return params


def _listed(columns: Any, names: Any, indices: Any) -> Any:
    """Columns as a list, unless they are one that stands alone, or an array."""
    if callable(columns) or isinstance(columns, slice):
        columns = indices if names is None else [names[i] for i in indices]
    if np.isscalar(columns) or isinstance(columns, np.ndarray):
        return columns
    return [each.item() if isinstance(each, np.generic) else each for each in columns]


def _take(values: dict[str, Any]) -> dict[str, Any]:
    """Put the numbers of columns beside them, and words in place of what they mean."""
    indices = values["_transformer_to_input_indices"]
    parts = []
    for name, part, columns in values["transformers_"]:
        numbers = [int(each) for each in indices[name]]
        columns = _listed(columns, values.get("feature_names_in_"), numbers)
        # An own FunctionTransformer has a function, which a file cannot hold.
        if isinstance(part, FunctionTransformer) and part.func is None:
            part = "passthrough"
        if not numbers and not isinstance(part, str):
            part = "drop"  # it was never fitted: its parameters are all there is
        parts.append((name, part, columns, numbers))
    return values | {"transformers_": parts}


def _check(model: Any, values: Mapping[str, Any], dims: Dims) -> None:
    weights = model.transformer_weights
    if weights is not None and not (
        isinstance(weights, dict)
        and all(
            isinstance(each, (int, float)) and math.isfinite(each)
            for each in weights.values()
        )
    ):
        raise ValueError(f"transformer_weights is {weights!r:.60}; expected numbers.")
    if model.n_jobs is not None and abs(model.n_jobs) > _MOST_JOBS:
        raise ValueError(f"n_jobs is {model.n_jobs}; expected at most {_MOST_JOBS}.")
    if not isinstance(model.verbose_feature_names_out, (bool, str)):
        raise ValueError("verbose_feature_names_out is neither a bool nor a text.")
    parts, names = values["transformers_"], values.get("feature_names_in_")
    for name, _, columns, numbers in parts:
        if _numbers_of(columns, names, dims["columns"]) != numbers:
            raise ValueError(f"{name!r:.60} has the columns {columns!r:.60}.")
    _check_remainder(model, parts, dims["columns"])


def _check_remainder(model: Any, parts: Any, n_columns: int) -> None:
    """Raise unless the parameters name the parts, and the rest is what is left."""
    given = model.transformers
    if not isinstance(given, (list, tuple)) or not all(
        isinstance(each, tuple) and len(each) == 3 and _is_part(each[1])
        for each in given
    ):
        raise ValueError(f"transformers is {given!r:.60}; expected triples.")
    if not _is_part(model.remainder):
        raise ValueError(f"remainder is {model.remainder!r:.60}.")
    used = {i for name, *_, numbers in parts for i in numbers if name != _REST}
    left = [i for i in range(n_columns) if i not in used]
    expected = [name for name, *_ in given] + ([_REST] if left else [])
    if [name for name, *_ in parts] != expected:
        raise ValueError("transformers_ has other names than transformers.")
    if left and parts[-1][3] != left:
        raise ValueError(f"{_REST} has other columns than those that are left.")


def _is_part(part: Any) -> bool:
    return part in _WORDS if isinstance(part, str) else hasattr(part, "transform")


def _make(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    parts, names = values["transformers_"], values.get("feature_names_in_")
    words = {
        name: "drop" if part == "drop" else "passthrough" for name, part, *_ in parts
    }
    small = ColumnTransformer(
        [(name, words[name], numbers) for name, *_, numbers in parts if name != _REST],
        remainder=words.get(_REST, "drop"),
    ).fit(np.zeros((1, dims["columns"])))
    given = {name: part for name, part, _ in unfitted.transformers}
    params = unfitted.get_params(deep=False)
    others = {name: each for name, each in vars(small).items() if name not in params}
    vars(unfitted).update(others)
    vars(unfitted).update(values)
    unfitted.transformers_ = [
        (
            name,
            _fitted(part, passed, numbers, names) if numbers else given[name],
            columns,
        )
        for (name, part, columns, numbers), (_, passed, _) in zip(
            parts, small.transformers_, strict=True
        )
    ]
    _set_output_indices(unfitted, parts)
    return unfitted


def _fitted(part: Any, passed: Any, numbers: list[int], names: Any) -> Any:
    if not isinstance(part, str) or isinstance(passed, str):
        return part
    if names is not None:
        passed.feature_names_in_ = names[numbers]
    return passed


def _set_output_indices(fitted: Any, parts: Any) -> None:
    places = {name: slice(0, 0) for name in (*(name for name, *_ in parts), _REST)}
    start = 0
    for name, part, _, numbers in parts:
        end = start + _part_width(part, numbers)
        if end > start:
            places[name] = slice(start, end)
        start = end
    fitted.output_indices_ = places


def _part_width(part: Any, numbers: list[int]) -> int:
    if isinstance(part, str) or not numbers:
        return 0 if part == "drop" else len(numbers)
    return width_of(part, "a part")


def _width(fitted: Any) -> int:
    return int(max(place.stop for place in fitted.output_indices_.values()))


SPECS = (
    Spec(
        ColumnTransformer,
        "transformer",
        {**COLUMNS, "transformers_": _Parts(), "sparse_output_": Sometimes(Flag())},
        take=_take,
        check=_check,
        make=_make,
        params=_params,
        width=_width,
    ),
)
