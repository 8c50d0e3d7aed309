"""A model of a table: split, fit, score, fit again to all rows."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from localsvm.cli._files._rows import naming
from localsvm.cli._files._split import split_rows
from localsvm.cli._group import misuse
from localsvm.cli._show._screen import Screen
from localsvm.cli._show._watch import watching
from localsvm.data import DroppedColumn, Table, TableEncoder, split_kind
from localsvm.estimators import method_of
from localsvm.exceptions import DataError
from localsvm.inspect import REMEDY, Scores, cpu_seconds, score_model

TABLE_STEP = "table"
MODEL_STEP = "model"


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted model and how good it is.

    Parameters
    ----------
    model : Pipeline or estimator
    scores : Scores or None
        On rows that were held out when it was scored.
    rows : Table
        Rows that the model was fitted to.
    seconds, cpu_seconds : float
        Of all fits, on the clock and of CPU.
    chosen : tuple of str, default=()
        Parameters that a first fit chose, and that the last one was given.
    """

    model: Any
    scores: Scores | None
    rows: Table
    seconds: float
    cpu_seconds: float
    chosen: tuple[str, ...] = ()


def make_encoder(
    table: Table, kinds: Mapping[str, str], estimator: Any
) -> TableEncoder | None:
    """Make an encoder that takes the table; None if its rows are sparse numbers.

    It gives what the estimator takes best. It is fitted once to all rows, though later
    to parts of them, so that what is wrong with a column is known at once, and by the
    number of the row in the table.
    """
    if sparse.issparse(table.X):
        return None
    encoding = "codes" if _takes_codes(estimator) else "features"
    _check_kinds(kinds, encoding, estimator)
    with naming(table.source):
        encoder = TableEncoder(kinds=dict(kinds) or None, encoding=encoding)
        encoder.fit(table.X)
    # A part of the rows may not show that a column numbers them.
    encoder.kinds = {**kinds, **dict.fromkeys(_identifiers(encoder), "drop")} or None
    return encoder


def _takes_codes(estimator: Any) -> bool:
    method = method_of(estimator)
    return method is not None and method.takes_codes


def _check_kinds(kinds: Mapping[str, str], encoding: str, estimator: Any) -> None:
    """Refuse kinds that the method cannot take."""
    for name, kind in kinds.items():
        try:
            split_kind(kind, encoding)
        except DataError as error:
            method = type(estimator).__name__
            misuse(f"--column-type {name}={kind}: not a kind for {method}; {error}.")


def _identifiers(encoder: TableEncoder) -> list[str]:
    return [
        column.name
        for column in encoder.columns_
        if isinstance(column, DroppedColumn) and column.reason == "identifier"
    ]


def make_model(estimator: Any, encoder: TableEncoder | None) -> Any:
    """Put the encoder, if there is one, before the estimator."""
    if encoder is None:
        return estimator
    return Pipeline([(TABLE_STEP, encoder), (MODEL_STEP, estimator)])


def tell_rows(table: Table, screen: Screen) -> None:
    """Say what was read."""
    n_rows, n_columns = table.X.shape
    n_classes = len(np.unique(np.asarray(table.y)))
    screen.say(
        f"{table.source}: {n_rows:,} rows, {n_columns} columns, {n_classes} classes"
    )


def fit_on_all(model: Any, table: Table, screen: Screen) -> Fitted:
    """Fit a model to all rows."""
    start, cpu_start = time.perf_counter(), cpu_seconds()
    _fit(model, table.X, table.y, screen)
    spent = time.perf_counter() - start, cpu_seconds() - cpu_start
    return Fitted(model, None, table, *spent)


def fit_and_score(model: Any, table: Table, test: Table, screen: Screen) -> Fitted:
    """Fit a model to the rows of one table and score it on those of another."""
    fitted = fit_on_all(model, table, screen)
    scores = score(model, test, screen)
    return replace(fitted, scores=scores)


def fit_with_held_out(
    model: Any,
    table: Table,
    test_size: float,
    seed: int,
    screen: Screen,
    *,
    refit: bool = True,
) -> Fitted:
    """Score a model of a part of the rows on the others, then perhaps fit it to all.

    What the model has chosen on the part is kept, so that the choice is not made anew.
    """
    train, test = split_rows(table, test_size, seed)
    trial = fit_and_score(model, train, test, screen)
    if not refit:
        return trial
    chosen = _chosen(model)
    again = clone(model)
    final_step(again).set_params(**chosen)
    final = fit_on_all(again, table, screen)
    return replace(
        final,
        scores=trial.scores,
        seconds=trial.seconds + final.seconds,
        cpu_seconds=trial.cpu_seconds + final.cpu_seconds,
        chosen=tuple(chosen),
    )


def score(model: Any, table: Table, screen: Screen) -> Scores:
    """Score a model on the rows of a table."""
    rows = f"{table.X.shape[0]:,} rows"
    with watching(screen, f"Scoring {rows}"), naming(table.source):
        return score_model(model, table.X, table.y)


def scores_text(scores: Scores) -> str:
    """Write scores as a table, with what may help in the words of ``fit``."""
    return str(scores).replace(REMEDY, "--class-weight balanced")


def _fit(model: Any, X: Any, y: Any, screen: Screen) -> None:
    name = type(final_step(model)).__name__
    with watching(screen, f"Fitting {name} to {X.shape[0]:,} rows"):
        encoder = encoder_of(model)
        if encoder is None or encoder.encoding == "features":
            model.fit(X, y)
        else:
            _fit_to_codes(encoder, final_step(model), X, y)


def _fit_to_codes(encoder: TableEncoder, estimator: Any, X: Any, y: Any) -> None:
    """Fit the steps of a pipeline, the first of which tells the last one of codes."""
    rows = encoder.fit_transform(X)
    categorical = encoder.categorical_features_.tolist()
    estimator.set_params(categorical_features=categorical).fit(rows, y)


def _chosen(model: Any) -> dict[str, Any]:
    """Parameters that a fitted model chose for itself, not those it was given."""
    last = final_step(model)
    given = last.get_params(deep=False)
    best: dict[str, Any] = getattr(last, "best_params_", {})
    return {
        name: value
        for name, value in best.items()
        if not (type(given.get(name)) is type(value) and given.get(name) == value)
    }


def first_step(model: Any) -> Any:
    """Give the encoder of a pipeline, or the model itself."""
    return model[0] if isinstance(model, Pipeline) else model


def encoder_of(model: Any) -> TableEncoder | None:
    """Give the encoder of a pipeline that takes tables, else None."""
    first = first_step(model)
    return first if isinstance(first, TableEncoder) else None


def final_step(model: Any) -> Any:
    """Estimator of a pipeline, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model
