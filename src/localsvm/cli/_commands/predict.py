"""``localsvm predict``: labels of the rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from scipy import sparse
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from localsvm._extras import require
from localsvm.cli import _options as options
from localsvm.cli._files._reading import AS_FOUND, Reading
from localsvm.cli._files._rows import batches_of, naming
from localsvm.cli._files._table_writer import (
    STANDARD_OUTPUT,
    check_table_output,
    table_writer,
)
from localsvm.cli._group import misuse
from localsvm.cli._model._models import Model, load_model
from localsvm.cli._show._screen import Screen
from localsvm.cli._show._watch import watching
from localsvm.data import Table, absent_columns
from localsvm.estimators import CostClassifier
from localsvm.exceptions import DataError

_PREDICTION = "prediction"
# Of the rows that are like the training rows, so many are flagged.
_UNFAMILIAR = 0.01
_ALL = "*"

_Out = Annotated[
    Path,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Table to write: .csv, .tsv (also .gz) or .parquet; - is standard output.",
        rich_help_panel=options.OUTPUT,
    ),
]
_Proba = Annotated[
    bool,
    typer.Option(
        "--proba",
        help="Add the probability of each class.",
        rich_help_panel=options.OUTPUT,
    ),
]
_Scores = Annotated[
    bool,
    typer.Option(
        "--scores", help="Add decision values.", rich_help_panel=options.OUTPUT
    ),
]
_Flags = Annotated[
    bool,
    typer.Option(
        "--flags",
        help="Add how familiar each row is among the training rows of its region (a "
        "p-value), and whether it is at most 1 %.",
        rich_help_panel=options.OUTPUT,
    ),
]
_Cost = Annotated[
    list[str] | None,
    typer.Option(
        "--cost",
        metavar="TRUE:PREDICTED=COST",
        help="Predict the class of the least expected cost. Errors that are not named "
        "cost 1. Repeatable.",
        rich_help_panel=options.OUTPUT,
    ),
]
_Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="COLUMN",
        help="Column of DATA to copy, such as an id; '*' copies all. Repeatable.",
        rich_help_panel=options.OUTPUT,
    ),
]


def predict(
    model: options.ModelArgument,
    data: options.DataArgument,
    out: _Out = STANDARD_OUTPUT,
    proba: _Proba = False,
    scores: _Scores = False,
    flags: _Flags = False,
    cost: _Cost = None,
    keep: _Keep = None,
    where: options.WhereOption = None,
    read: Reading = AS_FOUND,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Predict a class for every row.

    The table needs the same columns as the training table. Rows are read and written in
    batches, so tables may be larger than memory.
    """
    screen = Screen("predict", as_json, quiet)
    check_table_output(out, force=force)
    if as_json and out == STANDARD_OUTPUT:
        misuse("--json needs a file for the predictions: give it with -o.")
    loaded = load_model(model)
    wanted = _wanted(loaded, str(model), _Asked(proba, scores, flags, cost or []))
    reading = loaded.reading(where, read.noted())
    columns = _named(keep or [], data, reading)
    if _PREDICTION in columns:
        misuse(f"--keep {_PREDICTION}: the predictions have that name.")
    reading["strings"] += columns  # kept as they stand in the file
    n_rows = 0
    with watching(screen, "Predicting") as watch, table_writer(out) as write:
        for batch in batches_of(data, **reading):
            with naming(data), _rows_from(n_rows):
                answers = _answers(wanted, batch, columns)
            write(answers)
            n_rows += batch.X.shape[0]
            watch.say(f"{n_rows:,} rows")
    if out != STANDARD_OUTPUT:
        screen.show({"predictions": out, "n_rows": n_rows}, f"{n_rows:,} rows: {out}")


def _named(keep: list[str], data: str, reading: dict[str, Any]) -> list[str]:
    """Names of the columns to copy, of which ``*`` stands for all."""
    if _ALL not in keep:
        return keep
    first = next(batches_of(data, **reading)).X
    return keep if sparse.issparse(first) else [str(name) for name in first.columns]


@dataclass(frozen=True)
class _Asked:
    """What the command line asks for besides the labels."""

    proba: bool
    scores: bool
    flags: bool
    cost: Sequence[str]


