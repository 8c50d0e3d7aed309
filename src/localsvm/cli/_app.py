"""All commands."""

from __future__ import annotations

from typing import Annotated

import typer

import localsvm
from localsvm.cli._papers import papers

app = typer.Typer(
    help=localsvm.__doc__, no_args_is_help=True, pretty_exceptions_enable=False
)
app.add_typer(papers, name="papers")


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.")
    ] = False,
) -> None:
    if version:
        typer.echo(f"localsvm {localsvm.__version__}")
        raise typer.Exit
