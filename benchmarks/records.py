"""Results of a benchmark as a small JSON file, written whole or not at all."""

from __future__ import annotations

import gc
import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from environment import ROOT, code, environment, use_shared_data

from localsvm._text import aligned

RESULTS = Path(__file__).parent / "results"

Row = dict[str, Any]

sys.path.append(str(ROOT))  # some benchmarks prepare their rows as the papers do
use_shared_data()
code()  # of the start: sources may change while a benchmark runs


def save(
    name: str,
    command: str,
    rows: list[Row],
    *,
    data: Iterable[str | Path],
    **notes: Any,
) -> Path:
    """Write ``results/<name>.json`` with the command and environment that made it.

    Parameters
    ----------
    name, command : str
    rows : list of dict
        Those of :func:`resume` keep the environment that they were measured in.
    data : iterable of str or Path
        Data sets or tasks of :mod:`localsvm.data` that rows are of, or files.
    **notes
        Further entries of the file.
    """
    path = RESULTS / f"{name}.json"
    current = environment(data)
    key = _key(current)
    known = {**_environments(path), key: current}
    marked = [{**row, "environment": row.get("environment", key)} for row in rows]
    used = [key, *(row["environment"] for row in marked)]
    record = {
        "command": command,
        "environments": {each: known[each] for each in dict.fromkeys(used)},
        **notes,
        "rows": marked,
    }
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(record, indent=1) + "\n")
    temporary.replace(path)
    return path


def resume(name: str) -> list[Row]:
    """Rows of an earlier run, each with its environment; none without a file."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return []
    rows: list[Row] = json.loads(path.read_text())["rows"]
    first = next(iter(_environments(path)))
    return [{"environment": first, **row} for row in rows]


def measured_now(row: Row) -> Row:
    """Row that begins with an earlier one, but is of this run."""
    return {name: value for name, value in row.items() if name != "environment"}


def _environments(path: Path) -> dict[str, Any]:
    """Environments of a file by their keys; files of old have one without a key."""
    if not path.exists():
        return {}
    record = json.loads(path.read_text())
    if "environments" in record:
        return dict(record["environments"])
    return {_key(record["environment"]): record["environment"]}


def _key(found: dict[str, Any]) -> str:
    text = json.dumps(found, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def check_goals(goals: list[tuple[str, float, str, float]]) -> list[Row]:
    """Compare measurements with goals: (name, measured, "<=" or ">=", wanted)."""
    return [
        {
            "goal": name,
            "measured": round(value, 3),
            "wanted": f"{relation} {limit:g}",
            "reached": value <= limit if relation == "<=" else value >= limit,
        }
        for name, value, relation, limit in goals
    ]


def peak_bytes() -> int:
    """Largest memory of this process so far (Linux); unlike getrusage, no parent's."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def reset_peak() -> int:
    """Let the peak begin at what is used now (Linux), and return that."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()


def show(rows: list[Row]) -> None:
    """Print rows as an aligned table."""
    columns = list(rows[0])
    table = [columns] + [[_text(row[column]) for column in columns] for row in rows]
    print("\n".join(aligned(table)))


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
