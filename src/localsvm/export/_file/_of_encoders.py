"""Encoders of categories and the imputer of scikit-learn.

They keep part of what they have learnt in private attributes, so they are fitted to one
row of known content and then given the attributes of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from localsvm.state import (
    COLUMNS,
    Array,
    Dims,
    Field,
    Sink,
    Source,
    Spec,
    read_value,
    write_value,
)


def _kind_of(value: Any) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return "missing"
    if isinstance(value, str):
        return "text"
    return "number" if isinstance(value, (bool, int, float)) else type(value).__name__


class _Category(Field):
    """Values of one column: all numbers or all texts, and missing ones."""

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write an array."""
        self._check(np.asarray(value), place)
        return write_value(np.asarray(value), place, sink)

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> NDArray[Any]:
        """Read an array."""
        value = read_value(plain, place, source)
        if not isinstance(value, np.ndarray):
            raise ValueError(f"{place} is {plain!r:.60}; expected an array.")
        self._check(value, place)
        return value

    def _check(self, value: NDArray[Any], place: str) -> None:
        if value.ndim != 1 or not value.size:
            raise ValueError(f"{place} has shape {value.shape}; expected some values.")
        kinds = {_kind_of(each) for each in value.tolist()} - {"missing"}
        if len(kinds) > 1 or not kinds <= {"text", "number"}:
            raise ValueError(
                f"{place} has values of the kinds {', '.join(sorted(kinds))}; expected "
                "either texts or numbers."
            )


class _Categories(Field):
    """Values of each column."""

    _one = _Category()

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write a list of arrays."""
        return [
            self._one.write(each, f"{place}[{i}]", sink, dims)
            for i, each in enumerate(value)
        ]

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Read a list of arrays."""
        if not isinstance(plain, list):
            raise ValueError(f"{place} is {plain!r:.60}; expected a list.")
        dims.bind("columns", len(plain), place)
        return [
            self._one.read(each, f"{place}[{i}]", source, dims)
            for i, each in enumerate(plain)
        ]


class _Statistics(Field):
    """What stands in for missing values: numbers, or values of any kind."""

    _numbers = Array((np.float64, np.float32), "columns", finite=False)

    def write(self, value: Any, place: str, sink: Sink, dims: Dims) -> Any:
        """Write an array."""
        if value.dtype.kind == "f":
            return self._numbers.write(value, place, sink, dims)
        self._check(value, place, dims)
        return write_value(value, place, sink)

    def read(self, plain: Any, place: str, source: Source, dims: Dims) -> Any:
        """Read an array."""
        value = read_value(plain, place, source)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            self._numbers.check(value, place, dims)
        else:
            self._check(value, place, dims)
        return value

    def _check(self, value: Any, place: str, dims: Dims) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "OU":
            raise ValueError(f"{place} is {value!r:.60}; expected numbers or objects.")
        dims.check_shape(value.shape, ("columns",), place)
        kinds = {_kind_of(each) for each in value.tolist()}
        if not kinds <= {"text", "number", "missing"}:
            raise ValueError(f"{place} has {', '.join(sorted(kinds))}.")


def _check_encoder(model: Any, values: Mapping[str, Any], dims: Dims) -> None:
    del values, dims
    if model.min_frequency is not None or model.max_categories is not None:
        raise ValueError(
            "min_frequency and max_categories group rare categories, which a model "
            "file cannot hold; expected None, or use joblib or skops."
        )


def _make_encoder(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    del dims
    known = values["categories_"]
    row = np.empty((1, len(known)), dtype=object)
    row[0] = [each[0] for each in known]
    given = unfitted.categories
    unfitted.categories = [each.astype(object) for each in known]
    _fit(unfitted, row)
    unfitted.categories = given
    vars(unfitted).update(values)
    return unfitted


def _check_imputer(model: Any, values: Mapping[str, Any], dims: Dims) -> None:
    del dims
    if model.add_indicator:
        raise ValueError(
            "add_indicator=True is more than a model file can hold; use joblib or "
            "skops."
        )
    if not isinstance(model.missing_values, (str, int, float, type(None))):
        raise ValueError(
            f"missing_values is {model.missing_values!r:.40}; expected a number, a "
            "text or None."
        )
    kinds = {_kind_of(each) for each in values["statistics_"].tolist()}
    if "text" in kinds and model.strategy not in ("most_frequent", "constant"):
        raise ValueError(f"statistics_ has texts with strategy={model.strategy!r:.40}.")


def _make_imputer(unfitted: Any, values: Mapping[str, Any], dims: Dims) -> Any:
    del dims
    statistics = values["statistics_"]
    row = np.zeros((1, len(statistics)), statistics.dtype)
    if statistics.dtype.kind in "OU":
        row[0] = statistics
    _fit(unfitted, row)
    vars(unfitted).update(values)
    return unfitted


def _fit(unfitted: Any, row: NDArray[Any]) -> None:
    try:
        unfitted.fit(row)
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        name = type(unfitted).__name__
        raise ValueError(f"a {name} cannot be made again: {error}") from error


def _n_names(value: Any) -> int:
    return len(value.get_feature_names_out())


SPECS = (
    *(
        Spec(
            cls,
            "transformer",
            {**COLUMNS, "categories_": _Categories()},
            check=_check_encoder,
            make=_make_encoder,
            width=_n_names,
        )
        for cls in (OneHotEncoder, OrdinalEncoder)
    ),
    Spec(
        SimpleImputer,
        "transformer",
        {**COLUMNS, "statistics_": _Statistics()},
        check=_check_imputer,
        make=_make_imputer,
        width=_n_names,
    ),
)
