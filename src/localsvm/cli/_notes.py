"""What is noted in a model file, and said about it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

import numpy as np

import localsvm
from localsvm.cli._outputs import size_of
from localsvm.cli._screen import to_plain
from localsvm.data import Table
from localsvm.inspect import Scores


def training_notes(
    table: Table,
    *,
    target: str | None,
    seed: int,
    where: str | None = None,
    read: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Where a model comes from; of the data the name alone, not its folder."""
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


def where_it_is(out: Path, data: str) -> list[str]:
    """Lines about the model file and what can be done with it."""
    return [
        f"Model: {out} ({size_of(out)}). What next:",
        f"  localsvm predict {out} {data} -o predictions.csv",
        f"  localsvm explain {out} {data} --row 0",
        f"  localsvm report {out} {data} -o report.html",
        f"  localsvm export {out} --onnx {out.with_suffix('.onnx')}",
        f"  localsvm serve {out}",
    ]
