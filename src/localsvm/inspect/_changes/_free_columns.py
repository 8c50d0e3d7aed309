"""Columns of a row that a change may touch, and what each may become."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.data import (
    BooleanColumn,
    CategoryColumn,
    CodeColumn,
    Column,
    NumberColumn,
    OrderedColumn,
    RawBooleanColumn,
    RawNumberColumn,
    TableEncoder,
    close_names,
)
from localsvm.exceptions import DataError
from localsvm.inspect._labels import is_missing
from localsvm.inspect._local_view import Floats
from localsvm.inspect._opened import OpenedModel

# Standard deviations from the mean that stand in for a range that is not known.
_LIKELY_DEVIATIONS = 3.0
_ROUNDING = 1e-9
_MISSING = "(missing)"
# Of features, more than any text is to name.
_MOST_NUMBERS = 1000
_LISTED = 10


@dataclass(frozen=True)
class FreeNumber:
    """A number that may move within the range of the training rows.

    Attributes
    ----------
    name : str
    value : float
        In the row.
    low, high : float
        Smallest and largest value it may become; infinite where nothing is known.
    is_whole : bool
        Whether it may only become an integer.
    is_known : bool
        Whether the range is that of the training rows.
    feature : int
        Position in the base row.
    center, scale : float
        The base row holds ``(value - center) / scale``.
    unit : float or None
        Change that counts as one where features have no common scale; else None.
    """

    name: str
    value: float
    low: float
    high: float
    is_whole: bool
    is_known: bool
    feature: int
    center: float = 0.0
    scale: float = 1.0
    unit: float | None = None


@dataclass(frozen=True, eq=False)
class FreeChoice:
    """A category or boolean that may become another known one.

    Attributes
    ----------
    name : str
    values : tuple
        The value in the row, then all others it may become.
    first : int
        First feature in the base row.
    blocks : ndarray of shape (n_values, n_block_features)
        Features of each value.
    sizes : ndarray of shape (n_values,) or None
        Size of each change where features have no common scale; else None.
    """

    name: str
    values: tuple[Any, ...]
    first: int
    blocks: Floats
    sizes: Floats | None = None


@dataclass(frozen=True)
class FreeColumns:
    """Free columns of one row.

    Attributes
    ----------
    base : ndarray of shape (n_base,)
        The row as the steps after a table encoder take it, or as it was given.
    numbers : tuple of FreeNumber
    choices : tuple of FreeChoice
    """

    base: Floats
    numbers: tuple[FreeNumber, ...]
    choices: tuple[FreeChoice, ...] = ()

    @cached_property
    def have_units(self) -> bool:
        """Whether changes have sizes of their own, as features have no common scale."""
        return any(number.unit is not None for number in self.numbers) or any(
            choice.sizes is not None for choice in self.choices
        )


def fixed_columns(opened: OpenedModel, immutable: Any) -> frozenset[int]:
    """Positions of the columns that the user declares fixed.

    Parameters
    ----------
    opened : OpenedModel
    immutable : None, str, int or sequence of them
        Names or positions of columns.
    """
    if immutable is None:
        return frozenset()
    wanted = [immutable] if isinstance(immutable, str | int) else list(immutable)
    names = list(opened.column_names)
    return frozenset(_position(each, names) for each in wanted)


def _position(column: Any, names: list[str]) -> int:
    """Position of a column that is given by name or position."""
    if isinstance(column, str):
        if column in names:
            return names.index(column)
        close = close_names(column, names)
        listed = ", ".join(map(repr, names[:_LISTED]))
        raise DataError(
            "{remedy} is not a column of the model; "
            + (f"did you mean {close[0]!r}?" if close else f"expected {listed}."),
            parameter="immutable",
            value=column,
        )
    is_position = isinstance(column, int | np.integer)
    if not is_position or not -len(names) <= column < len(names):
        raise ValueError(
            f"immutable has {column!r}; expected the name of a column, or a position "
            f"from 0 to {len(names) - 1}."
        )
    return int(column) % len(names)


def free_columns(
    opened: OpenedModel,
    values: tuple[Any, ...],
    base: Floats,
    fixed: frozenset[int],
    slopes: Floats,
) -> FreeColumns:
    """Find what may change in one row.

    Parameters
    ----------
    opened : OpenedModel
    values : tuple
        Values of the row's columns, as they were given.
    base : ndarray of shape (n_base,)
        Empty if the pipeline takes a table that is not all numbers, and does not begin
        with a table encoder: nothing is known of such columns.
    fixed : frozenset of int
        Positions of columns that have to stay.
    slopes : ndarray of shape (n_classes, n_features)
        Weights of the scores: of very many features only those that matter are free.
    """
    encoder = opened.first_encoder
    if encoder is not None:
        return _of_table(encoder, values, base, fixed)
    if not len(base):
        return FreeColumns(base, ())
    low, high, is_whole = _ranges(opened, base)
    known = np.isfinite(low)
    free = np.setdiff1d(np.flatnonzero(np.isfinite(base)), list(fixed))
    is_code = getattr(opened.estimator, "is_categorical_", None)
    if is_code is not None and len(is_code) == len(base):
        # Nothing is known of codes without a table: no number is between two of them.
        free = free[~is_code[free]]
    if len(free) > _MOST_NUMBERS and opened.steps is None:
        free = np.sort(free[np.argsort(-np.ptp(slopes, axis=0)[free])[:_MOST_NUMBERS]])
    numbers = [
        FreeNumber(
            opened.column_names[j],
            float(base[j]),
            float(low[j]),
            float(high[j]),
            bool(is_whole[j]),
            bool(known[j]),
            j,
        )
        for j in free.tolist()
    ]
    return FreeColumns(base, tuple(numbers))


def _of_table(
    encoder: TableEncoder, values: tuple[Any, ...], base: Floats, fixed: frozenset[int]
) -> FreeColumns:
    numbers, choices = [], []
    first = 0
    for position, column in enumerate(encoder.columns_):
        block = base[first : first + column.n_features]
        if position not in fixed and type(column) in _FREE:
            found = _FREE[type(column)](column, values[position], block, first)
            if isinstance(found, FreeNumber):
                numbers.append(found)
            elif found is not None:
                choices.append(found)
        first += column.n_features
    return FreeColumns(base, tuple(numbers), tuple(choices))


def _as_finite(value: Any) -> float | None:
    """Read a number of a table; None if it is missing or a duration."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if np.isfinite(number) else None


