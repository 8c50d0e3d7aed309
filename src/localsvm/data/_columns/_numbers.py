"""Columns of numbers: filled, centred, scaled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.data._columns._blocks import Block, DenseBlock
from localsvm.data._columns._column import Column, DroppedColumn, LearningOptions
from localsvm.data._columns._values import as_numbers
from localsvm.exceptions import DataError

_ROUNDING = 8 * np.finfo(np.float64).eps
# The squares of such features, summed, still fit into single precision.
LARGEST = 1e15


@dataclass(frozen=True)
class NumberColumn(Column):
    """A column of numbers or durations: ``(x - center) / scale``.

    Parameters
    ----------
    name : str
        Name of the column, and of its first feature.
    fill : float
        The median, which takes the place of a missing value.
    center, scale : float
        Mean and standard deviation after filling; a scale of 1 if that is zero.
    indicator : bool
        Whether values were missing at ``fit``: a second feature, ``NAME=(missing)``,
        is then 1 where a value is missing. Otherwise a missing value is filled alone.
    low, high : float or None
        Smallest and largest value at ``fit``; None in a model file of an earlier
        version.
    whole : bool
        Whether all values at ``fit`` were integers.

    Notes
    -----
    Durations and times of day are counted in days.
    """

    kind = "number"

    fill: float
    center: float
    scale: float
    indicator: bool
    low: float | None = None
    high: float | None = None
    whole: bool = False

    @property
    def suffixes(self) -> tuple[str, ...]:
        """What follows the name of the column in the name of each feature."""
        return ("", "=(missing)") if self.indicator else ("",)

    def encode(self, values: Any) -> Block:
        """Features of numbers, or of strings that are numbers."""
        numbers = as_numbers(self.name, values)
        missing = np.isnan(numbers)
        scaled = standardize(self.name, numbers, self.fill, self.center, self.scale)
        return DenseBlock(with_indicator([scaled], missing, self.indicator))

    @classmethod
    def learn(
        cls, name: str, values: Any, options: LearningOptions
    ) -> NumberColumn | DroppedColumn:
        """Find median, mean, standard deviation and range."""
        numbers = as_numbers(name, values)
        missing = np.isnan(numbers)
        reason = reason_to_drop(numbers, missing)
        if reason:
            return DroppedColumn(name, reason)
        fill, center, scale = median_mean_deviation(name, numbers, missing)
        there = numbers[~missing]
        return cls(
            name,
            fill,
            center,
            scale,
            bool(missing.any()),
            low=float(there.min()),
            high=float(there.max()),
            whole=bool((there == np.rint(there)).all()),
        )


def reason_to_drop(numbers: NDArray[np.float64], missing: NDArray[np.bool_]) -> str:
    """Why the column tells nothing: "empty", "constant", or "" if it does."""
    if missing.all():
        return "empty"
    if missing.any():
        return ""
    low, high = float(numbers.min()), float(numbers.max())
    largest = max(abs(low), abs(high))
    constant = math.isfinite(largest) and high - low <= _ROUNDING * largest
    return "constant" if constant else ""


def median_mean_deviation(
    name: str, numbers: NDArray[np.float64], missing: NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Median of what is there; mean and deviation with it in place of the missing."""
    fill = float(np.median(numbers[~missing]))
    filled = np.where(missing, fill, numbers)
    with np.errstate(over="ignore", invalid="ignore"):
        center, scale = float(filled.mean()), float(filled.std())
    if not math.isfinite(scale):
        raise too_large(name, filled, filled)
    if scale <= _ROUNDING * np.abs(filled).max():
        return fill, fill, 1.0
    return fill, center, scale


def deviation_of(numbers: NDArray[np.float64]) -> float:
    """Give the standard deviation of numbers of usual size, 1 if it is zero."""
    return float(numbers.std()) or 1.0


def standardize(
    name: str, numbers: NDArray[np.float64], fill: float, center: float, scale: float
) -> NDArray[np.float64]:
    """Fill, centre and scale; a DataError where that is infinite or nearly so."""
    missing = np.isnan(numbers)
    filled = np.where(missing, fill, numbers) if missing.any() else numbers
    with np.errstate(over="ignore"):
        scaled = np.asarray((filled - center) / scale)
    if not max(scaled.max(), -scaled.min()) <= LARGEST:
        raise too_large(name, filled, scaled)
    return scaled


def with_indicator(
    features: list[NDArray[np.float64]], missing: NDArray[np.bool_], indicator: bool
) -> NDArray[np.float64]:
    """Features side by side, and after them, if asked, which values were missing."""
    if indicator:
        features = [*features, missing.astype(np.float64)]
    return np.column_stack(features)


def too_large(
    name: str, numbers: NDArray[np.float64], scaled: NDArray[np.float64]
) -> DataError:
    """Error that names the value whose scaled one is largest."""
    row = int(np.argmax(np.abs(scaled)))
    return DataError(
        f"Column {name!r} has the value {float(numbers[row])!r} in row {row} (the "
        "first is 0); expected a finite number of usual size. Correct it, or leave it "
        "missing."
    )
