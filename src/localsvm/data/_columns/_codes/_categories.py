"""Columns of categories: one code per frequent level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from localsvm.data._columns._blocks import Block, DenseBlock
from localsvm.data._columns._categories import warn_of_new_values
from localsvm.data._columns._column import Column, DroppedColumn, LearningOptions
from localsvm.data._columns._values import factorize

RARE = "(other)"
# Up to this many, codes are exact in single precision.
_MOST_LEVELS = 2**24


@dataclass(frozen=True)
class CodeColumn(Column):
    """A column of categories: a code from 0 to ``len(levels)``; NaN if missing.

    Parameters
    ----------
    name : str
        Name of the column, and of its feature.
    levels : tuple of str
        Values that occurred ``min_frequency`` times at ``fit``, the most frequent one
        first, equally frequent ones in alphabetical order; their positions are the
        codes. Numbers are strings, integral ones without a point. All other values,
        those that are new included, have the code ``len(levels)``.

    Notes
    -----
    Other names of the levels leave the codes as they are, but for levels that are
    equally frequent. Codes have no order; estimators must treat them as categories.
    """

    kind = "category"
    by_label = True

    levels: tuple[str, ...]

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Nothing: the feature has the name of the column."""
        return ("",)

    @property
    def level_names(self) -> tuple[str, ...]:
        """Levels by code, and a name for all others."""
        return (*self.levels, RARE)

    def encode(self, values: Any) -> Block:
        """Codes of any values; warns if none of 20 or more was seen at ``fit``."""
        codes, labels = factorize(self.name, values)
        place = {level: float(code) for code, level in enumerate(self.levels)}
        rare = float(len(self.levels))
        places = [place.get(label, rare) for label in labels]
        if self.levels and labels and set(places) == {rare}:
            warn_of_new_values(self.name, len(codes), labels, self.levels)
        return DenseBlock(np.array([*places, np.nan])[codes][:, np.newaxis])

    @classmethod
    def learn(
        cls, name: str, values: Any, options: LearningOptions
    ) -> CodeColumn | DroppedColumn:
        """Find the frequent levels; drop the column if all rows get one code."""
        codes, labels = factorize(name, values)
        if not labels:
            return DroppedColumn(name, "empty")
        has_missing = bool((codes < 0).any())
        if len(labels) == 1 and not has_missing:
            return DroppedColumn(name, "constant")
        counts = np.bincount(codes[codes >= 0], minlength=len(labels))
        order = sorted(
            range(len(labels)), key=lambda code: (-counts[code], labels[code])
        )
        kept = [labels[code] for code in order if counts[code] >= options.min_frequency]
        if not kept and not has_missing:
            return DroppedColumn(name, "rare")
        return cls(name, tuple(kept[:_MOST_LEVELS]))
