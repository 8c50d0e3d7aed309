"""Which columns of tables are what, in one table and in all files of a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from localsvm._extras import require

_MOST_NAMES = 6
_NUMBERS = ("integer", "uint64", "floating", "boolean")


@dataclass(frozen=True)
class Columns:
    """Columns that are read of every file.

    Attributes
    ----------
    features : tuple of str
    target, weight : str or None
    dtype : dtype
        float32 or float64, which the features are converted to.
    """

    features: tuple[str, ...]
    target: str | None
    weight: str | None
    dtype: np.dtype[Any]

    @property
    def all(self) -> list[str]:
        """Names of all of them."""
        others = (self.target, self.weight)
        return [*self.features, *(name for name in others if name is not None)]


@dataclass(frozen=True)
class FileSchema:
    """Names and types of the columns of a file.

    Attributes
    ----------
    path : str
    schema : pyarrow.Schema
    """

    path: str
    schema: Any

    def kind(self, name: str) -> str:
        """Kind of a column: types of one kind hold the same values."""
        found = self.schema.field(name).type
        return kind_of(getattr(found, "value_type", found))

    def refuse(self, name: str, expected: str) -> ValueError:
        """Error of a column whose type is wrong."""
        return ValueError(
            f"{self.path}: Column {name!r} has the type "
            f"{self.schema.field(name).type}; expected {expected}"
        )


def kind_of(found: Any) -> str:
    """Kind of a type; its name where no other type holds the same values."""
    types = require("pyarrow.types", "dask", "A Parquet file")
    if types.is_integer(found):
        # Together with negative numbers it would become floating.
        return "uint64" if types.is_uint64(found) else "integer"
    if types.is_floating(found):
        return "floating"
    if types.is_string(found) or types.is_large_string(found):
        return "string"
    return "boolean" if types.is_boolean(found) else str(found)


def missing_column(names: Sequence[Any], wanted: Any) -> str:
    """End of a sentence about a column that is not there: which ones are."""
    by_key = {str(name).casefold(): name for name in names}
    close = get_close_matches(str(wanted).casefold(), by_key)
    if close:
        return f"did you mean {' or '.join(repr(by_key[key]) for key in close)}?"
    listed = ", ".join(map(repr, names[:_MOST_NAMES]))
    left = len(names) - _MOST_NAMES
    return f"it has {listed}{f' and {left} more' if left > 0 else ''}."


def choose_columns(
    names: Sequence[str], files: Sequence[FileSchema], y: Any, sample_weight: Any
) -> Columns:
    """Columns for a fit: labels, weights, and all others as features.

    Parameters
    ----------
    names : sequence of str
        Columns that are looked at.
    files : sequence of FileSchema
        All have to agree with the first.
    y, sample_weight : str
        Names of columns; sample_weight may be None.
    """
    for name, value in (("y", y), ("sample_weight", sample_weight)):
        if value is None and name == "sample_weight":
            continue
        if not isinstance(value, str) or value not in names:
            raise ValueError(
                f"{name}={value!r} must name a column of {files[0].path}; "
                f"{missing_column(names, value)}"
            )
    features = tuple(name for name in names if name not in (y, sample_weight))
    if not features:
        raise ValueError(f"{files[0].path} has no column besides {y!r}.")
    check_same_names(names, files)
    for file in files:
        if file.kind(y) != files[0].kind(y):
            kind = files[0].schema.field(y).type
            raise file.refuse(y, f"{kind}, as in {files[0].path}.")
        if sample_weight is not None:
            _check_numbers(file, (sample_weight,))
    return Columns(features, y, sample_weight, number_type(features, files))


def check_same_names(names: Sequence[str], files: Sequence[FileSchema]) -> None:
    """Refuse a file that lacks a column, or has one that the first has not."""
    first = files[0]
    known = {*names, *first.schema.names}
    for file in files:
        for name in names:
            if name not in file.schema.names:
                model = "the dataset's schema" if file is first else first.path
                raise ValueError(
                    f"{file.path} has no column {name!r}; expected the columns of "
                    f"{model}."
                )
        for name in file.schema.names:
            if name not in known:
                raise ValueError(
                    f"{file.path} has a column {name!r}, which {first.path} has not; "
                    "expected the same columns. Leave it out, or give a "
                    "pyarrow.dataset with the schema to read."
                )
            if file.schema.names.count(name) > 1:
                raise ValueError(f"{file.path} has more than one column {name!r}.")


def number_type(features: Sequence[str], files: Sequence[FileSchema]) -> np.dtype[Any]:
    """float32 if all features of all files are at most that, else float64."""
    narrow = True
    for file in files:
        _check_numbers(file, features)
        kinds = {str(file.schema.field(name).type) for name in features}
        narrow = narrow and kinds <= {"float", "halffloat"}
    return np.dtype(np.float32 if narrow else np.float64)


def _check_numbers(file: FileSchema, names: Sequence[str]) -> None:
    for name in names:
        if kind_of(file.schema.field(name).type) not in _NUMBERS:
            raise file.refuse(
                name,
                "numbers. Leave it out, or write it as numbers, e.g. with "
                "localsvm.data.TableEncoder.",
            )
