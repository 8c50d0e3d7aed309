"""Columns of categories: one feature per frequent value."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from localsvm._checks import level_of_caller
from localsvm.data._columns._blocks import Block, OneHotBlock
from localsvm.data._columns._column import Column, DroppedColumn, LearningOptions
from localsvm.data._columns._values import factorize

_FEWEST_ROWS = 20


@dataclass(frozen=True)
class CategoryColumn(Column):
    """A column of categories, one of whose features is 1 and the others 0.

    Parameters
    ----------
    name : str
        Name of the column.
    categories : tuple of str
        Those that have a feature of their own, ``NAME=CATEGORY``; numbers as strings,
        integral ones without a point.
    missing : bool
        Whether values were missing at ``fit``: the feature ``NAME=(missing)`` comes
        next. Otherwise a missing value is a new one.
    pooled : bool
        Whether rare values were pooled at ``fit``: the feature ``NAME=(other)`` comes
        last and is 1 for these and for new values. Otherwise all features of a new
        value are 0.
    """

    kind = "category"
    by_label = True

    categories: tuple[str, ...]
    missing: bool
    pooled: bool

    @property
    def suffixes(self) -> tuple[str, ...]:
        """What follows the name of the column in the name of each feature."""
        own = [f"={category}" for category in self.categories]
        return (*own, *["=(missing)"] * self.missing, *["=(other)"] * self.pooled)

    @property
    def n_entries(self) -> int:
        """One."""
        return 1

    def encode(self, values: Any) -> Block:
        """Features of any values; warns if none of 20 or more was seen at ``fit``."""
        codes, labels = factorize(self.name, values)
        other = self.n_features - 1 if self.pooled else -1
        missing = len(self.categories) if self.missing else other
        place = {category: code for code, category in enumerate(self.categories)}
        places = [place.get(label, other) for label in labels]
        if labels and set(places) == {other}:
            warn_of_new_values(self.name, len(codes), labels, self.categories)
        return OneHotBlock(np.array([*places, missing], dtype=np.intp)[codes])

    @classmethod
    def learn(
        cls, name: str, values: Any, options: LearningOptions
    ) -> CategoryColumn | DroppedColumn:
        """Find the frequent values, in alphabetical order."""
        codes, labels = factorize(name, values)
        missing = bool((codes < 0).any())
        if not labels:
            return DroppedColumn(name, "empty")
        if len(labels) == 1 and not missing:
            return DroppedColumn(name, "constant")
        counts = np.bincount(codes[codes >= 0], minlength=len(labels))
        order = sorted(
            range(len(labels)), key=lambda code: (-counts[code], labels[code])
        )
        kept = [labels[code] for code in order if counts[code] >= options.min_frequency]
        kept = kept[: options.max_categories]
        return cls(name, tuple(sorted(kept)), missing, len(kept) < len(labels))


def warn_of_new_values(
    name: str, n_rows: int, found: Sequence[str], known: Sequence[str]
) -> None:
    """Warn that no value of a column is known, unless there are few rows."""
    if n_rows < _FEWEST_ROWS:
        return
    warnings.warn(
        f"Column {name!r} has no value that was seen at fit: found "
        f"{', '.join(map(repr, found[:3]))}, expected for instance "
        f"{', '.join(map(repr, known[:3]))}.",
        UserWarning,
        stacklevel=level_of_caller(),
    )
