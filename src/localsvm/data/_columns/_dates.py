"""Columns of dates and times: a trend, and the phases of year, week and day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.data._columns._blocks import Block, DenseBlock
from localsvm.data._columns._column import Column, DroppedColumn, LearningOptions
from localsvm.data._columns._numbers import (
    median_mean_deviation,
    reason_to_drop,
    standardize,
    with_indicator,
)
from localsvm.data._columns._values import as_days, find_date_format

DAYS_OF_YEAR = 365.2425
DAYS_OF_WEEK = 7
# In fewer days the phase of the year says what the trend says.
_LEAST_SPAN_FOR_YEAR = 90


@dataclass(frozen=True)
class DateColumn(Column):
    """A column of dates or moments, as days since the beginning of 1970 (UTC).

    The first feature is ``(days - center) / scale``. Each cycle gives sine and cosine
    of its phase: of the year ``days / 365.2425``, of the week ``floor(days) / 7``, of
    the day ``days - floor(days)``, all times 2 pi; both are 0 for a missing value.

    Parameters
    ----------
    name : str
        Name of the column, and of its first feature.
    fill : float
        Median of the days, which takes the place of a missing value.
    center, scale : float
        Mean and standard deviation of the days; a scale of 1 if that is zero.
    cycles : tuple of {"year", "week", "day"}
        Those that tell rows apart: the year if the dates span 90 days, the week if
        there are several weekdays, the day if there are several times of day.
    indicator : bool
        Whether values were missing at ``fit``: the last feature, ``NAME=(missing)``,
        is then 1 where a value is missing.
    format : str, default=""
        Format of strings, such as "%d/%m/%Y", besides ISO 8601. Without one they may
        also be like 31.12.2024.
    """

    kind = "date"

    fill: float
    center: float
    scale: float
    cycles: tuple[str, ...]
    indicator: bool
    format: str = ""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """What follows the name of the column in the name of each feature."""
        waves = [f":{cycle}_{wave}" for cycle in self.cycles for wave in ("sin", "cos")]
        return ("", *waves, *["=(missing)"] * self.indicator)

    def encode(self, values: Any) -> Block:
        """Features of dates, or of strings that are dates."""
        days = as_days(self.name, values, self.format)
        missing = np.isnan(days)
        features = [standardize(self.name, days, self.fill, self.center, self.scale)]
        for cycle in self.cycles:
            angle = 2 * np.pi * _phase(cycle, days)
            features += [np.nan_to_num(wave(angle)) for wave in (np.sin, np.cos)]
        return DenseBlock(with_indicator(features, missing, self.indicator))

    @classmethod
    def learn(
        cls, name: str, values: Any, options: LearningOptions
    ) -> DateColumn | DroppedColumn:
        """Find median, mean and deviation, and the cycles that tell rows apart."""
        format = options.date_format or find_date_format(name, values)
        days = as_days(name, values, format)
        missing = np.isnan(days)
        reason = reason_to_drop(days, missing)
        if reason:
            return DroppedColumn(name, reason)
        fill, center, scale = median_mean_deviation(name, days, missing)
        there = days[~missing]
        cycles = []
        if np.ptp(there) >= _LEAST_SPAN_FOR_YEAR:
            cycles.append("year")
        cycles += [each for each in ("week", "day") if np.ptp(_phase(each, there)) > 0]
        indicator = bool(missing.any())
        return cls(name, fill, center, scale, tuple(cycles), indicator, format)


def _phase(cycle: str, days: NDArray[np.float64]) -> NDArray[np.float64]:
    if cycle == "year":
        return days / DAYS_OF_YEAR
    if cycle == "week":
        return np.asarray(np.floor(days) % DAYS_OF_WEEK / DAYS_OF_WEEK)
    return np.asarray(days - np.floor(days))
