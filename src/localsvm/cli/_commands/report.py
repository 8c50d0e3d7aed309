"""``localsvm report``: all about a model in one HTML file."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from localsvm.cli import _options as options
from localsvm.cli._files._outputs import check_output, size_of
from localsvm.cli._files._reading import AS_FOUND, Reading
from localsvm.cli._files._rows import read_labelled
from localsvm.cli._model._models import load_model
from localsvm.cli._model._notes import NOTED
from localsvm.cli._model._seen import choose_rows, find_fitted_rows, sketch_of
from localsvm.cli._show._peers import compare_models
from localsvm.cli._show._screen import Screen
from localsvm.cli._show._watch import watching
from localsvm.inspect import PeerScore, write_report

_Train = Annotated[
    str | None,
    typer.Option(
        "--train",
        metavar="TABLE",
        help="Table with the training rows, to describe them and to fit other "
        "classifiers to them. Not needed if they are in DATA.",
        rich_help_panel=options.DATA,
    ),
]
_Title = Annotated[
    str | None,
    typer.Option("--title", help="Title of the page.", rich_help_panel=options.OUTPUT),
]
_Peers = Annotated[
    bool,
    typer.Option(
        "--peers/--no-peers",
        help="Compare with LinearSVC, SVC and gradient boosting.",
        rich_help_panel=options.RUN,
    ),
]


def report(
    model: options.ModelArgument,
    data: options.DataArgument,
    out: options.OutOption,
    target: options.TargetOption = None,
    where: options.WhereOption = None,
    train: _Train = None,
    training_rows: options.TrainingRowsOption = False,
    title: _Title = None,
    peers: _Peers = True,
    read: Reading = AS_FOUND,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Write a report on a model and labelled rows that it was not fitted to.

    One HTML file that needs nothing else: data, scores with intervals, regions,
    weights, errors, calibration, and how to use the model. Rows of DATA that the model
    was fitted to are recognised and left out.
    """
    screen = Screen("report", as_json, quiet)
    check_output(out, force=force)
    loaded = load_model(model)
    reading = loaded.reading(None, read.noted()) | {"target": target or loaded.target}
    table = read_labelled(data, **reading | {"where": where})
    trained = None if train is None else read_labelled(train, **reading)
    known = loaded.fitted_rows
    if known is None and trained is not None:
        known = sketch_of(trained, loaded.encoder)
    rows = choose_rows(loaded, table, training_rows=training_rows, fitted_rows=known)
    fitted_to = find_fitted_rows(loaded, data, where, trained or rows.left_out, reading)
    compared: list[PeerScore] | bool = peers
    if peers and fitted_to is not None and rows.are in ("unseen", "unknown"):
        spent = loaded.notes.get("cpu_seconds")
        spent = spent if isinstance(spent, float) and spent > 0 else None
        compared = compare_models(
            loaded.fitted, fitted_to, rows.table, screen, fit_seconds=spent
        )
    with watching(screen, "Writing the report"):
        write_report(
            loaded.fitted,
            rows.table.X,
            rows.table.y,
            out,
            X_train=None if fitted_to is None else fitted_to.X,
            y_train=None if fitted_to is None else fitted_to.y,
            fitted_rows=known,
            title=title,
            peers=compared,
            notes=_in_words(loaded.notes) or None,
            model_path=model,
        )
    if fitted_to is None and peers:
        screen.say(
            "No comparison with other classifiers: it needs all rows of the fit, in "
            "DATA or as --train."
        )
    document = {
        "rows": rows.to_dict(),
        "report": out,
        "bytes": out.stat().st_size,
        "n_rows": rows.table.X.shape[0],
    }
    screen.show(document, f"{rows.headline}\n\nReport: {out} ({size_of(out)})")


def _in_words(notes: dict[str, Any]) -> dict[str, Any]:
    """Name what is noted as a reader would."""
    noted = {words: notes.get(key) for key, words in NOTED.items()}
    return {words: _shown(value) for words, value in noted.items() if value is not None}


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,.10g}" if isinstance(value, int | float) else str(value)
