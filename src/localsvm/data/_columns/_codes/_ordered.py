"""Columns of texts that begin with a number, such as "63 - 75%"."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.data._columns._blocks import Block, DenseBlock
from localsvm.data._columns._categories import warn_of_new_values
from localsvm.data._columns._column import Column, DroppedColumn, LearningOptions
from localsvm.data._columns._numbers import LARGEST, deviation_of
from localsvm.data._columns._values import factorize, wrong_value

_FEWEST_LEVELS = 3
_NUMBER = r"[0-9]+(?:,[0-9]{3}(?![0-9]))*(?:\.[0-9]+)?|(?<![A-Za-z])\.[0-9]+"
# A minus is a sign only where nothing is before it.
_LEADING = re.compile(rf"\s*(?:(-)(?=[.0-9])|[^0-9]{{0,3}}?)({_NUMBER})")
_BARE = re.compile(rf"\s*[-+]?(?:{_NUMBER})\s*")


@dataclass(frozen=True)
class OrderedColumn(Column):
    """A column of texts that begin with a number: that number; NaN if missing.

    Parameters
    ----------
    name : str
        Name of the column, and of its feature.
    levels : tuple of str
        Values at ``fit``, by their numbers.
    numbers : tuple of float
        What they begin with, after at most three other characters.
    deviation : float
        Standard deviation of the numbers at ``fit``; 1 if that is zero. The feature
        does not depend on it.

    Notes
    -----
    A new value that begins with a number is that number, and NaN otherwise.
    """

    kind = "ordered"
    by_label = True

    levels: tuple[str, ...]
    numbers: tuple[float, ...]
    deviation: float

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Nothing: the feature has the name of the column."""
        return ("",)

    def encode(self, values: Any) -> Block:
        """Numbers of any values; warns if none of 20 or more begins with one."""
        codes, labels = factorize(self.name, values)
        numbers = leading_numbers(labels)
        if labels and np.isnan(numbers).all():
            warn_of_new_values(self.name, len(codes), labels, self.levels)
        return DenseBlock(np.append(numbers, np.nan)[codes][:, np.newaxis])

    @classmethod
    def learn(
        cls, name: str, values: Any, options: LearningOptions
    ) -> OrderedColumn | DroppedColumn:
        """Read the number that each value begins with; a DataError if one has none."""
        codes, labels = factorize(name, values)
        if not labels:
            return DroppedColumn(name, "empty")
        numbers = leading_numbers(labels)
        rows = np.append(numbers, np.nan)[codes]
        missing = codes < 0
        if (np.isnan(rows) & ~missing).any():
            expected = "texts that begin with a number, such as '10 - 19'"
            raise wrong_value(name, values, np.isnan(rows) & ~missing, expected)
        if len(labels) == 1 and not missing.any():
            return DroppedColumn(name, "constant")
        order = sorted(range(len(labels)), key=lambda j: (numbers[j], labels[j]))
        return cls(
            name,
            tuple(labels[j] for j in order),
            tuple(float(numbers[j]) for j in order),
            deviation_of(np.sort(rows[~missing])),
        )


def leading_numbers(labels: Sequence[str]) -> NDArray[np.float64]:
    """Numbers that strings begin with, NaN for those that begin with none."""
    return np.array([_leading(label) for label in labels], dtype=np.float64)


def are_ordered(labels: Sequence[str]) -> bool:
    """Whether all of at least three levels begin with numbers, which differ.

    Bare digits are names: had they been amounts, they would not be strings.
    """
    if len(labels) < _FEWEST_LEVELS or all(map(_BARE.fullmatch, labels)):
        return False
    numbers = leading_numbers(labels)
    return not np.isnan(numbers).any() and len(np.unique(numbers)) == len(labels)


def _leading(label: str) -> float:
    found = _LEADING.match(label)
    if found is None:
        return math.nan
    sign, digits = found.groups()
    number = float(digits.replace(",", ""))
    if number > LARGEST:
        return math.nan
    return -number if sign else number
