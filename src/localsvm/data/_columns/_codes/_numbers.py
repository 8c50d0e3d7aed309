"""Columns of numbers and booleans as they are, NaN where a value is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from localsvm.data._columns._blocks import Block, DenseBlock
from localsvm.data._columns._booleans import as_truth
from localsvm.data._columns._column import Column, DroppedColumn, LearningOptions
from localsvm.data._columns._numbers import (
    median_mean_deviation,
    reason_to_drop,
    too_large,
)
from localsvm.data._columns._values import as_numbers
from localsvm.exceptions import DataError


@dataclass(frozen=True)
class RawNumberColumn(Column):
    """A column of numbers or durations, not scaled; NaN for a missing value.

    Parameters
    ----------
    name : str
        Name of the column, and of its feature.
    median, deviation : float
        Median and standard deviation at ``fit``, a missing value counting as the
        median; a deviation of 1 if that is zero. No feature depends on them.
    low, high : float
        Smallest and largest value at ``fit``.
    whole : bool
        Whether all values at ``fit`` were integers.

    Notes
    -----
    Durations and times of day are counted in days.
    """

    kind = "number"

    median: float
    deviation: float
    low: float
    high: float
    whole: bool

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Nothing: the feature has the name of the column."""
        return ("",)

    def encode(self, values: Any) -> Block:
        """Numbers, or strings that are numbers."""
        numbers = as_numbers(self.name, values)
        if np.isinf(numbers).any():
            raise too_large(self.name, numbers, numbers)
        return DenseBlock(numbers[:, np.newaxis])

    @classmethod
    def learn(
        cls, name: str, values: Any, options: LearningOptions
    ) -> RawNumberColumn | DroppedColumn:
        """Find median, deviation and range."""
        found = as_numbers(name, values)
        # In order, so that sums do not depend on that of the rows.
        numbers = np.sort(found)
        missing = np.isnan(numbers)
        reason = reason_to_drop(numbers, missing)
        if reason:
            return DroppedColumn(name, reason)
        try:
            median, _, deviation = median_mean_deviation(name, numbers, missing)
        except DataError:  # which knows the row in that order only
            there = np.where(np.isnan(found), 0.0, found)
            raise too_large(name, there, there) from None
        there = numbers[~missing]
        return cls(
            name,
            median,
            deviation,
            low=float(there.min()),
            high=float(there.max()),
            whole=bool((there == np.rint(there)).all()),
        )


@dataclass(frozen=True)
class RawBooleanColumn(Column):
    """A column of booleans: 1 or 0, and NaN for a missing value.

    Parameters
    ----------
    name : str
        Name of the column, and of its feature.
    """

    kind = "boolean"
    by_label = True

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Nothing: the feature has the name of the column."""
        return ("",)

    def encode(self, values: Any) -> Block:
        """Truth values, 0 and 1, or words such as "yes"."""
        return DenseBlock(as_truth(self.name, values)[:, np.newaxis])

    @classmethod
    def learn(
        cls, name: str, values: Any, options: LearningOptions
    ) -> RawBooleanColumn | DroppedColumn:
        """Find whether values differ."""
        truth = as_truth(name, values)
        reason = reason_to_drop(truth, np.isnan(truth))
        return DroppedColumn(name, reason) if reason else cls(name)
