"""All commands."""

from __future__ import annotations

from typing import Annotated

import typer

import localsvm
from localsvm.cli._group import Commands, show_help_without_command
from localsvm.cli._papers import papers

_EPILOG = (
    "Exit codes: 0 done, 1 something is wrong with data or files, 2 called in a wrong "
    "way, 130 interrupted. `localsvm COMMAND --help` has an example of each."
)

app = typer.Typer(
    cls=Commands,
    help=localsvm.__doc__,
    epilog=_EPILOG,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.add_typer(papers, name="papers")


@app.callback(invoke_without_command=True)
def _main(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.")
    ] = False,
) -> None:
    if version:
        typer.echo(f"localsvm {localsvm.__version__}")
        raise typer.Exit
    show_help_without_command(context)
