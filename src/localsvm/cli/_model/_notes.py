"""Notes in a model file, and how they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath
from shlex import quote
from typing import Any

import numpy as np

import localsvm
from localsvm.cli._files._outputs import size_of
from localsvm.cli._show._screen import to_plain
from localsvm.data import Table
from localsvm.inspect import Scores

# What readers call the entries.
NOTED = {
    "source": "fitted to",
    "where": "rows",
    "n_rows": "number of rows",
    "target": "target",
    "parties": "parties",
    "seed": "seed",
    "chosen": "chosen on held-out rows",
    "created_by": "fitted by",
}


def training_notes(
    table: Table,
    *,
    target: str | None,
    seed: int,
    where: str | None = None,
    read: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Where a model comes from; of the data only the name, without its folder."""
    labels, counts = np.unique(np.asarray(table.y), return_counts=True)
    names = [str(to_plain(label)) for label in labels]
    return {
        "created_by": f"localsvm {localsvm.__version__}",
        "source": PurePath(table.source).name,
        "where": where,
        "read": list(read or []),
        "target": target,
        "classes": dict(zip(names, counts.tolist(), strict=True)),
        "n_rows": int(table.X.shape[0]),
        "n_columns": int(table.X.shape[1]),
        "seed": seed,
    }


def held_out_notes(scores: Scores) -> dict[str, Any]:
    """Scores of the whole, and on how many rows."""
    summary = {name: score._asdict() for name, score in scores.summary().items()}
    level = scores.confidence_level
    return {"n_rows": scores.n_rows, "confidence_level": level, **summary}


def where_it_is(out: Path, data: str, report: str | None = None) -> list[str]:
    """Lines about the model file and what can be done with it.

    Parameters
    ----------
    out : Path
        The model file.
    data : str
        The table of the fit.
    report : str, default=None
        Arguments of ``localsvm report`` that name rows the model was not fitted to;
        None if no such rows are known.
    """
    model, onnx = quote(str(out)), quote(str(out.with_suffix(".onnx")))
    lines = [
        f"Model: {out} ({size_of(out)}). What next:",
        f"  localsvm predict {model} {quote(data)} -o predictions.csv",
        f"  localsvm explain {model} {quote(data)} --row 0",
        f"  localsvm export {model} -o {onnx}",
        f"  localsvm serve {model}",
    ]
    if report is None:
        return [
            *lines,
            "For a report, give labelled rows that it was not fitted to; `localsvm fit "
            "--no-refit` leaves some.",
        ]
    lines.insert(3, f"  localsvm report {model} {report} -o report.html")
    return lines