def _free_number(
    column: NumberColumn, value: Any, block: Floats, first: int
) -> FreeNumber | None:
    number = _as_finite(value)
    if number is None:
        return None
    likely = _LIKELY_DEVIATIONS * column.scale
    is_known = column.low is not None and column.high is not None
    return FreeNumber(
        column.name,
        number,
        column.center - likely if column.low is None else column.low,
        column.center + likely if column.high is None else column.high,
        column.whole,
        is_known,
        first,
        column.center,
        column.scale,
    )


def _free_boolean(
    column: BooleanColumn, value: Any, block: Floats, first: int
) -> FreeChoice:
    others = [truth for truth in (False, True) if truth != block[0]]
    blocks = np.zeros((1 + len(others), column.n_features))
    blocks[0], blocks[1:, 0] = block, others
    own = _MISSING if is_missing(value) else bool(block[0])
    return FreeChoice(column.name, (own, *others), first, blocks)


def _free_category(
    column: CategoryColumn, value: Any, block: Floats, first: int
) -> FreeChoice:
    own = int(block.argmax()) if block.any() else -1
    others = [code for code in range(len(column.categories)) if code != own]
    blocks = np.concatenate([block[np.newaxis], np.eye(column.n_features)[others]])
    labels = [column.categories[code] for code in others]
    value = _MISSING if is_missing(value) else value
    return FreeChoice(column.name, (value, *labels), first, blocks)


