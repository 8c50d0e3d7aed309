"""Bins of columns: what a table of effects has one entry for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from localsvm import _core
from localsvm._threads import effective_n_jobs
from localsvm.exceptions import DataError
from localsvm.rows import as_rows, hash_rows

Floats = NDArray[np.float64]

# Rows, by weight, that a bin or level of its own needs; of few rows a share of them.
FEWEST_ROWS = 8.0
_FEWEST_SHARE = 0.25
# Sums of weights that are equal but for rounding.
_ROUNDING = 1e-9
_MOST_BINS = 2**16
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


@dataclass(frozen=True)
class ColumnBins:
    """Bins of each column, learned from rows.

    A number column has m bins between its edges, and one for missing values (NaN). A
    category column has one for each of its frequent levels, one for all other levels,
    and one for missing values.

    Attributes
    ----------
    is_category : ndarray of shape (n_columns,), bool
    n_bins : ndarray of shape (n_columns,), int32
        Bins of each column, the special ones among them.
    cut_start : ndarray of shape (n_columns + 1,), int64
        Column k has the cuts ``cut_start[k] .. cut_start[k + 1] - 1``.
    cuts : ndarray of shape (n_cuts,), float64
        Edges of number columns, a value above the edge is in the next bin; levels of
        category columns. Ascending in each column.
    cut_bin : ndarray of shape (n_cuts,), int32
        Bin of each level; of an edge the bin above it.
    weight : ndarray of shape (sum of n_bins,), float64
        Weight of the rows in each bin, column after column.
    """

    is_category: NDArray[np.bool_]
    n_bins: NDArray[np.int32]
    cut_start: NDArray[np.int64]
    cuts: Floats
    cut_bin: NDArray[np.int32]
    weight: Floats

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.n_bins)

    @cached_property
    def start(self) -> NDArray[np.int64]:
        """Column k has the entries ``start[k] .. start[k + 1] - 1`` of a table."""
        return np.concatenate([[0], np.cumsum(self.n_bins, dtype=np.int64)])

    @cached_property
    def n_ordered(self) -> NDArray[np.int32]:
        """Bins of each column that have an order; they come first."""
        ordered = np.where(self.is_category, 0, self.n_bins - 1)
        return ordered.astype(np.int32)

    @cached_property
    def is_ordered(self) -> NDArray[np.bool_]:
        """Whether each bin of each column has an order."""
        place = np.arange(self.start[-1]) - np.repeat(self.start[:-1], self.n_bins)
        return np.asarray(place < np.repeat(self.n_ordered, self.n_bins))

    @property
    def n_weights(self) -> int:
        """Weights of the code: steps between ordered bins, indicators of others."""
        return int((self.n_bins - (self.n_ordered > 0)).sum())

    @property
    def code_type(self) -> type[np.uint8] | type[np.uint16]:
        """Smaller of the types that number all bins of a column."""
        return np.uint8 if self.n_bins.max(initial=0) <= 2**8 else np.uint16

    @cached_property
    def for_core(self) -> _core.ColumnCuts:
        """The cuts as the core reads them."""
        return _core.ColumnCuts(
            is_category=self.is_category.astype(np.uint8),
            n_bins=self.n_bins,
            start=self.cut_start,
            cuts=self.cuts,
            cut_bin=self.cut_bin,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is derived, so that copies and pickles hold plain arrays."""
        return {name: vars(self)[name] for name in self.__dataclass_fields__}

    def encode(self, X: NDArray[Any], n_jobs: int | None = None) -> NDArray[Any]:
        """Bin of each entry.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns), float32 or float64
            NaN is a missing value.
        n_jobs : int or None, default=None

        Returns
        -------
        codes : ndarray of shape (n_columns, n_rows), uint8 or uint16
            Take rows by ``numpy.take(codes, index, axis=1)``.
        """
        codes: NDArray[Any]
        codes = np.empty((self.n_columns, X.shape[0]), dtype=self.code_type)
        n_threads = effective_n_jobs(n_jobs)
        _core.encode_columns(dense_rows(X), self.for_core, codes, n_threads)
        return codes


def dense_rows(X: NDArray[Any]) -> Any:
    """Give the core a view of dense rows."""
    return as_rows(np.ascontiguousarray(X))


