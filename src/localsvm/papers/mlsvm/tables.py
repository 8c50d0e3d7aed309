"""Tables I to IV as cells: accuracy, and what a prediction costs."""

from collections.abc import Mapping
from typing import Any, cast

from localsvm.papers._experiment import Cell, Table
from localsvm.papers._printed import Printed
from localsvm.papers.mlsvm import methods

_Values = Mapping[tuple[str, str], Printed | None]
_COMPLEXITY = ("scores.complexity",)
_MIXTURE = "MLSVM"


def accuracy_table(printed: _Values, notes: Mapping[str, str]) -> Table:
    """Make a table of accuracies; the printed mixture stands beside each of ours.

    Parameters
    ----------
    printed : mapping of (training size, method) to Printed or None
    notes : mapping of str to str
        Why cells of a method differ, or one cell by "method | size".
    """
    cells: dict[tuple[str, str], Cell] = {}
    for (row, column), value in printed.items():
        for method in _ours(column):
            group = f"{method} | {row}"
            note = notes.get(group, notes.get(method, ""))
            cells[row, method] = Cell(group, printed=value, note=note)
    return Table(cells)


def complexity_table(printed: _Values, notes: Mapping[str, str]) -> Table:
    """Make a table of numbers of SVMs or support vectors: mean, least and most.

    Parameters
    ----------
    printed : mapping of (training size, method and "mean", "min" or "max") to Printed
    notes : mapping of str to str
        What is to be said of a method.
    """
    cells: dict[tuple[str, str], Cell] = {}
    for (row, column), value in printed.items():
        name, _, taken = column.rpartition(" ")
        for method in _ours(name):
            if method != methods.ONE_STEP:
                cells[row, f"{method} {taken}"] = Cell(
                    f"{method} | {row}",
                    score=_COMPLEXITY,
                    printed=value,
                    note=notes.get(method, "") if taken == "mean" else "",
                    take=cast(Any, taken),
                )
    return Table(cells, unit="number", digits=1, ratio=True)


def _ours(column: str) -> tuple[str, ...]:
    return methods.MIXTURES if column == _MIXTURE else (column,)
