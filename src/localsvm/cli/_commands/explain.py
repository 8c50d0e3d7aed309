"""``localsvm explain``: why a row is predicted as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from scipy import sparse

from localsvm import inspect
from localsvm.cli import _options as options
from localsvm.cli._files._contributions import (
    check_contributions_output,
    write_contributions,
)
from localsvm.cli._files._reading import AS_FOUND, Reading
from localsvm.cli._files._rows import batches_of, naming
from localsvm.cli._files._table_writer import STANDARD_OUTPUT
from localsvm.cli._group import misuse
from localsvm.cli._model._models import load_model
from localsvm.cli._show._screen import Screen, to_plain
from localsvm.cli._show._watch import watching
from localsvm.exceptions import DataError

_MOST_ROWS = 10

_Rows = Annotated[
    list[int] | None,
    typer.Option(
        "--row",
        min=0,
        help="Number of the row, from 0, counted after --where; repeatable. Not needed "
        "if --where leaves few rows.",
        rich_help_panel=options.DATA,
    ),
]

_Immutable = Annotated[
    list[str] | None,
    typer.Option(
        "--immutable",
        metavar="COLUMN,...",
        help="Columns that the proposed changes must leave alone; repeatable.",
        rich_help_panel=options.OUTPUT,
    ),
]

_All = Annotated[
    bool,
    typer.Option(
        "--all",
        help="Write what each column adds to the decision of every row, as a table "
        "(-o), instead of a text.",
        rich_help_panel=options.OUTPUT,
    ),
]
_Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Table of --all: .csv, .tsv (also .gz) or .parquet; else standard output.",
        rich_help_panel=options.OUTPUT,
    ),
]


def explain(
    model: options.ModelArgument,
    data: options.DataArgument,
    where: options.WhereOption = None,
    row: _Rows = None,
    immutable: _Immutable = None,
    all_rows: _All = False,
    out: _Out = None,
    read: Reading = AS_FOUND,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Explain the prediction of a row.

    Shows which region decided, what each column added, and which changes would change
    the prediction. Changes stay within the range of the training data. Choose a row by
    its key, as --where id=4711, or by its number, as --row 0. With --all, only what
    each column added is written, for every row.
    """
    screen = Screen("explain", as_json, quiet)
    if all_rows:
        if row is not None or immutable is not None:
            misuse(
                "--all writes all rows, without changes; leave out --row, --immutable."
            )
        table = STANDARD_OUTPUT if out is None else out
        check_contributions_output(table, as_json=as_json, force=force)
        loaded = load_model(model)
        reading = loaded.reading(where, read.noted())
        write_contributions(screen, loaded, data, reading, table)
        return
    if out is not None:
        misuse("-o is the table of --all; a text goes to standard output.")
    loaded = load_model(model)
    found = []
    if row is None and where is None:
        misuse(
            "Choose a row: --where COLUMN=VALUE, for instance id=4711, or --row 0; or "
            "all of them: --all."
        )
    fixed = [name.strip() for each in immutable or [] for name in each.split(",")]
    with watching(screen, "Explaining"), naming(data):
        reading = loaded.reading(where, read.noted())
        for number in _all_rows(data, reading) if row is None else row:
            rows = _find(data, number, reading)
            (explanation,) = inspect.explain(loaded.fitted, rows, immutable=fixed)
            label = _label(rows, loaded.target)
            found.append((number, label, explanation))
    document = {
        "model": model,
        "data": data,
        "rows": [
            {"row": number, "label": label, **explanation.to_dict()}
            for number, label, explanation in found
        ],
    }
    screen.show(document, "\n\n".join(_text(*each) for each in found))


def _all_rows(data: str, reading: dict[str, Any]) -> range:
    """Numbers of the rows that ``--where`` leaves, if they are few."""
    n_rows = 0
    for batch in batches_of(data, **reading):
        n_rows += batch.X.shape[0]
        if n_rows > _MOST_ROWS:
            raise DataError(
                f"--where leaves more than {_MOST_ROWS} rows; expected a value that "
                "fewer rows have, or the number of a row as --row 0."
            )
    return range(n_rows)


def _find(data: str, number: int, reading: dict[str, Any]) -> Any:
    """Table of the row of that number; reads no further."""
    n_before = 0
    for batch in batches_of(data, **reading):
        n_rows = batch.X.shape[0]
        if number < n_before + n_rows:
            part = slice(number - n_before, number - n_before + 1)
            return batch.X[part] if sparse.issparse(batch.X) else batch.X.iloc[part]
        n_before += n_rows
    raise DataError(f"there is no row {number}: the last is row {n_before - 1}.")


def _label(rows: Any, target: str | None) -> Any:
    """Label that the table itself has, if it has one."""
    if target is None or target not in getattr(rows, "columns", ()):
        return None
    return to_plain(rows[target].iloc[0])


def _text(number: int, label: Any, explanation: inspect.Explanation) -> str:
    known = "" if label is None else f", labelled {label} in the table"
    return f"Row {number}{known}\n{explanation}"
