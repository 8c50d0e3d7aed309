"""Rows that a change of some columns gives, and what a model answers for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.inspect._changes._free_columns import FreeColumns
from localsvm.inspect._local_view import Floats, LocalView
from localsvm.inspect._opened import OpenedModel

Codes = NDArray[np.intp]
_BLOCK_VALUES = 1 << 22
# Of a range, or of a number without one, by which steps are differentiated.
_STEP = 1e-4


class States(NamedTuple):
    """Rows by their free columns.

    Parameters
    ----------
    numbers : ndarray of shape (n_states, n_numbers)
    codes : ndarray of shape (n_states, n_choices)
        Positions among the values of a choice; 0 is that of the row.
    """

    numbers: Floats
    codes: Codes

    def take(self, index: Any) -> States:
        """Take some of the states."""
        return States(self.numbers[index], self.codes[index])

    @classmethod
    def stacked(cls, *several: States) -> States:
        """Join states."""
        return cls(
            np.concatenate([each.numbers for each in several]),
            np.concatenate([each.codes for each in several]),
        )


@dataclass(frozen=True)
class RowSpace:
    """The free columns of one row, seen by a model.

    Attributes
    ----------
    opened : OpenedModel
    view : LocalView
    columns : FreeColumns
    x : ndarray of shape (n_features,)
        The row, as the estimator sees it.
    """

    opened: OpenedModel
    view: LocalView
    columns: FreeColumns
    x: Floats

    @cached_property
    def own(self) -> Floats:
        """Free numbers of the row."""
        return np.array([number.value for number in self.columns.numbers], dtype=float)

    @cached_property
    def low(self) -> Floats:
        """Smallest values of the free numbers."""
        return np.array([number.low for number in self.columns.numbers], dtype=float)

    @cached_property
    def high(self) -> Floats:
        """Largest values of the free numbers."""
        return np.array([number.high for number in self.columns.numbers], dtype=float)

    @cached_property
    def is_whole(self) -> NDArray[np.bool_]:
        """Which of the free numbers are integers."""
        return np.array(
            [number.is_whole for number in self.columns.numbers], dtype=bool
        )

    @cached_property
    def _scaling(self) -> tuple[Floats, Floats, NDArray[np.intp]]:
        """Centre and scale of each free number, and its feature in the base row."""
        numbers = self.columns.numbers
        return (
            np.array([number.center for number in numbers], dtype=float),
            np.array([number.scale for number in numbers], dtype=float),
            np.array([number.feature for number in numbers], dtype=np.intp),
        )

    @cached_property
    def _units(self) -> Floats:
        """Change of each free number that counts as one."""
        units = [number.unit or number.scale for number in self.columns.numbers]
        return np.array(units, dtype=float)

    @property
    def start(self) -> States:
        """The row itself."""
        codes = np.zeros((1, len(self.columns.choices)), dtype=np.intp)
        return States(self.own[np.newaxis], codes)

    def box(self, numbers: Floats) -> Floats:
        """Numbers brought into their ranges, whole ones to the nearest integer.

        Numbers of the row that are outside of the range stay there until they can move
        into it.
        """
        inside = self.clipped(numbers)
        moved = np.abs(inside - self.own) >= 0.5
        whole = np.where(moved, np.rint(inside), self.own)
        inside = np.where(self.is_whole, whole, inside)
        outside = (inside < self.low) | (inside > self.high)
        return np.where(outside, self.own, inside)

    def clipped(self, numbers: Floats) -> Floats:
        """Numbers no further out than their ranges, or than they are in the row."""
        low, high = np.minimum(self.low, self.own), np.maximum(self.high, self.own)
        return np.asarray(np.clip(numbers, low, high))

    def features(self, states: States) -> Floats:
        """Rows as the estimator sees them."""
        base = np.repeat(self.columns.base[np.newaxis], len(states.numbers), axis=0)
        center, scale, feature = self._scaling
        base[:, feature] = (states.numbers - center) / scale
        for j, choice in enumerate(self.columns.choices):
            block = slice(choice.first, choice.first + choice.blocks.shape[1])
            base[:, block] = choice.blocks[states.codes[:, j]]
        return self.opened.from_base(base)

    def winners(self, states: States) -> NDArray[np.intp]:
        """Position of the predicted class of each state."""
        found = [self.view.winners(rows) for rows in self._blocks(states)]
        return np.concatenate([np.empty(0, dtype=np.intp), *found])

    def scores(self, states: States) -> Floats:
        """Scores of shape (n_states, n_classes)."""
        found = [self.view.scores(rows) for rows in self._blocks(states)]
        return np.concatenate([np.empty((0, len(self.view.classes))), *found])

    def distances(self, states: States) -> Floats:
        """Euclidean distance of each state from the row.

        In features; or, where these have no common scale, in units of each column.
        """
        if self.columns.have_units:
            moved = (states.numbers - self.own) / self._units
            for choice, codes in zip(self.columns.choices, states.codes.T, strict=True):
                assert choice.sizes is not None
                moved = np.column_stack([moved, choice.sizes[codes]])
            return np.asarray(np.linalg.norm(np.nan_to_num(moved), axis=1))
        # A value that is missing is missing in both rows.
        found = [
            np.linalg.norm(np.nan_to_num(rows - self.x), axis=1)
            for rows in self._blocks(states)
        ]
        return np.concatenate([np.empty(0), *found])

    @cached_property
    def _jacobian(self) -> Any:
        """How features change with the free numbers, sparse, by rows of numbers."""
        numbers = self.columns.numbers
        shape = len(numbers), len(self.x)
        if self.opened.after_base is None:
            entries = [1 / number.scale for number in numbers]
            places = [number.feature for number in numbers]
            rows = np.arange(len(numbers))
            return sparse.csr_array((entries, (rows, places)), shape=shape)
        width = self.high - self.low
        step = _STEP * np.where(np.isfinite(width), width, 1 + np.abs(self.own))
        step = np.where(self.own + step > self.high, -step, step)
        step = np.where(step == 0, _STEP, step)
        codes = np.zeros((len(numbers), len(self.columns.choices)), dtype=np.intp)
        moved = self.features(States(self.own + np.diag(step), codes))
        # What is missing stays missing.
        return sparse.csr_array(np.nan_to_num(moved - self.x) / step[:, np.newaxis])

    def by_numbers(self, slopes: Floats) -> tuple[Floats, Floats]:
        """Slopes by free numbers, and the directions of steepest descent.

        Parameters
        ----------
        slopes : ndarray of shape (n_slopes, n_features)

        Returns
        -------
        slopes, directions : ndarray of shape (n_slopes, n_numbers)
            Directions are steepest per distance, of columns that do not share features.
        """
        if self.columns.have_units:
            found = np.asarray((self._jacobian @ slopes.T).T)
            return found, found * self._units**2
        squares = np.asarray(self._jacobian.multiply(self._jacobian).sum(axis=1))
        found = np.asarray((self._jacobian @ slopes.T).T)
        safe = np.where(squares > 0, squares, 1.0)
        return found, np.where(squares > 0, found / safe, 0.0)

    def _blocks(self, states: States) -> Iterator[Floats]:
        step = max(1, _BLOCK_VALUES // max(len(self.x), len(self.columns.base)))
        for first in range(0, len(states.numbers), step):
            yield self.features(states.take(slice(first, first + step)))
