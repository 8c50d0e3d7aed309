"""``localsvm fit``: a model of a table."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from localsvm.cli import _options as options
from localsvm.cli._files._outputs import check_output
from localsvm.cli._files._reading import AS_FOUND, Reading
from localsvm.cli._files._rows import (
    as_strings,
    check_classes,
    column_kinds,
    read_labelled,
    read_rows,
)
from localsvm.cli._methods import AUTO, Method, make_estimator
from localsvm.cli._model._fitting import (
    Fitted,
    encoder_of,
    final_step,
    fit_and_score,
    fit_on_all,
    fit_with_held_out,
    make_encoder,
    make_model,
    scores_text,
    tell_rows,
)
from localsvm.cli._model._notes import held_out_notes, training_notes, where_it_is
from localsvm.cli._model._seen import leave_out, sketch_of
from localsvm.cli._show._screen import Screen
from localsvm.data import RowSketch, Table
from localsvm.exceptions import DataError
from localsvm.export import save

_MethodOption = Annotated[
    Method,
    typer.Option(
        "--method",
        "-m",
        help="Method to use. `auto` selects `staged`, which tunes itself.",
        rich_help_panel=options.MODEL,
    ),
]
_MaxTimeOption = Annotated[
    float | None,
    typer.Option(
        "--max-time",
        min=0.01,
        help="Time limit per fit in seconds. Two fits are run when part of the data is "
        "held out.",
        rich_help_panel=options.RUN,
    ),
]
_ClassWeight = Annotated[
    str | None,
    typer.Option(
        "--class-weight",
        metavar="balanced",
        help="`balanced` gives rare classes the same total weight as frequent ones.",
        rich_help_panel=options.MODEL,
    ),
]
_Refit = Annotated[
    bool,
    typer.Option(
        "--refit/--no-refit",
        help="Refit to all rows after scoring on held-out ones. With --no-refit, "
        "`evaluate` and `report` can score the model on the held-out rows.",
        rich_help_panel=options.MODEL,
    ),
]
_RowSketch = Annotated[
    bool,
    typer.Option(
        "--row-sketch/--no-row-sketch",
        help="Store a sketch of the fitted rows (4 bytes each, at most 16 MB), so that "
        "`evaluate` and `report` recognise them. Anyone who guesses a whole row can "
        "check whether it was one of them.",
        rich_help_panel=options.MODEL,
    ),
]


def fit(
    data: options.DataArgument,
    out: options.OutOption,
    target: options.TargetOption = None,
    method: _MethodOption = AUTO,
    param: options.ParamOption = None,
    class_weight: _ClassWeight = None,
    where: options.WhereOption = None,
    drop: options.DropOption = None,
    column_type: options.ColumnTypeOption = None,
    test_size: options.TestSizeOption = 0.2,
    test: options.TestOption = None,
    refit: _Refit = True,
    row_sketch: _RowSketch = True,
    max_time: _MaxTimeOption = None,
    seed: options.SeedOption = 0,
    jobs: options.JobsOption = options.ALL_CORES,
    read: Reading = AS_FOUND,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Fit a model to a table and write it to a file.

    A fraction of the rows is held out to score the model; then it is fitted to all
    rows. Columns may be numbers, categories, dates, text or booleans, and values may be
    missing. The model file stores how they become numbers.
    """
    screen = Screen("fit", as_json, quiet)
    check_output(out, force=force)
    weight = [] if class_weight is None else [f"class_weight={class_weight}"]
    estimator = make_estimator(
        method, [*(param or []), *weight], seed=seed, jobs=jobs, max_time=max_time
    )
    kinds = column_kinds(column_type or [])
    reading: dict[str, Any] = {"read": read.noted(), "strings": as_strings(kinds)}
    labelled = reading | {"target": target}
    table = read_labelled(data, where=where, drop=drop or [], **labelled)
    check_classes(table, target)
    unseen = None if test is None else read_labelled(test, **labelled)
    encoder = make_encoder(table, kinds, estimator)
    model = make_model(estimator, encoder)
    kept = None if unseen is None else leave_out(table, unseen, encoder)
    tell_rows(table, screen)
    if kept is not None:
        screen.say(f"{test}: {kept.headline}")
        fitted = fit_and_score(model, table, kept.table, screen)
    elif test_size:
        fitted = fit_with_held_out(model, table, test_size, seed, screen, refit=refit)
    else:
        fitted = fit_on_all(model, table, screen)
    notes = training_notes(
        fitted.rows, target=target, seed=seed, where=where, read=read.noted()
    )
    if fitted.scores is not None:
        notes["held_out"] = held_out_notes(fitted.scores)
    notes["cpu_seconds"] = fitted.cpu_seconds
    if fitted.chosen:
        notes["chosen"] = list(fitted.chosen)
    # A model that can be updated is of no use without its rows.
    state = getattr(final_step(fitted.model), "updatable", False)
    sketch = _sketch(fitted, row_sketch)
    save(fitted.model, out, notes=notes, fitted_rows=sketch, state=state)
    report = None
    if test is not None:
        report = f"{quote(test)} --train {quote(data)}"
    elif row_sketch and (
        fitted.rows is not table or _has_more_rows(data, table, where, reading)
    ):
        report = quote(data)
    lines = [*_text(fitted, notes), "", *where_it_is(out, data, report)]
    screen.show(_document(out, fitted, notes), "\n".join(lines))


def _sketch(fitted: Fitted, is_wanted: bool) -> RowSketch | None:
    if not is_wanted:
        return None
    return sketch_of(fitted.rows, encoder_of(fitted.model))


def _has_more_rows(
    data: str, fitted: Table, where: str | None, reading: dict[str, Any]
) -> bool:
    """Whether the table has rows that ``--where`` has left out."""
    if where is None:
        return False
    try:
        everything = read_rows(data, **reading)
    except DataError:  # a file of several arrays needs --where
        return False
    return bool(everything.X.shape[0] > fitted.X.shape[0])


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


def _text(fitted: Fitted, notes: dict[str, Any]) -> list[str]:
    name = type(final_step(fitted.model)).__name__
    lines = [
        f"{name} of {notes['n_rows']:,} rows, {notes['n_columns']} columns and "
        f"{len(notes['classes'])} classes, in {fitted.seconds:.1f} s."
    ]
    if fitted.scores is not None:
        lines += ["", "On rows that it had not seen:", scores_text(fitted.scores)]
    return lines