def learn_bins(
    X: NDArray[Any],
    weight: Floats,
    categorical: NDArray[np.bool_],
    max_bins: int = 48,
) -> ColumnBins:
    """Learn the bins of each column.

    In a number column a value with more than ``1 / max_bins`` of the weight has a bin
    of its own; the others share bins of about equal weight, of at least eight rows.
    Edges are midway between values, so that an increasing map of a column leaves all
    rows where they are. In a category column each level of at least eight rows has a
    bin. Costs one sort per column.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns), float32 or float64
        NaN is a missing value.
    weight : ndarray of shape (n_rows,)
        A weight of two counts as two rows; rows of weight zero are left out.
    categorical : ndarray of shape (n_columns,), bool
        Columns whose values are names.
    max_bins : int, default=48
        About the most bins of a number column.

    Returns
    -------
    ColumnBins
    """
    if not weight.all():
        present = np.flatnonzero(weight)
        X, weight = X[present], weight[present]
    fewest = min(FEWEST_ROWS, _FEWEST_SHARE * float(weight.sum())) * (1 - _ROUNDING)
    values = [_values(column, weight) for column in X.T]
    edges = [
        np.empty(0) if category else _learn_edges(*own, max_bins, fewest)
        for own, category in zip(values, categorical, strict=True)
    ]
    signs = LevelSigns(X, categorical, edges, values)
    cuts: list[Floats] = []
    bins: list[NDArray[np.intp]] = []
    for k, (own, category) in enumerate(zip(values, categorical, strict=True)):
        if category:
            levels, place = _learn_levels(*own, fewest, signs, k)
        else:
            levels, place = edges[k], np.arange(1, len(edges[k]) + 1)
        cuts.append(levels)
        bins.append(place)
    return _with_weights(categorical, cuts, bins, X, weight)


def _with_weights(
    categorical: NDArray[np.bool_],
    cuts: list[Floats],
    bins: list[NDArray[np.intp]],
    X: NDArray[Any],
    weight: Floats,
) -> ColumnBins:
    """Bins of these cuts, with the weight of the rows in each."""
    sizes = np.array([len(own) for own in cuts], dtype=np.int64)
    _check_levels(sizes)
    found = ColumnBins(
        np.asarray(categorical, dtype=bool),
        (sizes + 2).astype(np.int32),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([np.empty(0), *cuts]),
        np.concatenate([np.empty(0), *bins]).astype(np.int32),
        np.empty(0),
    )
    mass = [
        np.bincount(own, weight, size)
        for own, size in zip(found.encode(X), found.n_bins, strict=True)
    ]
    fields = {name: getattr(found, name) for name in found.__dataclass_fields__}
    return ColumnBins(**{**fields, "weight": np.concatenate([np.empty(0), *mass])})


def _check_levels(sizes: NDArray[np.int64]) -> None:
    if sizes.max(initial=0) + 2 > _MOST_BINS:
        column = int(sizes.argmax())
        raise DataError(
            f"Categorical column {column} has {sizes[column]} levels of at least "
            f"{FEWEST_ROWS:g} rows; expected at most {_MOST_BINS - 2}. Leave it out of "
            "categorical_features, or join levels."
        )


def _values(column: NDArray[Any], weight: Floats) -> tuple[Floats, Floats]:
    """Distinct values that are not missing, ascending, and the weight of each."""
    missing = np.isnan(column)
    if missing.any():
        column, weight = column[~missing], weight[~missing]
    values = _distinct(column)
    group = np.searchsorted(values, column)
    mass = np.bincount(group, weight, len(values))
    return values.astype(np.float64), mass.astype(np.float64)


def _distinct(column: NDArray[Any]) -> NDArray[Any]:
    """Distinct values, ascending; those of columns of two values without a sort."""
    if len(column):
        ends = np.unique([column.min(), column.max()])
        if ((column == ends[0]) | (column == ends[-1])).all():
            return ends
    return np.unique(column)


