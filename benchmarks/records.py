"""Results of a benchmark as a small JSON file, written whole or not at all."""

from __future__ import annotations

import gc
import json
import os
import platform
from pathlib import Path
from typing import Any

import numpy
import scipy
import sklearn
from environment import use_shared_data

import localsvm
from localsvm._text_table import aligned

RESULTS = Path(__file__).parent / "results"

use_shared_data()


def save(name: str, command: str, rows: list[dict[str, Any]], **notes: Any) -> Path:
    """Write ``results/<name>.json`` with the command and versions that made it."""
    record = {
        "command": command,
        "environment": {
            "python": platform.python_version(),
            "localsvm": localsvm.__version__,
            "scikit-learn": sklearn.__version__,
            "numpy": numpy.__version__,
            "scipy": scipy.__version__,
            "cores": os.cpu_count(),
        },
        **notes,
        "rows": rows,
    }
    path = RESULTS / f"{name}.json"
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(record, indent=1) + "\n")
    temporary.replace(path)
    return path


def check_goals(goals: list[tuple[str, float, str, float]]) -> list[dict[str, Any]]:
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


def show(rows: list[dict[str, Any]]) -> None:
    """Print rows as an aligned table."""
    columns = list(rows[0])
    table = [columns] + [[_text(row[column]) for column in columns] for row in rows]
    print("\n".join(aligned(table)))


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
