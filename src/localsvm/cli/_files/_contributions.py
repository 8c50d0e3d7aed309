"""``localsvm explain --all``: what each column adds, as a table of all rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from localsvm import inspect
from localsvm._extras import require
from localsvm.cli._files._rows import batches_of, naming
from localsvm.cli._files._table_writer import (
    STANDARD_OUTPUT,
    check_table_output,
    table_writer,
)
from localsvm.cli._group import misuse
from localsvm.cli._model._models import Model
from localsvm.cli._show._screen import Screen
from localsvm.cli._show._watch import watching


def check_contributions_output(out: Path, *, as_json: bool, force: bool) -> None:
    """Refuse a file that cannot be written, before the work begins."""
    check_table_output(out, force=force)
    if as_json and out == STANDARD_OUTPUT:
        misuse("--json needs a file for the contributions: give it with -o.")


def write_contributions(
    screen: Screen, loaded: Model, data: str, reading: dict[str, Any], out: Path
) -> None:
    """Write a row of contributions for each row of a table, batch by batch."""
    n_rows = 0
    with watching(screen, "Explaining") as watch, table_writer(out) as write:
        for batch in batches_of(data, **reading):
            with naming(data):
                frame = _frame(loaded.fitted, batch.X)
            write(frame)
            n_rows += len(frame)
            watch.say(f"{n_rows:,} rows")
    if out != STANDARD_OUTPUT:
        screen.show({"contributions": out, "n_rows": n_rows}, f"{n_rows:,} rows: {out}")


def _frame(fitted: Any, X: Any) -> Any:
    """Prediction, decision value and its parts; of several classes, the predicted."""
    pandas = require("pandas", "cli", "localsvm explain")
    found = inspect.contributions(fitted, X)
    labels = np.asarray(fitted.predict(X))
    parts, base, together = found.values, found.base, found.together
    if parts.ndim == 3:
        winner = np.searchsorted(found.classes, labels)
        rows = np.arange(len(labels))
        parts, base = parts[rows, :, winner], base[rows, winner]
        together = together[rows, winner]
    columns = {
        f"contribution_{name}": each
        for name, each in zip(found.names, parts.T, strict=True)
    }
    return pandas.DataFrame(
        {
            "prediction": labels,
            "decision": base + parts.sum(axis=1) + together,
            "base": base,
            "together": together,
            **columns,
        }
    )
