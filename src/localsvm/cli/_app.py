"""All commands, each loaded when it is run."""

from __future__ import annotations

from typing import Annotated

import typer

import localsvm
from localsvm.cli._group import Command, LazyCommands, show_help_without_command

_EPILOG = (
    "Exit codes: 0 done, 1 something is wrong with data or files, 2 called in a wrong "
    "way, 130 interrupted. `localsvm COMMAND --help` has an example of each."
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
        "Write a model as an ONNX graph, which runs without Python and this library.",
        "localsvm export income.lsvm --onnx income.onnx",
    ),
    Command(
        "serve",
        "Serve a model over HTTP, with a page to try a row.",
        "localsvm serve income.lsvm --port 8000",
    ),
    Command(
        "inspect",
        "Describe a model, recipe, shared summary or ledger file.",
        "localsvm inspect income.lsvm",
    ),
    Command(
        "recipe",
        "Learn from public rows how tables become numbers, for parties that share.",
        "localsvm recipe public.csv --target outcome -o recipe.lsvm",
    ),
    Command(
        "share",
        "Summarise rows as clusters that may leave, and write them to a file.",
        "localsvm share rows.csv --recipe recipe.lsvm --name clinic -o clinic.scm",
    ),
    Command(
        "merge",
        "Learn one model from the clusters of several parties, who keep their rows.",
        "localsvm merge a.scm b.scm --recipe recipe.lsvm -o together.lsvm",
    ),
    Command(
        "bench",
        "Compare a model with LinearSVC, SVC and gradient boosting on the same rows.",
        "localsvm bench auto adult.csv.gz --target income",
    ),
)


class Localsvm(LazyCommands):
    """The commands of ``localsvm``."""

    listed = COMMANDS


app = typer.Typer(
    cls=Localsvm,
    help=localsvm.__doc__,
    epilog=_EPILOG,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
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
