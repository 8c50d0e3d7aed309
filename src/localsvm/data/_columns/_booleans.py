"""Columns of yes and no."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.data._columns._blocks import Block, DenseBlock
from localsvm.data._columns._column import Column, DroppedColumn, LearningOptions
from localsvm.data._columns._numbers import reason_to_drop, with_indicator
from localsvm.data._columns._values import factorize, wrong_value

_NUMBER_OF_WORD = {
    **dict.fromkeys(["true", "yes", "t", "y", "1"], 1.0),
    **dict.fromkeys(["false", "no", "f", "n", "0"], 0.0),
}


@dataclass(frozen=True)
class BooleanColumn(Column):
    """A column of booleans: 1 or 0, and 0.5 for a missing value.

    Parameters
    ----------
    name : str
        Name of the column, and of its first feature.
    indicator : bool
        Whether values were missing at ``fit``: a second feature, ``NAME=(missing)``,
        is then 1 where a value is missing.
    """

    kind = "boolean"
    by_label = True

    indicator: bool

    @property
    def suffixes(self) -> tuple[str, ...]:
        """What follows the name of the column in the name of each feature."""
        return ("", "=(missing)") if self.indicator else ("",)

    def encode(self, values: Any) -> Block:
        """Features of truth values, of 0 and 1, or of words such as "yes"."""
        truth = as_truth(self.name, values)
        missing = np.isnan(truth)
        filled = np.where(missing, 0.5, truth)
        return DenseBlock(with_indicator([filled], missing, self.indicator))

    @classmethod
    def learn(
        cls, name: str, values: Any, options: LearningOptions
    ) -> BooleanColumn | DroppedColumn:
        """Find whether values are missing."""
        truth = as_truth(name, values)
        missing = np.isnan(truth)
        reason = reason_to_drop(truth, missing)
        if reason:
            return DroppedColumn(name, reason)
        return cls(name, bool(missing.any()))


def as_truth(name: str, values: Any) -> NDArray[np.float64]:
    """Truth values as 1 and 0 in float64, NaN where one is missing."""
    codes, labels = factorize(name, values)
    numbers = [_NUMBER_OF_WORD.get(label.strip().lower(), np.nan) for label in labels]
    truth = np.array([*numbers, np.nan])[codes]
    wrong = np.isnan(truth) & (codes >= 0)
    if wrong.any():
        raise wrong_value(name, values, wrong, "true or false")
    return truth
