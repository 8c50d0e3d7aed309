"""Rows set apart for the end, and the rungs that the race climbs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.intp]

GROWTH = 3
N_FOLDS = 5
_LEAST_ROWS = 250  # of the first rung
_FOLDS_ONLY = 1000  # up to so many rows, every rung takes all of them
_FOLDS_AT_TOP = 4000
_REPEATS = 3
_TEST_ROWS = 20_000
_VALIDATION_ROWS = 10_000
_LEAST_VALIDATION_ROWS = 2000


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to fit and rows to score."""

    train: Index
    validation: Index


@dataclass(frozen=True, eq=False)
class Rung:
    """Splits that every entrant of a rung is fitted and scored on.

    Parameters
    ----------
    splits : tuple of Split
        A rung may have splits of the one below: they need not be fitted again.
    """

    splits: tuple[Split, ...]

    @property
    def n_rows(self) -> int:
        """Rows of a fit."""
        return max(len(split.train) for split in self.splits)


def stratified_order(class_index: Index, rng: np.random.Generator) -> Index:
    """Shuffle so that every beginning and every end has the classes in proportion.

    One row of every class comes first, then a second one, so that small beginnings
    have all classes, and no end takes the last row of a class.
    """
    counts = np.bincount(class_index)
    offset = rng.uniform(size=len(counts))[class_index]
    rank = _rank_in_class(class_index, rng)
    key = (rank + offset) / counts[class_index]
    first = rank < 2
    key[first] = rank[first] - 2 + offset[first] / 2
    return np.argsort(key, kind="stable")


def n_test_rows(test_size: float | int, n_rows: int, n_classes: int) -> int:
    """Rows to set apart: a part, of at most 20,000 rows, or a number."""
    if isinstance(test_size, int):
        wanted = test_size
    else:
        wanted = min(max(1, round(test_size * n_rows)), _TEST_ROWS)
    # One row of every class has to stay, and one more to choose by.
    most = n_rows - n_classes - 1
    if most < 1:
        raise ValueError(
            f"race needs two rows more than classes: found {n_rows} rows of "
            f"{n_classes} classes. Give more rows, or merge classes of one row."
        )
    if isinstance(test_size, int) and wanted > most:
        raise ValueError(
            f"test_size={test_size} should be <= {most}: one of the {n_rows} rows has "
            f"to stay for each of the {n_classes} classes, and one to choose by."
        )
    return min(wanted, most)


def plan_rungs(pool: Index, class_index: Index, rng: np.random.Generator) -> list[Rung]:
    """Rungs from few rows to all of the pool, each with three times as many rows.

    Up to 1000 rows are cross-validated at every rung, by some folds at first, then all,
    then repeatedly. Up to 4000 are cross-validated at the top. More are validated by
    rows that no rung fits: a fifth of them, at most 10,000, and fewer at lower rungs.

    Parameters
    ----------
    pool : ndarray of shape (n_rows,)
        Rows in a stratified order.
    class_index : ndarray
        Class of each row of the data.
    rng : numpy.random.Generator
    """
    n_rows = len(pool)
    if n_rows > _FOLDS_AT_TOP:
        n_validation = min(n_rows // N_FOLDS, _VALIDATION_ROWS)
        return _hold_out_rungs(pool, n_validation, n_rows - n_validation)
    folds = _folds(pool, class_index[pool], rng)
    if n_rows > _FOLDS_ONLY:
        top = (n_rows - n_rows // N_FOLDS) // GROWTH
        below = _hold_out_rungs(pool, n_rows // GROWTH, top)
        return [*below, Rung(folds[:2]), Rung(folds)]
    repeated = folds
    for _ in range(_REPEATS - 1):
        repeated += _folds(pool, class_index[pool], rng)
    # A handful of rows has no more than two folds.
    return [Rung(folds[:2]), *([Rung(folds)] if folds[2:] else []), Rung(repeated)]


def _hold_out_rungs(pool: Index, n_validation: int, top: int) -> list[Rung]:
    """Rungs with the last rows of the pool for validation."""
    sizes = [top]
    while sizes[0] // GROWTH >= _LEAST_ROWS:
        sizes.insert(0, sizes[0] // GROWTH)
    return [
        Rung(
            (
                Split(
                    pool[:size],
                    pool[-min(n_validation, max(size, _LEAST_VALIDATION_ROWS)) :],
                ),
            )
        )
        for size in sizes
    ]


def _folds(
    pool: Index, class_index: Index, rng: np.random.Generator
) -> tuple[Split, ...]:
    """Stratified folds; one row of every class is in all training parts."""
    rank = _rank_in_class(class_index, rng)
    by_class = np.lexsort((rank, class_index))
    by_class = by_class[rank[by_class] > 0]
    fold = np.full(len(pool), -1)
    fold[by_class] = np.arange(len(by_class)) % N_FOLDS
    return tuple(
        Split(pool[fold != number], pool[fold == number])
        for number in range(min(N_FOLDS, len(by_class)))
    )


def _rank_in_class(class_index: Index, rng: np.random.Generator) -> Index:
    """Place of each row in a random order of the rows of its class."""
    counts = np.bincount(class_index)
    start = np.cumsum(counts) - counts
    shuffled = rng.permutation(len(class_index))
    by_class = shuffled[np.argsort(class_index[shuffled], kind="stable")]
    rank = np.empty(len(class_index), dtype=np.intp)
    rank[by_class] = np.arange(len(class_index)) - start[class_index[by_class]]
    return rank
