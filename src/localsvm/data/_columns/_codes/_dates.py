"""Columns of dates and times as parts of the calendar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.data._columns._blocks import Block, DenseBlock
from localsvm.data._columns._column import Column, DroppedColumn, LearningOptions
from localsvm.data._columns._numbers import reason_to_drop
from localsvm.data._columns._values import as_days, find_date_format

# 1970-01-01 was a Thursday.
FIRST_WEEKDAY = 3
MILLISECONDS_OF_DAY = 86_400_000
MILLISECONDS_OF_HOUR = 3_600_000


@dataclass(frozen=True)
class CalendarColumn(Column):
    """A column of dates or moments (UTC) as numbers; NaN for a missing value.

    The features are the day since 1970-01-01, the day of the year from 1 on, the day of
    the week from 0 for Monday to 6 and, with ``has_time``, the hour of the day, to the
    millisecond: 13.5 is half past one in the afternoon.

    Parameters
    ----------
    name : str
        Name of the column; the features are ``NAME:day``, ``NAME:day_of_year``,
        ``NAME:weekday`` and ``NAME:hour``.
    median : float
        Median of the days at ``fit``. No feature depends on it.
    has_time : bool
        Whether any value at ``fit`` had a time of day other than midnight.
    format : str, default=""
        Format of strings, such as "%d/%m/%Y", besides ISO 8601. Without one they may
        also be like 31.12.2024.
    """

    kind = "date"

    median: float
    has_time: bool
    format: str = ""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """What follows the name of the column in the name of each feature."""
        return (":day", ":day_of_year", ":weekday", *[":hour"] * self.has_time)

    def encode(self, values: Any) -> Block:
        """Parts of dates, or of strings that are dates."""
        moments = as_days(self.name, values, self.format)
        days = np.floor(moments)
        parts = [days, _day_of_year(days), (days + FIRST_WEEKDAY) % 7]
        if self.has_time:
            parts.append(_hour(moments - days))
        return DenseBlock(np.column_stack(parts))

    @classmethod
    def learn(
        cls, name: str, values: Any, options: LearningOptions
    ) -> CalendarColumn | DroppedColumn:
        """Find the median, and whether there are times of day."""
        format = options.date_format or find_date_format(name, values)
        moments = as_days(name, values, format)
        missing = np.isnan(moments)
        reason = reason_to_drop(moments, missing)
        if reason:
            return DroppedColumn(name, reason)
        there = moments[~missing]
        has_time = bool((there != np.floor(there)).any())
        return cls(name, float(np.median(there)), has_time, format)


def _day_of_year(days: NDArray[np.float64]) -> NDArray[np.float64]:
    missing = np.isnan(days)
    dates = np.where(missing, 0, days).astype("datetime64[D]")
    since = dates - dates.astype("datetime64[Y]").astype("datetime64[D]")
    return np.where(missing, np.nan, since.astype(np.float64) + 1)


def _hour(share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Hours of shares of a day, rounded: 14:00 is the same number on every day."""
    whole = np.floor(share * MILLISECONDS_OF_DAY + 0.5)
    return np.asarray(whole / MILLISECONDS_OF_HOUR)
