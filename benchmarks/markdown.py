"""Result files as Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from environment import measured_at

RESULTS = Path(__file__).parent / "results"

_loaded: list[Any] = []


def load(name: str) -> Any:
    """Read one result file."""
    result = json.loads((RESULTS / f"{name}.json").read_text())
    _loaded.append(result)
    return result


def with_source(section: Callable[[], str]) -> str:
    """Write a section, and where the results that it loads were measured."""
    _loaded.clear()
    content = section()
    found = [each for result in _loaded for each in environments(result)]
    return "\n\n".join(filter(None, [content, measured_at(found)]))


def environments(result: Any) -> list[dict[str, Any]]:
    """Environment of each row of a result; files of old have one for all."""
    if "environments" not in result:
        return [result["environment"]] * len(result["rows"])
    return [result["environments"][row["environment"]] for row in result["rows"]]


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


def average(rows: list[dict[str, Any]], key: str) -> float:
    """Mean of one entry of the rows."""
    return float(sum(row[key] for row in rows) / len(rows))


def groups(rows: list[dict[str, Any]], *keys: str) -> list[list[dict[str, Any]]]:
    """Rows that agree in the keys, in the order of the first of them."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return list(groups.values())


def number(row: dict[str, Any], name: str, form: str, missing: str = "-") -> str:
    """Format an entry that may be missing."""
    value = row.get(name)
    return missing if value is None else format(value, form)


def spread(rows: list[dict[str, Any]], key: str) -> str:
    """Mean of one entry of the rows, with its least and most."""
    if key not in rows[0]:
        return "-"
    values = [row[key] for row in rows]
    if len(values) == 1:
        return f"{values[0]:.2f}"
    mean = sum(values) / len(values)
    return f"{mean:.2f} ({min(values):.2f} to {max(values):.2f})"
