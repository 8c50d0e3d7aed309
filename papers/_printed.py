"""Printed values of a paper's table, read from text that looks like the table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)(?:\s*(?:±|\+-)\s*(\d+(?:\.\d+)?))?[↑↓]?")


@dataclass(frozen=True)
class Printed:
    """A number as a paper prints it.

    Parameters
    ----------
    value : float
    spread : float or None, default=None
        Its standard deviation, if given.
    text : str, default=""
        As printed.
    """

    value: float
    spread: float | None = None
    text: str = ""


def read_printed(text: str) -> Mapping[tuple[str, str], Printed | None]:
    """Read a table whose first line names the columns and first column the rows.

    Parameters
    ----------
    text : str
        Lines with cells divided by "|"; "-" is a place without a number. An arrow after
        a number marks a significant difference.

    Returns
    -------
    mapping of (str, str) to Printed or None
        By the names of row and column.

    Examples
    --------
    >>> table = read_printed('''
    ...            | IJCNN1     | USPS
    ... Linear SVM | 91.01      | -
    ... CSVM       | 94.29±0.62 | 96.44
    ... ''')
    >>> table["CSVM", "IJCNN1"]
    Printed(value=94.29, spread=0.62, text='94.29±0.62')
    """
    lines = [line for line in text.splitlines() if line.strip()]
    _, *columns = _split(lines[0])
    cells: dict[tuple[str, str], Printed | None] = {}
    for line in lines[1:]:
        row, *values = _split(line)
        if len(values) != len(columns):
            raise ValueError(
                f"Row {row!r} has {len(values)} values; expected {len(columns)}."
            )
        for column, value in zip(columns, values, strict=True):
            cells[row, column] = None if value == "-" else _number(value)
    return cells


def _split(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")]


def _number(text: str) -> Printed:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no printed value; expected as 94.29±0.62.")
    value, spread = match.groups()
    return Printed(float(value), None if spread is None else float(spread), text)