@dataclass(frozen=True)
class _Wanted:
    """A model, what decides its labels, and what is asked of it."""

    fitted: Any
    decider: Any
    asked: _Asked


def _wanted(loaded: Model, name: str, asked: _Asked) -> _Wanted:
    """Check that the model gives what is asked for."""
    fitted = decider = loaded.fitted
    option = "--proba" if asked.proba else "--cost"
    if (asked.proba or asked.cost) and not hasattr(fitted, "predict_proba"):
        misuse(
            f"{option}: {name} gives no probabilities, as it holds no decisions on "
            "held-out rows. Take --scores, or fit it again to rows in memory."
        )
    if asked.flags and not hasattr(_last(fitted), "familiarity"):
        misuse(
            f"--flags: {name} keeps no training rows to compare with. Fit it again to "
            "rows in memory, with another method than support-cluster."
        )
    if asked.cost:
        costs = dict(_cost_of(each, fitted.classes_) for each in asked.cost)
        try:
            decider = CostClassifier(FrozenEstimator(fitted), costs).fit(None)
        except DataError as error:
            misuse(f"--cost: {error}")
    return _Wanted(fitted, decider, asked)


def _last(fitted: Any) -> Any:
    return fitted[-1] if isinstance(fitted, Pipeline) else fitted


def _cost_of(  # noqa: RET503, as misuse raises
    text: str, classes: Any
) -> tuple[tuple[Any, Any], float]:
    """Read TRUE:PREDICTED=COST; labels may have colons and equal signs themselves."""
    labels = {str(label): label for label in classes.tolist()}
    pair, _, number = text.rpartition("=")
    for true, label in labels.items():
        predicted = pair[len(true) + 1 :]
        if pair.startswith(f"{true}:") and predicted in labels:
            with suppress(ValueError):
                return (label, labels[predicted]), float(number)
    misuse(
        f"--cost {text} should be TRUE:PREDICTED=COST with a number as cost; the "
        f"classes are {', '.join(labels)}."
    )


def _answers(wanted: _Wanted, batch: Table, keep: Sequence[str]) -> Any:
    pandas = require("pandas", "cli", "localsvm predict")
    fitted, asked = wanted.fitted, wanted.asked
    frame = _kept(batch, keep)
    frame[_PREDICTION] = wanted.decider.predict(batch.X)
    if asked.proba:
        found = fitted.predict_proba(batch.X)
        for label, values in zip(fitted.classes_, found.T, strict=True):
            frame[f"proba_{label}"] = values
    if asked.scores:
        for name, values in _named_scores(fitted, batch.X):
            frame[name] = values
    if asked.flags:
        steps = isinstance(fitted, Pipeline) and len(fitted) > 1
        rows = fitted[:-1].transform(batch.X) if steps else batch.X
        frame["familiarity"] = _last(fitted).familiarity(rows)
        frame["unfamiliar"] = frame["familiarity"] <= _UNFAMILIAR
    return pandas.DataFrame(frame)


def _kept(batch: Table, keep: Sequence[str]) -> dict[str, Any]:
    if not keep:
        return {}
    if sparse.issparse(batch.X):
        misuse(f"--keep {keep[0]}: {batch.source} has no names of columns.")
    absent = absent_columns(keep, list(batch.X.columns))
    if absent:
        raise DataError(f"The table {absent}")
    return {name: batch.X[name] for name in keep}


@contextmanager
def _rows_from(first_row: int) -> Iterator[None]:
    """Say from where the rows of a later batch are counted."""
    try:
        yield
    except DataError as error:
        if not first_row:
            raise
        where = f"Rows are counted from row {first_row:,} on here."
        raise DataError(
            f"{error.message} {where}", parameter=error.parameter, value=error.value
        ) from error


def _named_scores(fitted: Any, X: Any) -> Iterator[tuple[str, Any]]:
    """Decision values of each class; of two classes those of the second."""
    values = fitted.decision_function(X)
    if values.ndim == 1:
        yield f"score_{fitted.classes_[1]}", values
        return
    for label, column in zip(fitted.classes_, values.T, strict=True):
        yield f"score_{label}", column
