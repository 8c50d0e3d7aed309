"""All commands, each loaded when it is run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

import localsvm
from localsvm.cli._lazy import (
    SETTINGS,
    Command,
    Group,
    LazyCommands,
    show_help_without_command,
)
from localsvm.cli._old_names import in_new_names

_EPILOG = (
    "Exit codes: 0 done, 1 something is wrong with data or files, 2 called in a wrong "
    "way, 130 interrupted. `localsvm COMMAND --help` shows an example of a command."
)

COMMANDS = (
    Command(
        "demo",
        "Run the whole story once, from a fit to a report.",
        "localsvm demo",
    ),
    Command(
        "sample",
        "Write a small real table that comes with the package, to try the commands on.",
        "localsvm sample adult",
    ),
    Command(
        "fit",
        "Fit a model to a table and write it to a file.",
        "localsvm fit adult.csv.gz --target income --where split=train -o income.lsvm",
    ),
    Command(
        "evaluate",
        "Score a model on labelled rows, with confidence intervals.",
        "localsvm evaluate income.lsvm adult.csv.gz --where split=test",
    ),
    Command(
        "predict",
        "Predict a class for every row.",
        "localsvm predict income.lsvm new.csv -o predictions.csv --keep id",
    ),
    Command(
        "update",
        "Add and remove rows of a model that keeps its rows.",
        "localsvm update income.lsvm --add new.csv --remove gone.csv",
    ),
    Command(
        "explain",
        "Explain the prediction of a row.",
        "localsvm explain income.lsvm adult.csv.gz --row 0",
    ),
    Command(
        "report",
        "Write a report on a model and labelled rows that it was not fitted to.",
        "localsvm report income.lsvm adult.csv.gz -o report.html",
    ),
    Command(
        "export",
        "Write a model as an ONNX graph or C source, which run without this library.",
        "localsvm export income.lsvm -o income.onnx",
    ),
    Command(
        "serve",
        "Serve a model over HTTP, with a page to try a row.",
        "localsvm serve income.lsvm --port 8000",
    ),
    Command(
        "info",
        "Describe a model, recipe, shared summary or ledger file.",
        "localsvm info income.lsvm",
    ),
    Command(
        "compare",
        "Compare a model with LinearSVC, SVC and gradient boosting on the same rows.",
        "localsvm compare auto adult.csv.gz --target income",
    ),
    Group(
        "federated",
        "Learn one model from parties that keep their rows.",
        (
            Command(
                "recipe",
                "Learn an encoding of tables from public rows, for all parties.",
                "localsvm federated recipe public.csv --target outcome -o recipe.lsvm",
                "localsvm.cli._commands.federated.recipe",
            ),
            Command(
                "share",
                "Summarise the rows of a party as clusters that may leave it.",
                "localsvm federated share rows.csv --recipe recipe.lsvm --name clinic "
                "-o clinic.scm",
                "localsvm.cli._commands.federated.share",
            ),
            Command(
                "merge",
                "Learn one model from the clusters of several parties.",
                "localsvm federated merge a.scm b.scm --recipe recipe.lsvm "
                "-o together.lsvm",
                "localsvm.cli._commands.federated.merge",
            ),
        ),
    ),
)


class Localsvm(LazyCommands):
    """The commands of ``localsvm``."""

    listed = COMMANDS

    def in_new_names(self, args: Sequence[str]) -> tuple[list[str], list[str]]:
        """Replace the names of an earlier release."""
        return in_new_names(args)


app = typer.Typer(
    cls=Localsvm,
    help=(localsvm.__doc__ or "").splitlines()[0],
    epilog=_EPILOG,
    pretty_exceptions_enable=False,
    **SETTINGS,
)


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
