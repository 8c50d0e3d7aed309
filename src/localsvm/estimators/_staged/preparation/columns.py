"""Columns as the user gives them to columns of finite numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.rows import Rows

# Fewer rows of a level, or with a missing value, say nothing of their own.
_FEWEST_ROWS = 8
_SAMPLED_ROWS = 10_000


@dataclass(frozen=True)
class ColumnCode:
    """Missing values are filled, and each level of a category has its own column.

    The columns that follow are the numbers, in their order, one column that says where
    a number was missing for each that often was, and the levels of each category. A
    missing value of a category is a level; levels of fewer than eight training rows and
    new ones share the column "rare".

    Attributes
    ----------
    n_columns : int
        Columns of the user.
    numbers : ndarray of shape (n_numbers,)
        Columns that are numbers.
    medians : ndarray of shape (n_numbers,)
        What a missing value is filled with.
    flagged : ndarray of shape (n_flagged,)
        Columns whose missing values have a column of their own.
    categories : ndarray of shape (n_categories,)
    levels : list of ndarray
        Levels of each category with a column of their own, ascending.
    missing_levels : ndarray of shape (n_categories,), bool
        Whether a missing value of the category has a column of its own.
    """

    n_columns: int
    numbers: NDArray[np.intp]
    medians: NDArray[np.float64]
    flagged: NDArray[np.intp]
    categories: NDArray[np.intp]
    levels: list[NDArray[np.float64]]
    missing_levels: NDArray[np.bool_]

    @classmethod
    def learn(cls, rows: Rows, categorical: NDArray[np.bool_] | None) -> ColumnCode:
        """Learn from distinct dense rows in random order, by sample weight."""
        X, weight = rows.X, rows.sample_weight
        n_columns = X.shape[1]
        is_category = np.zeros(n_columns, dtype=bool)
        if categorical is not None:
            is_category |= categorical
        numbers, categories = np.flatnonzero(~is_category), np.flatnonzero(is_category)
        medians = _medians(X[:_SAMPLED_ROWS, numbers], weight[:_SAMPLED_ROWS])
        is_flagged = _missing_mass(X, weight) >= _FEWEST_ROWS
        return cls(
            n_columns,
            numbers,
            medians,
            numbers[is_flagged[numbers]],
            categories,
            [_frequent_levels(X[:, each], weight) for each in categories],
            is_flagged[categories],
        )

    @property
    def n_features(self) -> int:
        """Columns that follow."""
        return len(self.numbers) + len(self.flagged) + sum(self._sizes)

    @property
    def is_plain(self) -> bool:
        """Whether nothing changes but missing values."""
        return not len(self.flagged) and not len(self.categories)

    def apply(self, X: NDArray[Any]) -> NDArray[Any]:
        """Code rows; rows that are complete numbers are returned as they are."""
        if self.is_plain and not np.isnan(X).any():
            return X
        parts = [self._filled(X), np.isnan(X[:, self.flagged])]
        for column, levels, has_missing in self._categories:
            parts.append(_one_hot(X[:, column], levels, has_missing))
        return np.concatenate(parts, axis=1, dtype=X.dtype)

    def pull_back(self, gradient: NDArray[Any]) -> NDArray[Any]:
        """Gradients by the user's columns; a category has none.

        ``gradient`` has shape (n_samples, n_tasks, n_features).
        """
        if self.is_plain:
            return gradient
        pulled = np.zeros((*gradient.shape[:2], self.n_columns))
        pulled[:, :, self.numbers] = gradient[:, :, : len(self.numbers)]
        return pulled

    @property
    def _categories(self) -> Iterator[tuple[Any, ...]]:
        return zip(self.categories, self.levels, self.missing_levels, strict=True)

    @property
    def _sizes(self) -> list[int]:
        """Columns of each category: its levels, a missing value, the rare ones."""
        return [len(own) + bool(extra) + 1 for _, own, extra in self._categories]

    def _filled(self, X: NDArray[Any]) -> NDArray[Any]:
        numbers = X[:, self.numbers]
        return np.where(np.isnan(numbers), self.medians.astype(X.dtype), numbers)


def _missing_mass(X: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weight of the missing values of each column."""
    is_missing = np.isnan(X)
    mass = np.zeros(X.shape[1])
    for column in np.flatnonzero(is_missing.any(axis=0)):
        mass[column] = weight[is_missing[:, column]].sum()
    return mass


def _medians(X: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted median of each column; at once where all rows count alike."""
    if len(X) and (weight == weight[0]).all() and not np.isnan(X).any():
        middle = (len(X) - 1) // 2
        return np.partition(X.T, middle, axis=1)[:, middle].astype(np.float64)
    return np.array([_median(column, weight) for column in X.T], dtype=np.float64)


def _median(column: NDArray[Any], weight: NDArray[np.float64]) -> float:
    """Weighted median of the values that are there; 0 if there is none."""
    there = ~np.isnan(column)
    if not there.any():
        return 0.0
    return float(
        np.quantile(column[there], 0.5, weights=weight[there], method="inverted_cdf")
    )


def _frequent_levels(
    column: NDArray[Any], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Levels with at least eight rows, ascending."""
    levels, place = np.unique(column, return_inverse=True)
    kept = levels[np.bincount(place, weights=weight) >= _FEWEST_ROWS]
    return np.asarray(kept[~np.isnan(kept)], dtype=np.float64)


def _one_hot(
    column: NDArray[Any], levels: NDArray[np.float64], has_missing: bool
) -> NDArray[np.bool_]:
    """One column per level, for a missing value if it has one, and for all others."""
    parts = [column[:, np.newaxis] == levels.astype(column.dtype)]
    if has_missing:
        parts.append(np.isnan(column)[:, np.newaxis])
    known = np.concatenate(parts, axis=1)
    return np.concatenate([known, ~known.any(axis=1, keepdims=True)], axis=1)