def _free_raw_number(
    column: RawNumberColumn, value: Any, block: Floats, first: int
) -> FreeNumber | None:
    number = _as_finite(value)
    if number is None:
        return None
    return FreeNumber(
        column.name,
        number,
        column.low,
        column.high,
        column.whole,
        True,
        first,
        unit=column.deviation,
    )


def _free_raw_boolean(
    column: RawBooleanColumn, value: Any, block: Floats, first: int
) -> FreeChoice:
    others = [truth for truth in (False, True) if truth != block[0]]
    own = _MISSING if is_missing(value) else bool(block[0])
    return _coded_choice(column, (own, *others), block, np.array(others, float), first)


def _free_code(column: CodeColumn, value: Any, block: Floats, first: int) -> FreeChoice:
    others = [code for code in range(len(column.levels)) if code != block[0]]
    own = _MISSING if is_missing(value) else value
    labels = [column.levels[code] for code in others]
    return _coded_choice(column, (own, *labels), block, np.array(others, float), first)


def _free_ordered(
    column: OrderedColumn, value: Any, block: Floats, first: int
) -> FreeChoice:
    numbers = np.array(column.numbers)
    others = np.flatnonzero(numbers != block[0])
    own = _MISSING if is_missing(value) else value
    labels = [column.levels[place] for place in others]
    found = _coded_choice(column, (own, *labels), block, numbers[others], first)
    if np.isnan(block[0]):
        return found
    return replace(
        found, sizes=np.abs(found.blocks[:, 0] - block[0]) / column.deviation
    )


def _coded_choice(
    column: Column, values: tuple[Any, ...], block: Floats, others: Floats, first: int
) -> FreeChoice:
    """Choice of one feature, each change of which has the size one."""
    blocks = np.concatenate([block, others])[:, np.newaxis]
    sizes = np.minimum(np.arange(len(blocks)), 1).astype(np.float64)
    return FreeChoice(column.name, values, first, blocks, sizes)


_FREE: dict[type, Callable[..., FreeNumber | FreeChoice | None]] = {
    NumberColumn: _free_number,
    BooleanColumn: _free_boolean,
    CategoryColumn: _free_category,
    RawNumberColumn: _free_raw_number,
    RawBooleanColumn: _free_raw_boolean,
    CodeColumn: _free_code,
    OrderedColumn: _free_ordered,
}


def _ranges(
    opened: OpenedModel, base: Floats
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Low and high ends of the columns, and which are whole; infinite if not known."""
    ends = getattr(opened.estimator, "feature_range_", None)
    if ends is not None and opened.steps is not None:
        ends = _undone(opened, base, ends)
    if ends is None:
        infinite = np.full(len(base), np.inf)
        return -infinite, infinite, np.zeros(len(base), dtype=bool)
    low, high = ends.min(axis=0), ends.max(axis=0)
    if opened.steps is None:
        return low, high, np.asarray(opened.estimator.integer_features_)
    # The estimator has seen scaled columns. One that begins, ends and is at an integer
    # is taken for whole: if that is wrong, integers are still inside its range.
    low, high = _snapped(low, high - low), _snapped(high, high - low)
    return low, high, _is_integer(low) & _is_integer(high) & _is_integer(base)


def _undone(opened: OpenedModel, base: Floats, ends: Floats) -> Floats | None:
    """Bring ends into the units of the columns; None if steps do not lead back."""
    found = opened.undone(np.vstack([opened.from_base(base[np.newaxis]), ends]))
    if found is None or not np.allclose(found[0], base):
        return None
    return found[1:]


def _snapped(ends: Floats, width: Floats) -> Floats:
    """Integers in place of what a scaler has brought next to them."""
    near = np.abs(ends - np.rint(ends)) <= _ROUNDING * np.maximum(width, np.abs(ends))
    return np.where(near, np.rint(ends), ends)


def _is_integer(values: Floats) -> NDArray[np.bool_]:
    return np.asarray(values == np.rint(values))
