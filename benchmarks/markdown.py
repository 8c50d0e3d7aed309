"""Result files as Markdown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def load(name: str) -> Any:
    """Read one result file."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def table(header: list[str], rows: list[list[Any]]) -> str:
    """Format a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(str(cell) for cell in line) + " |" for line in lines
    )


def goals(result: Any, form: str = ".2f") -> str:
    """Compare a result with its goals."""
    rows = [
        [
            goal["goal"],
            f"{goal['measured']:{form}}",
            goal["wanted"],
            "yes" if goal["reached"] else "no",
        ]
        for goal in result["goals"]
    ]
    return table(["what", "measured", "goal", "reached"], rows)
