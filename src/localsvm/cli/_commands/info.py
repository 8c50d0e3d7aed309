"""``localsvm info``: what a file of localsvm holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from localsvm._text import aligned
from localsvm.cli import _options as options
from localsvm.cli._files._outputs import size_of
from localsvm.cli._model._fitting import final_step, first_step
from localsvm.cli._model._notes import NOTED
from localsvm.cli._show._columns import column_lines, columns_of
from localsvm.cli._show._screen import Screen, pairs
from localsvm.data import RowSketch
from localsvm.exceptions import DataError
from localsvm.export import FileDescription, ModelFile, describe_file, load, load_file
from localsvm.federated import Ledger, SharedSummary
from localsvm.inspect import region_table

_FIRST_LINE = re.compile(rb"localsvm ([a-z-]+) version ")
_LEDGER = b"localsvm ledger"
_LOOKED_AT = 200

_File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="Model, recipe, shared summary or ledger file."
    ),
]
_Regions = Annotated[
    bool,
    typer.Option(
        "--regions",
        help="Also show the regions of a model.",
        rich_help_panel=options.OUTPUT,
    ),
]


def info(
    file: _File,
    regions: _Regions = False,
    as_json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Describe a model, recipe, shared summary or ledger file.

    Files are plain data and reading one runs no code, whoever made it.
    """
    screen = Screen("info", as_json, quiet)
    if regions and _kind(file) != "model":
        raise DataError(f"{file} is no model file, and has no regions.")
    document, lines = _KINDS[_kind(file)](file)
    if regions:
        shown = region_table(load(file))
        document |= {"regions": shown.to_dict()["regions"]}
        lines += ["", str(shown)]
    screen.show({"file": file, **document}, "\n".join(lines))


def _kind(path: Path) -> str:
    with open(path, "rb") as file:
        start = file.read(_LOOKED_AT)
    match = _FIRST_LINE.match(start)
    kind = match[1].decode() if match else "ledger" if _LEDGER in start else ""
    if kind not in _KINDS:
        raise DataError(
            f"{path} is not a file of localsvm: it begins with {start[:40]!r}; "
            "expected a model, a recipe, a shared summary or a ledger."
        )
    return kind


def _describe_model(path: Path) -> tuple[dict[str, Any], list[str]]:
    found = describe_file(path)
    document = {
        "kind": "recipe" if found.class_name == "TableEncoder" else "model",
        "class": found.class_name,
        "steps": found.steps,
        "params": found.params,
        "format_version": found.version,
        "written_by": found.written_by,
        "bytes": found.n_bytes,
        "arrays": found.arrays,
        "notes": found.notes,
    }
    whole = load_file(path)
    document["fitted_rows"] = _described(whole.fitted_rows)
    model = whole.model
    columns = columns_of(first_step(model))
    lines = _model_lines(path, found, whole)
    if columns:
        document["columns"] = columns
        lines += ["", *column_lines(columns)]
    return document, lines


def _described(sketch: RowSketch | None) -> dict[str, Any] | None:
    if sketch is None:
        return None
    return {
        "n_rows": sketch.n_rows,
        "n_repeated": sketch.n_repeated,
        "bytes": len(sketch.bits),
        "mistaken_share": sketch.mistaken_share,
    }


def _model_lines(path: Path, found: FileDescription, whole: ModelFile) -> list[str]:
    last = final_step(whole.model)
    entries: dict[str, Any] = {
        "file": f"{path}, {size_of(path)}, format version {found.version}",
        "written by": found.written_by,
        "holds": " ".join(str(last).split()),
    }
    notes = found.notes if isinstance(found.notes, dict) else {}
    for key, name in NOTED.items():
        if key != "created_by" and notes.get(key) is not None:
            entries[name] = notes[key]
    if isinstance(notes.get("classes"), dict):
        counts = notes["classes"].items()
        entries["classes"] = ", ".join(f"{label} ({count})" for label, count in counts)
    held_out = notes.get("held_out")
    if isinstance(held_out, dict):
        entries["held-out accuracy"] = _accuracy(held_out)
    if whole.fitted_rows is not None:
        share = f"{whole.fitted_rows.mistaken_share:.1g}"
        entries["fitted rows"] = f"are recognised, as is a share of {share} of others"
    return pairs(entries)


def _accuracy(held_out: dict[str, Any]) -> str:
    """Accuracy that a file of anybody notes, in words."""
    try:
        found = [float(held_out["accuracy"][key]) for key in ("value", "low", "high")]
    except (KeyError, TypeError, ValueError):
        return "not noted"
    value, low, high = (f"{each:.4f}" for each in found)
    return f"{value} ({low} to {high}) on {held_out.get('n_rows')} rows"


def _describe_shared(path: Path) -> tuple[dict[str, Any], list[str]]:
    shared = SharedSummary.load(path)
    document = {
        "kind": "shared summary",
        "bytes": path.stat().st_size,
        "n_clusters": shared.summary.n_clusters,
        "n_features": shared.summary.n_features,
        "covariance": shared.summary.covariance_type,
        "parties": [record.to_plain() for record in shared.parties],
    }
    return document, [f"file: {path}, {size_of(path)}", *str(shared).splitlines()]


def _describe_ledger(path: Path) -> tuple[dict[str, Any], list[str]]:
    ledger = Ledger.load(path)
    epsilon, delta = ledger.spent()
    releases = [
        {"party": entry.party, "privacy": entry.privacy.name, "when": entry.when}
        for entry in ledger.entries
    ]
    document = {
        "kind": "ledger",
        "spent_epsilon": epsilon,
        "spent_delta": delta,
        "releases": releases,
    }
    lines = [f"{len(releases)} releases, epsilon {epsilon:g} and delta {delta:g} spent"]
    cells = [list(release.values()) for release in releases]
    return document, [*lines, *aligned(cells, "lr", indent="  ")]


_KINDS: dict[str, Callable[[Path], tuple[dict[str, Any], list[str]]]] = {
    "model": _describe_model,
    "shared-summary": _describe_shared,
    "ledger": _describe_ledger,
}
