"""``localsvm fit``: a model of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from localsvm.cli import _options as options
from localsvm.cli._fitting import (
    Fitted,
    final_step,
    fit_and_score,
    fit_on_all,
    fit_with_held_out,
    make_encoder,
    make_model,
    tell_rows,
)
from localsvm.cli._methods import Method, make_estimator
from localsvm.cli._notes import held_out_notes, training_notes, where_it_is
from localsvm.cli._outputs import check_output
from localsvm.cli._rows import as_strings, check_classes, column_kinds, read_labelled
from localsvm.cli._screen import Screen
from localsvm.export import save

_MethodOption = Annotated[
    Method,
    typer.Option(
        "--method", "-m", help="How to fit; auto is staged, which asks for nothing."
    ),
]
_MaxTimeOption = Annotated[
    float | None,
    typer.Option(
        "--max-time", min=0.01, help="Seconds of a fit, at most; there may be two."
    ),
]


def fit(
    data: options.DataArgument,
    out: options.OutOption,
    target: options.TargetOption = None,
    method: _MethodOption = Method.AUTO,
    settings: options.SetOption = None,
    where: options.WhereOption = None,
    drop: options.DropOption = None,
    kind: options.KindOption = None,
    test_size: options.TestSizeOption = 0.2,
    test: options.TestOption = None,
    max_time: _MaxTimeOption = None,
    seed: options.SeedOption = 0,
    jobs: options.JobsOption = 1,
    read: options.ReadOption = None,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Fit a model to a table and write it to a file.

    A part of the rows is held out to score the model on; then it is fitted to all rows.
    Columns may be numbers, categories, dates, text or truth values, with values
    missing; how they become numbers is kept in the file.
    """
    screen = Screen(as_json, quiet)
    check_output(out, force=force)
    estimator = make_estimator(
        method, settings or [], seed=seed, jobs=jobs, max_time=max_time
    )
    kinds = column_kinds(kind or [])
    reading: dict[str, Any] = {
        "target": target,
        "read": read or [],
        "strings": as_strings(kinds),
    }
    table = read_labelled(data, where=where, drop=drop or [], **reading)
    check_classes(table, target)
    unseen = None if test is None else read_labelled(test, **reading)
    model = make_model(estimator, make_encoder(table, kinds))
    tell_rows(table, screen)
    if unseen is not None:
        fitted = fit_and_score(model, table, unseen, screen)
    elif test_size:
        fitted = fit_with_held_out(model, table, test_size, seed, screen)
    else:
        fitted = fit_on_all(model, table, screen)
    notes = training_notes(table, target=target, seed=seed, where=where, read=read)
    if fitted.scores is not None:
        notes["held_out"] = held_out_notes(fitted.scores)
    save(fitted.model, out, notes=notes)
    screen.show(_document(out, fitted, notes), _text(out, data, fitted, notes))


def _document(out: Path, fitted: Fitted, notes: dict[str, Any]) -> dict[str, Any]:
    scores = None if fitted.scores is None else fitted.scores.to_dict()
    return {
        "model": out,
        "bytes": out.stat().st_size,
        "method": type(final_step(fitted.model)).__name__,
        "seconds": fitted.seconds,
        "held_out": scores,
        "notes": notes,
    }


def _text(out: Path, data: str, fitted: Fitted, notes: dict[str, Any]) -> str:
    name = type(final_step(fitted.model)).__name__
    lines = [
        f"{name} of {fitted.n_rows:,} rows, {notes['n_columns']} columns and "
        f"{len(notes['classes'])} classes, in {fitted.seconds:.1f} s."
    ]
    if fitted.scores is not None:
        lines += ["", "On rows that it had not seen:", str(fitted.scores)]
    return "\n".join([*lines, "", *where_it_is(out, data)])
