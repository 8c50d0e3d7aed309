"""All commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

import localsvm
from localsvm.cli._bench import bench
from localsvm.cli._demo import demo
from localsvm.cli._evaluate import evaluate
from localsvm.cli._explain import explain
from localsvm.cli._export import export
from localsvm.cli._fit import fit
from localsvm.cli._group import Commands, show_help_without_command
from localsvm.cli._inspect import inspect
from localsvm.cli._merge import merge
from localsvm.cli._predict import predict
from localsvm.cli._recipe import recipe
from localsvm.cli._report import report
from localsvm.cli._sample import sample
from localsvm.cli._serve import serve
from localsvm.cli._share import share
from localsvm.cli._tune import tune

_EPILOG = (
    "Exit codes: 0 done, 1 something is wrong with data or files, 2 called in a wrong "
    "way, 130 interrupted. `localsvm COMMAND --help` has an example of each."
)

_COMMANDS: dict[Callable[..., None], str] = {
    demo: "localsvm demo",
    sample: "localsvm sample adult",
    fit: "localsvm fit adult.csv.gz --target income --where split=train -o income.lsvm",
    tune: "localsvm tune adult.csv.gz --target income --time-budget 60 -o best.lsvm",
    evaluate: "localsvm evaluate income.lsvm adult.csv.gz --where split=test",
    predict: "localsvm predict income.lsvm new.csv -o predictions.csv --keep id",
    explain: "localsvm explain income.lsvm adult.csv.gz --row 0",
    report: "localsvm report income.lsvm adult.csv.gz -o report.html",
    export: "localsvm export income.lsvm --onnx income.onnx",
    serve: "localsvm serve income.lsvm --port 8000",
    inspect: "localsvm inspect income.lsvm",
    recipe: "localsvm recipe public.csv --target outcome -o recipe.lsvm",
    share: "localsvm share rows.csv --recipe recipe.lsvm --name clinic -o clinic.scm",
    merge: "localsvm merge a.scm b.scm --recipe recipe.lsvm -o together.lsvm",
    bench: "localsvm bench auto adult.csv.gz --target income",
}

app = typer.Typer(
    cls=Commands,
    help=localsvm.__doc__,
    epilog=_EPILOG,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
for _command, _example in _COMMANDS.items():
    app.command(epilog=f"Example: {_example}")(_command)


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
