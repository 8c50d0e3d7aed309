"""``localsvm report``: all about a model in one HTML file."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Any

import typer

from localsvm.cli import _options as options
from localsvm.cli._comparing import compare
from localsvm.cli._models import Model, load_model
from localsvm.cli._outputs import check_output, size_of
from localsvm.cli._rows import read_labelled
from localsvm.cli._screen import Screen
from localsvm.cli._watch import watching
from localsvm.data import Table
from localsvm.inspect import PeerScore, write_report

_NOTED = ("source", "where", "target", "n_rows", "parties", "seed", "created_by")

_Train = Annotated[
    str | None,
    typer.Option(
        "--train",
        metavar="DATA",
        help="Rows of the fit, to describe them and to fit other classifiers to. "
        "Found in DATA itself if the model was fitted with --where to a part of it.",
    ),
]
_Title = Annotated[str | None, typer.Option("--title", help="Of the page.")]
_Peers = Annotated[
    bool,
    typer.Option(
        "--peers/--no-peers", help="Compare with LinearSVC, SVC, gradient boosting."
    ),
]


def report(
    model: options.ModelArgument,
    data: options.DataArgument,
    out: options.OutOption,
    target: options.TargetOption = None,
    where: options.WhereOption = None,
    train: _Train = None,
    title: _Title = None,
    peers: _Peers = True,
    read: options.ReadOption = None,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Write a report on a model and labelled rows that it was not fitted to.

    One HTML file that needs nothing else: data, scores with intervals, regions,
    weights, errors, calibration, and how to use the model.
    """
    screen = Screen(as_json, quiet)
    check_output(out, force=force)
    loaded = load_model(model)
    reading = loaded.reading(None, read) | {"target": target or loaded.target}
    rows = read_labelled(data, **reading | {"where": where})
    fitted_to = _training_rows(loaded, data, where, train, reading)
    noted = {key: loaded.notes[key] for key in _NOTED if loaded.notes.get(key)}
    compared: list[PeerScore] | bool = False
    if peers and fitted_to is not None:
        compared = compare(loaded.fitted, fitted_to, rows, screen)
    with watching(screen, "Writing the report"):
        write_report(
            loaded.fitted,
            rows.X,
            rows.y,
            out,
            X_train=None if fitted_to is None else fitted_to.X,
            y_train=None if fitted_to is None else fitted_to.y,
            title=title,
            peers=compared,
            notes=noted or None,
            model_path=model,
        )
    if fitted_to is None and peers:
        screen.say("No --train: the report has no comparison with other classifiers.")
    document = {"report": out, "bytes": out.stat().st_size, "n_rows": rows.X.shape[0]}
    screen.show(document, f"Report: {out} ({size_of(out)})")


def _training_rows(
    loaded: Model,
    data: str,
    where: str | None,
    train: str | None,
    reading: dict[str, Any],
) -> Table | None:
    """Rows that the model was fitted to, if they are given or can be found."""
    if train is not None:
        return read_labelled(train, **reading | {"where": None})
    noted = loaded.notes.get("where")
    same_file = loaded.notes.get("source") == PurePath(data).name
    if not (isinstance(noted, str) and same_file and noted != where):
        return None
    found = read_labelled(data, **reading | {"where": noted})
    return found if found.X.shape[0] == loaded.notes.get("n_rows") else None
