"""Tables I to IV as cells: accuracy, and what a prediction costs."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from papers._experiment import Cell, Table
from papers._printed import Printed

_Values = Mapping[tuple[str, str], Printed | None]
_Columns = Mapping[str, Sequence[str]]


def accuracy_table(
    printed: _Values, columns: _Columns, notes: Mapping[str, str]
) -> Table:
    """Make a table of accuracies.

    Parameters
    ----------
    printed : mapping of (training size, column) to Printed or None
    columns : mapping of str to sequence of str
        Our methods that stand for a printed column, if not one of that name.
    notes : mapping of str to str
        Why cells of a method differ.
    """
    return Table(
        {
            (row, method): Cell(
                f"{method} | {row}", printed=value, note=notes.get(method, "")
            )
            for (row, column), value in printed.items()
            for method in columns.get(column, (column,))
        }
    )


def complexity_table(
    printed: _Values, columns: _Columns, notes: Mapping[str, str]
) -> Table:
    """Make a table of numbers of SVMs or support vectors: mean, least and most.

    Parameters
    ----------
    printed : mapping of (training size, column) to Printed or None
        Columns are a method and "mean", "min" or "max".
    columns, notes : mapping
        As in :func:`accuracy_table`; notes are shown with the mean.
    """
    cells: dict[tuple[str, str], Cell] = {}
    for (row, column), value in printed.items():
        name, _, taken = column.rpartition(" ")
        for method in columns.get(name, (name,)):
            cells[row, f"{method}, {taken}"] = Cell(
                f"{method} | {row}",
                score=("scores.complexity",),
                printed=value,
                note=notes.get(method, "") if taken == "mean" else "",
                take=cast(Any, taken),
            )
    return Table(cells, unit="number", digits=1, ratio=True)