def _learn_edges(values: Floats, mass: Floats, max_bins: int, fewest: float) -> Floats:
    """Edges between the bins of a number column."""
    if len(values) < 2:
        return np.empty(0)
    frequent = mass > mass.sum() / max_bins * (1 + _ROUNDING)
    n_left = max(1, max_bins - int(frequent.sum()))
    target = max(mass[~frequent].sum() / n_left, fewest) * (1 - _ROUNDING)
    # A run of values is one frequent value, or all others up to the next such one.
    run = np.cumsum(frequent | np.concatenate([[False], frequent[:-1]]))
    begins = np.flatnonzero(np.diff(run, prepend=-1))
    cut = np.zeros(len(values), dtype=bool)
    cut[begins] = True
    total = np.add.reduceat(mass, begins)
    before = np.cumsum(mass) - mass
    for begin, end, own in zip(begins, [*begins[1:], len(values)], total, strict=True):
        n_bins = int(own / target)
        if not frequent[begin] and n_bins > 1:
            middle = before[begin:end] - before[begin] + mass[begin:end] / 2
            part = np.floor(middle * (n_bins * (1 - _ROUNDING) / own))
            cut[begin + 1 : end] = np.diff(part) > 0
    return _between(values, _heavy_enough(np.flatnonzero(cut), mass, fewest))


def _heavy_enough(
    begins: NDArray[np.intp], mass: Floats, fewest: float
) -> NDArray[np.intp]:
    """Begins of bins, without those whose bin before or after would be too light."""
    before = np.concatenate([[0.0], np.cumsum(mass)])
    kept = [0]
    for begin in begins:
        enough = before[begin] - before[kept[-1]] >= fewest
        if enough and before[-1] - before[begin] >= fewest:
            kept.append(int(begin))
    return np.array(kept[1:], dtype=np.intp)


def _between(values: Floats, begins: NDArray[np.intp]) -> Floats:
    """Edges below the values at ``begins``, which are above them."""
    low, high = values[begins - 1], values[begins]
    middle = low / 2 + high / 2
    return np.asarray(np.where((middle >= low) & (middle < high), middle, low))


def _learn_levels(
    levels: Floats, mass: Floats, fewest: float, signs: LevelSigns, k: int
) -> tuple[Floats, NDArray[np.intp]]:
    """Frequent levels of column k, ascending, and their bins, the heaviest first."""
    frequent = np.flatnonzero(mass >= fewest)
    rank = _rounded_shares(mass)[frequent]
    levels = levels[frequent]
    # Whatever the levels are called, they stand in one order.
    tied = len(np.unique(rank)) < len(rank)
    sign = signs.of_levels(k, levels) if tied else np.zeros(len(rank), np.uint64)
    order = np.lexsort((levels, sign, -rank))
    place = np.empty(len(levels), dtype=np.intp)
    place[order] = np.arange(len(levels))
    return levels, place


def _rounded_shares(mass: Floats) -> Floats:
    """Shares of the weight without the rounding of their sums."""
    return np.asarray(np.rint(mass / (mass.sum() * _ROUNDING)))


class LevelSigns:
    """Puts levels of equal weight in an order that their names do not change.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
    categorical : ndarray of shape (n_columns,)
    edges : list of ndarray
        Of number columns.
    values : list of (ndarray, ndarray)
        Distinct values of each column and their weights.
    """

    def __init__(
        self,
        X: NDArray[Any],
        categorical: NDArray[np.bool_],
        edges: Sequence[Floats],
        values: Sequence[tuple[Floats, Floats]],
    ) -> None:
        self._X = X
        self._categorical = categorical
        self._edges = edges
        self._values = values

    @cached_property
    def _row_hashes(self) -> NDArray[np.uint64]:
        """Hash of each row by its bins of numbers and the weights of its levels."""
        shown = np.zeros(self._X.shape)
        for k, column in enumerate(self._X.T):
            if self._categorical[k]:
                levels, mass = self._values[k]
                known = np.append(_rounded_shares(mass), -1.0)
                # NaN is above all levels.
                shown[:, k] = known[np.searchsorted(levels, column)]
            else:
                shown[:, k] = np.searchsorted(self._edges[k], column)
        return hash_rows(shown, seed=0)

    def of_levels(self, k: int, levels: Floats) -> NDArray[np.uint64]:
        """Sum of the hashes of the distinct rows of each level of column k."""
        hashes, column = self._row_hashes, self._X[:, k]
        order = np.lexsort((hashes, column))
        hashes, column = hashes[order], column[order]
        copy = (hashes[1:] == hashes[:-1]) & (column[1:] == column[:-1])
        hashes[1:][copy] = 0
        before = np.concatenate([np.zeros(1, np.uint64), np.cumsum(hashes)])
        first, last = (np.searchsorted(column, levels, side) for side in _SIDES)
        return np.asarray(before[last] - before[first])
