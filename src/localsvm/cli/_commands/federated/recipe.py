"""``localsvm federated recipe``: one encoding of tables for several parties."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.cli import _options as options
from localsvm.cli._files._outputs import check_output, size_of
from localsvm.cli._files._reading import AS_FOUND, Reading
from localsvm.cli._files._rows import (
    STRING_KINDS,
    as_strings,
    check_classes,
    column_kinds,
    naming,
    read_labelled,
)
from localsvm.cli._model._notes import training_notes
from localsvm.cli._show._columns import column_lines, columns_of
from localsvm.cli._show._screen import Screen, to_plain
from localsvm.data import TableEncoder
from localsvm.exceptions import DataError
from localsvm.export import describe_file, load, save

_MOST_DEVIATIONS = 3.0


@dataclass(frozen=True, eq=False)
class Recipe:
    """An encoding that parties agreed on, with its column and names of classes.

    Parameters
    ----------
    encoder : TableEncoder
    target : str or None
    labels : ndarray
        Classes of the public rows.
    read : list of str
        Options of reading the public rows.
    """

    encoder: TableEncoder
    target: str | None
    labels: NDArray[Any]
    read: list[str]

    @property
    def strings(self) -> list[str]:
        """Columns that are read as strings, even if they look like numbers."""
        columns = self.encoder.columns_
        return [column.name for column in columns if column.kind in STRING_KINDS]

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lowest and highest value of each feature, which depend on the recipe alone.

        Numbers, dates and text reach three standard deviations of the public rows.
        """
        ranges = [
            _range_of(column, suffix)
            for column in self.encoder.columns_
            for suffix in column.suffixes
        ]
        low, high = np.array(ranges, dtype=np.float64).reshape(-1, 2).T
        return low, high


def _range_of(column: Any, suffix: str) -> tuple[float, float]:
    if suffix.endswith(("_sin", "_cos")) and column.kind == "date":
        return -1.0, 1.0
    if column.kind in ("category", "boolean") or suffix.startswith("="):
        return 0.0, 1.0
    return -_MOST_DEVIATIONS, _MOST_DEVIATIONS


def recipe(
    data: options.DataArgument,
    out: options.OutOption,
    target: options.TargetOption = None,
    where: options.WhereOption = None,
    drop: options.DropOption = None,
    column_type: options.ColumnTypeOption = None,
    read: Reading = AS_FOUND,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Learn an encoding of tables from public rows, for all parties.

    Parties that `share` clusters must encode their rows alike. Use rows that everybody
    may see: the recipe holds means, spreads, ranges and categories of the columns.
    """
    screen = Screen("federated recipe", as_json, quiet)
    check_output(out, force=force)
    kinds = column_kinds(column_type or [])
    rows = read_labelled(
        data,
        target=target,
        where=where,
        drop=drop or [],
        read=read.noted(),
        strings=as_strings(kinds),
    )
    check_classes(rows, target)
    with naming(data):
        encoder = TableEncoder(kinds=kinds or None, sparse_output=False).fit(rows.X)
    notes = training_notes(rows, target=target, seed=0, where=where, read=read.noted())
    notes["labels"] = to_plain(np.unique(np.asarray(rows.y)))
    save(encoder, out, notes=notes)
    columns = columns_of(encoder)
    lines = [*column_lines(columns), ""]
    lines.append(f"Recipe: {out} ({size_of(out)}). Give it to all parties.")
    screen.show({"recipe": out, "columns": columns, "notes": notes}, "\n".join(lines))


def load_recipe(path: Path) -> Recipe:
    """Read what the command has written."""
    notes = describe_file(path).notes
    encoder = load(path)
    if not isinstance(encoder, TableEncoder):
        raise DataError(
            f"{path} holds a {type(encoder).__name__}; expected a recipe, as "
            "`localsvm federated recipe` writes it."
        )
    notes = notes if isinstance(notes, dict) else {}
    target, labels, read = (notes.get(k) for k in ("target", "labels", "read"))
    return Recipe(
        encoder,
        target if isinstance(target, str) else None,
        np.asarray(labels if isinstance(labels, list) else []),
        [str(each) for each in read] if isinstance(read, list) else [],
    )
