"""``localsvm explain``: why a row is predicted as it is."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from scipy import sparse

from localsvm import inspect
from localsvm.cli import _options as options
from localsvm.cli._models import load_model
from localsvm.cli._rows import batches_of, naming
from localsvm.cli._screen import Screen, to_plain
from localsvm.cli._watch import watching
from localsvm.exceptions import DataError

_Rows = Annotated[
    list[int],
    typer.Option("--row", min=0, help="Number of the row, from 0; repeatable."),
]

_Immutable = Annotated[
    list[str] | None,
    typer.Option(
        "--immutable",
        metavar="COLUMN,...",
        help="Columns that the proposed changes must leave alone; repeatable.",
    ),
]


def explain(
    model: options.ModelArgument,
    data: options.DataArgument,
    row: _Rows,
    immutable: _Immutable = None,
    where: options.WhereOption = None,
    read: options.ReadOption = None,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Explain the prediction of a row.

    Which region decided, what each column added, and which changes would change the
    answer. Changes stay within the training data. Rows are counted after --where.
    """
    screen = Screen(as_json, quiet)
    loaded = load_model(model)
    found = []
    fixed = [name.strip() for each in immutable or [] for name in each.split(",")]
    with watching(screen, "Explaining"), naming(data):
        for number in row:
            rows = _find(data, number, loaded.reading(where, read))
            (explanation,) = inspect.explain(loaded.fitted, rows, immutable=fixed)
            label = _label(rows, loaded.target)
            found.append((number, label, explanation))
    document = {
        "model": model,
        "data": data,
        "rows": [
            {"row": number, "label": label, **explanation.to_dict()}
            for number, label, explanation in found
        ],
    }
    screen.show(document, "\n\n".join(_text(*each) for each in found))


def _find(data: str, number: int, reading: dict[str, Any]) -> Any:
    """Table of the row of that number alone; reads no further than that."""
    n_before = 0
    for batch in batches_of(data, **reading):
        n_rows = batch.X.shape[0]
        if number < n_before + n_rows:
            part = slice(number - n_before, number - n_before + 1)
            return batch.X[part] if sparse.issparse(batch.X) else batch.X.iloc[part]
        n_before += n_rows
    raise DataError(f"there is no row {number}: the last is row {n_before - 1}.")


def _label(rows: Any, target: str | None) -> Any:
    """Label that the table itself has, if it has one."""
    if target is None or target not in getattr(rows, "columns", ()):
        return None
    return to_plain(rows[target].iloc[0])


def _text(number: int, label: Any, explanation: inspect.Explanation) -> str:
    known = "" if label is None else f", which the table calls {label}"
    return f"Row {number}{known}\n{explanation}"
