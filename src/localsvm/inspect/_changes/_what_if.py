"""What would have changed a prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from localsvm.inspect._changes._border import Border, describe_border, nearest_states
from localsvm.inspect._changes._free_columns import free_columns
from localsvm.inspect._changes._local_function import LocalFunction
from localsvm.inspect._changes._one_column import (
    Change,
    changed_columns,
    describe_changes,
    single_states,
)
from localsvm.inspect._changes._row_space import RowSpace, States
from localsvm.inspect._local_view import Floats, LocalView
from localsvm.inspect._opened import OpenedModel


@dataclass(frozen=True)
class WhatIf:
    """Changes of a row that change its label.

    Attributes
    ----------
    is_searched : bool
        Whether changes were looked for.
    border : Border or None
    changes : tuple of Change
    unknown_ranges : tuple of str
    """

    is_searched: bool = False
    border: Border | None = None
    changes: tuple[Change, ...] = ()
    unknown_ranges: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        opened: OpenedModel,
        view: LocalView,
        function: LocalFunction,
        row: tuple[tuple[Any, ...], Floats],
        fixed: frozenset[int],
    ) -> WhatIf:
        """Look for changes.

        Parameters
        ----------
        opened : OpenedModel
        view : LocalView
            Of its estimator.
        function : LocalFunction
            What decides the row.
        row : tuple
            Values of the columns of a pipeline's table, and the base row.
        fixed : frozenset of int
            Positions of columns that have to stay.
        """
        values, base = row
        columns = free_columns(opened, values, base, fixed, function.slopes)
        if not columns.numbers and not columns.choices:
            return cls(is_searched=True)
        space = RowSpace(opened, view, columns, function.x)
        singles = _verified(space, values, single_states(space, function))
        nearest = _verified(space, values, nearest_states(space, function, singles))
        border = None
        if len(nearest.codes):
            border = describe_border(space, function, nearest.take([0]))
        unknown = [each.name for each in columns.numbers if not each.is_known]
        changes = describe_changes(space, singles)
        return cls(True, border, changes, tuple(unknown))


def _verified(space: RowSpace, values: tuple[Any, ...], states: States) -> States:
    """States for which the whole pipeline predicts what its estimator does."""
    opened = space.opened
    if opened.steps is None or not len(states.codes):
        return states
    names = list(opened.column_names)
    rows = []
    for i in range(len(states.codes)):
        row = list(values)
        for name, _, to in changed_columns(space, states.take([i])):
            row[names.index(name)] = to
        rows.append(tuple(row))
    found = opened.model.predict(opened.table_of(rows))
    expected = space.view.classes[space.winners(states)]
    return states.take(np.flatnonzero(found == expected))
