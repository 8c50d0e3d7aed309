"""``localsvm update``: rows in and out of a model."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from localsvm.cli import _options as options
from localsvm.cli._files._reading import AS_FOUND, Reading
from localsvm.cli._files._rows import naming, read_labelled
from localsvm.cli._group import misuse
from localsvm.cli._model._models import load_model
from localsvm.cli._show._screen import Screen
from localsvm.cli._show._watch import watching
from localsvm.data import Table
from localsvm.export import UpdatableFile

_Add = Annotated[
    str | None,
    typer.Option(
        "--add", metavar="TABLE", help="Rows to add.", rich_help_panel=options.DATA
    ),
]
_Remove = Annotated[
    str | None,
    typer.Option(
        "--remove",
        metavar="TABLE",
        help="Rows to remove, with the values and labels that they were added with.",
        rich_help_panel=options.DATA,
    ),
]
_Checkpoint = Annotated[
    bool,
    typer.Option(
        "--checkpoint",
        help="Write the whole model anew and empty its journal, which holds the rows "
        "of earlier updates.",
        rich_help_panel=options.OUTPUT,
    ),
]


def update(
    model: options.ModelArgument,
    add: _Add = None,
    remove: _Remove = None,
    target: options.TargetOption = None,
    where: options.WhereOption = None,
    checkpoint: _Checkpoint = False,
    read: Reading = AS_FOUND,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Add and remove rows of a model that keeps its rows.

    Fit it with -p updatable=true. All rows of a command are changed, or none; the
    certificate of the model then covers the rows that are present. Changes go to a
    journal beside the model file, and become part of the file when there are many.
    """
    screen = Screen("update", as_json, quiet)
    if add is None and remove is None and not checkpoint:
        misuse("Nothing to do: give rows with --add or --remove, or --checkpoint.")
    loaded = load_model(model)
    reading = loaded.reading(where, read.noted())
    names = {"add": add, "remove": remove}
    tables: dict[str, Table | None] = {
        side: None
        if name is None
        else read_labelled(name, target=target or loaded.target, **reading)
        for side, name in names.items()
    }
    document: dict[str, Any] = {"model": model}
    lines = []
    with UpdatableFile(model) as file, watching(screen, "Updating"):
        if add is not None or remove is not None:
            with naming(" and ".join(name for name in names.values() if name)):
                report = file.update(
                    **{
                        side: None if table is None else (table.X, table.y)
                        for side, table in tables.items()
                    }
                )
            document |= vars(report)
            lines.append(
                f"{report.n_added:,} rows added, {report.n_removed:,} removed; "
                f"{report.n_rows:,} distinct rows, duality gap "
                f"{report.duality_gap:.1e}, {report.seconds:.2f} s."
            )
        if checkpoint:
            file.checkpoint()
            lines.append(f"{model} has all updates.")
    screen.show(document, "\n".join(lines))
