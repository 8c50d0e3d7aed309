"""``python -m papers``: run and show the papers' tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from benchmarks.environment import use_shared_data

from localsvm._replaced_file import replace_file
from localsvm.cli._group import Commands, misuse
from localsvm.cli._lazy import show_help_without_command
from papers import (
    Experiment,
    Size,
    Store,
    draw_picture,
    drop_old_records,
    find_experiments,
    list_papers,
    run_experiments,
    table_lines,
    write_report,
)

app = typer.Typer(
    cls=Commands,
    help="Run and show the papers' experiments.",
    callback=show_help_without_command,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
)

_Ids = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID...", help="As in `list`; a paper is all of its own."),
]
_SizeOption = Annotated[Size, typer.Option("--size", help="How much is run.")]
_StoreOption = Annotated[Path, typer.Option("--store", help="Folder of the records.")]
_STORE = Path("papers-records")
_OUT = Path("docs/papers")


@app.command("list")
def list_() -> None:
    """List papers and experiments."""
    for paper in list_papers():
        typer.echo(f"{paper.id}: {paper.citation}")
        for experiment in paper.experiments:
            typer.echo(f"  {experiment.id:18} {experiment.title}")


@app.command()
def run(
    ids: _Ids = None,
    size: _SizeOption = Size.STANDARD,
    store: _StoreOption = _STORE,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time.")] = 1,
    prune: Annotated[
        bool, typer.Option("--prune", help="Drop records of old definitions.")
    ] = False,
) -> None:
    """Carry out the runs that have no record yet; without ID all of them.

    Stop it at any time and start it again: a finished run is not done twice.
    """
    use_shared_data()
    chosen = _find(ids)
    summary = run_experiments(chosen, size, Store(store), n_jobs=jobs)
    if prune:
        n_dropped = drop_old_records(chosen, find_experiments(), size, Store(store))
        typer.echo(f"{n_dropped} records of old definitions dropped")
    for name in summary.unavailable:
        typer.echo(f"pending, its method is not there: {name}", err=True)
    for failure in summary.failed:
        typer.echo(f"failed: {failure}", err=True)
    typer.echo(
        f"{summary.n_done} runs done, {summary.n_before} were done before, "
        f"{len(summary.unavailable)} groups pending, {len(summary.failed)} failed; "
        f"records in {store}"
    )
    if summary.failed:
        raise typer.Exit(1)


@app.command()
def show(
    ids: _Ids = None,
    size: _SizeOption = Size.STANDARD,
    store: _StoreOption = _STORE,
    figures: Annotated[
        Path | None, typer.Option(help="Folder to draw the figures in, as PNG.")
    ] = None,
) -> None:
    """Show tables: ours, the printed value, the difference."""
    for experiment in _find(ids):
        lines = list(table_lines(experiment, size, Store(store)))
        if figures is not None:
            lines += _draw(experiment, size, Store(store), figures)
        typer.echo("\n".join(lines))


@app.command()
def report(
    out: Annotated[Path, typer.Option(help="Folder of the pages.")] = _OUT,
    size: _SizeOption = Size.STANDARD,
    store: _StoreOption = _STORE,
) -> None:
    """Write one HTML page and Markdown pages with all tables and figures."""
    files = write_report(out, size, Store(store))
    typer.echo(f"{len(files)} files written; begin with {out / 'index.html'}")


def _find(ids: list[str] | None) -> list[Experiment]:
    try:
        return find_experiments(ids or [])
    except KeyError as error:
        misuse(error.args[0])


def _draw(experiment: Experiment, size: Size, store: Store, folder: Path) -> list[str]:
    picture = draw_picture(experiment, size, store)
    if picture is None:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{experiment.id.replace('/', '-')}.png"
    replace_file(path, [picture])
    return [f"  drawn: {path}"]


if __name__ == "__main__":
    app(prog_name="python -m papers")
