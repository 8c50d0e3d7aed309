"""Rows that a model was fitted to: recognised, and not scored as if they were new."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from localsvm.cli._files._rows import naming, read_labelled
from localsvm.cli._files._split import take_rows
from localsvm.cli._model._models import Model
from localsvm.data import Overlap, RowSketch, Table, TableEncoder, row_hashes
from localsvm.exceptions import DataError

_COPIES = 0.01


@dataclass(frozen=True, eq=False)
class Scored:
    """Rows to score, and what a reader must know of them first.

    Parameters
    ----------
    table : Table
        The rows to score.
    headline : str
        One sentence: how many were in the fit.
    are : {"unseen", "training", "mixed", "unknown"}
    n_given : int
        Rows of the table that was given.
    n_in_fit : int or None
        Those that equal rows of the fit; None if that is not known.
    left_out : Table or None
        Rows of the fit that are not scored.
    """

    table: Table
    headline: str
    are: str
    n_given: int
    n_in_fit: int | None = None
    left_out: Table | None = None

    def to_dict(self) -> dict[str, Any]:
        """Describe the rows for programs."""
        return {
            "headline": self.headline,
            "are": self.are,
            "n_given": self.n_given,
            "n_in_fit": self.n_in_fit,
            "n_scored": int(self.table.X.shape[0]),
        }


def sketch_of(table: Table, encoder: TableEncoder | None) -> RowSketch:
    """Record the rows of a table."""
    return RowSketch.of(hashes_of(table, encoder))


def hashes_of(table: Table, encoder: TableEncoder | None) -> Any:
    """Hashes of rows and labels; what is wrong with a row comes with the source."""
    with naming(table.source):
        return row_hashes(table.X, table.y, encoder)


def choose_rows(
    loaded: Model,
    table: Table,
    *,
    training_rows: bool,
    fitted_rows: RowSketch | None = None,
) -> Scored:
    """Leave out the rows that the model was fitted to, or say that they are scored.

    Parameters
    ----------
    loaded : Model
    table : Table
    training_rows : bool
        Whether rows of the fit are to be scored, too.
    fitted_rows : RowSketch, default=None
        Rows of the fit, if the model file does not know them.
    """
    sketch = loaded.fitted_rows or fitted_rows
    n_rows = int(table.X.shape[0])
    if sketch is None:
        return Scored(table, _unknown(n_rows, loaded), "unknown", n_rows)
    overlap = sketch.compare(hashes_of(table, loaded.encoder))
    found: dict[str, Any] = {"n_given": n_rows, "n_in_fit": overlap.n_seen}
    if overlap.is_chance:
        return Scored(table, str(overlap), "unseen", **found)
    if training_rows:
        are = "training" if overlap.n_seen == n_rows else "mixed"
        return Scored(table, str(overlap), are, **found)
    if overlap.n_seen == n_rows:
        raise DataError(_refusal(loaded, table))
    return Scored(
        take_rows(table, np.flatnonzero(~overlap.seen)),
        _others(overlap),
        "unseen",
        left_out=take_rows(table, np.flatnonzero(overlap.seen)),
        **found,
    )


def leave_out(train: Table, test: Table, encoder: TableEncoder | None) -> Scored:
    """Leave those rows of a test table out that the training table has, too."""
    sketch = sketch_of(train, encoder)
    overlap = sketch.compare(hashes_of(test, encoder))
    found: dict[str, Any] = {"n_given": overlap.n_rows, "n_in_fit": overlap.n_seen}
    if overlap.is_chance:
        return Scored(test, str(overlap), "unseen", **found)
    if overlap.n_seen == overlap.n_rows:
        raise DataError(
            f"{test.source}: all {overlap.n_rows:,} rows are in {train.source}, too; "
            "expected rows that the model is not fitted to."
        )
    kept = take_rows(test, np.flatnonzero(~overlap.seen))
    return Scored(kept, _others(overlap), "unseen", **found)


def find_fitted_rows(
    loaded: Model,
    data: str,
    where: str | None,
    candidates: Table | None,
    reading: dict[str, Any],
) -> Table | None:
    """Rows that the model was fitted to, all of them and no others; or None.

    Parameters
    ----------
    loaded : Model
    data : str
        Table in which they may be.
    where : str or None
        Rows of it that are scored.
    candidates : Table or None
        Where they are, if that is known.
    reading : dict
        How to read the table.
    """
    noted = loaded.notes.get("where")
    if candidates is None and isinstance(noted, str) and noted != where:
        if loaded.notes.get("source") != PurePath(data).name:
            return None
        candidates = read_labelled(data, **reading | {"where": noted})
    elif candidates is None and where is not None and loaded.fitted_rows is not None:
        candidates = read_labelled(data, **reading)
    if candidates is None:
        return None
    sketch = loaded.fitted_rows
    if sketch is None:
        n_fitted = loaded.notes.get("n_rows", candidates.X.shape[0])
        return candidates if candidates.X.shape[0] == n_fitted else None
    seen = sketch.contains(hashes_of(candidates, loaded.encoder))
    # Other rows that equal fitted ones are copies, which change little.
    most = sketch.n_rows * (1 + _COPIES)
    if not sketch.n_rows <= seen.sum() <= most:
        return None
    return take_rows(candidates, np.flatnonzero(seen))


def _unknown(n_rows: int, loaded: Model) -> str:
    return (
        f"{_rows(n_rows)}; {loaded.path.name} has no record of the rows it was fitted "
        "to, so training rows among these cannot be recognised."
    )


def _others(overlap: Overlap) -> str:
    return (
        f"{_rows(overlap.n_rows - overlap.n_seen)} that were not in the fit; "
        f"{overlap.n_seen:,} of {overlap.n_rows:,} rows were, and are left out."
    )


def _refusal(loaded: Model, table: Table) -> str:
    return (
        f"{table.source}: all {_rows(int(table.X.shape[0]))} were in the fit of "
        f"{loaded.path.name}, and scores on them are too good"
        f"{_held_out(loaded.notes)}. Give rows that it was not fitted to, or "
        "--training-rows to score these."
    )


def _held_out(notes: dict[str, Any]) -> str:
    try:
        return f"; on held-out rows its accuracy was {held_out_accuracy(notes):.4f}"
    except (KeyError, TypeError, ValueError):
        return ""


def held_out_accuracy(notes: dict[str, Any]) -> float:
    """Accuracy that a file of anybody notes."""
    return float(notes["held_out"]["accuracy"]["value"])


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
