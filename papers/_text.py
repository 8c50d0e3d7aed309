"""Cells and tables as text."""

from __future__ import annotations

from collections.abc import Iterator

from localsvm._text import aligned
from papers._experiment import Experiment, Size, Table
from papers._results import CellResult, fill_table
from papers._store import Store

UNEXPLAINED = "Differs; the cause is not known."


def ours(result: CellResult, table: Table) -> str:
    """Write mean, spread and arrow, or nothing."""
    if result.mean is None:
        return ""
    text = f"{result.mean:.{table.digits}f}"
    if result.spread is not None:
        text += f"±{result.spread:.{table.digits}f}"
    return text + result.arrow


def comparison(result: CellResult, table: Table) -> str:
    """Write the difference to the printed value, or the quotient, or nothing."""
    if table.ratio:
        return "" if result.quotient is None else f"{result.quotient:.2g} times"
    if result.difference is None:
        return ""
    # Adding zero turns a rounded minus zero into zero.
    return f"{round(result.difference, table.digits) + 0.0:+.{table.digits}f}"


def note(result: CellResult, table: Table) -> str:
    """Say why a cell has no value, why it differs, and how many runs it lacks."""
    if result.missing:
        return result.missing[0].upper() + result.missing[1:].rstrip(".") + "."
    parts = []
    if result.differs(table):
        parts.append(result.cell.note or UNEXPLAINED)
    elif table.ratio and result.cell.note:
        parts.append(result.cell.note)
    if len(result.values) < result.n_runs:
        parts.append(f"{len(result.values)} of {result.n_runs} runs.")
    return " ".join(parts)


def table_lines(experiment: Experiment, size: Size, store: Store) -> Iterator[str]:
    """Write the table of an experiment, one line per cell."""
    yield f"{experiment.id} ({size}): {experiment.title}"
    table = experiment.table
    if table is None:
        yield "  no table"
        return
    lines = [["row", "column", "printed", "ours", "difference", ""]]
    for (row, column), result in fill_table(experiment, size, store).items():
        printed = "-" if result.cell.printed is None else result.cell.printed.text
        scale = table.of_row(row)
        shown = [printed, ours(result, scale), comparison(result, scale)]
        lines.append([row, column, *shown, note(result, scale)])
    yield from aligned(lines, indent="  ")
