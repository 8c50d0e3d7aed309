"""``localsvm sample``: a small real table to try the commands on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from localsvm._plain_file import replace_file
from localsvm.cli import _options as options
from localsvm.cli._files._outputs import check_output, size_of
from localsvm.cli._group import misuse
from localsvm.cli._show._screen import Screen
from localsvm.data import read_table, sample_path

_Name = Annotated[str, typer.Argument(metavar="NAME", help="adult")]
_Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="File to write, if not NAME.csv.gz.",
        rich_help_panel=options.OUTPUT,
    ),
]


def sample(
    name: _Name = "adult",
    out: _Out = None,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Write a small real table that comes with the package, to try the commands on.

    adult has 2000 rows of the census table Adult: who earns more than 50,000 dollars a
    year? Its column split says which rows are for training and which for testing.
    """
    screen = Screen("sample", as_json, quiet)
    try:
        source = sample_path(name)
    except ValueError as error:
        misuse(str(error))
    path = Path(f"{name}.csv.gz") if out is None else out
    check_output(path, force=force)
    n_rows, n_columns = read_table(source).X.shape
    replace_file(path, [source.read_bytes()])
    document = {"table": path, "n_rows": n_rows, "n_columns": n_columns}
    text = f"Table: {path} ({size_of(path)}), {n_rows:,} rows and {n_columns} columns."
    screen.show(document, text)
