"""Table of the race."""

from __future__ import annotations

from typing import Any

from markdown import load, table

PEERS = ("StagedSVC", "LinearSVC", "SVC", "HistGradientBoosting")


def tune() -> str:
    """Compare what the race found with models that are given nothing."""
    rows = load("tune")["rows"]
    names = list(dict.fromkeys(row["data"] for row in rows))
    found = {(row["data"], row["model"]): row for row in rows}
    lines = [_line(name, found) for name in names]
    means = [
        "mean",
        "",
        "",
        _mean(rows, "race"),
        "",
        "",
        *(_mean(rows, p) for p in PEERS),
    ]
    header = [
        "data",
        "rows",
        "winner",
        "race: test, %",
        "its own estimate, %",
        "CPU s",
        *(f"`{peer}`" for peer in PEERS),
    ]
    return table(header, [*lines, means])


def _line(name: str, found: dict[tuple[str, str], Any]) -> list[Any]:
    race = found[name, "race"]
    own = race["held_out"]
    return [
        name.replace("_", " "),
        f"{race['rows']:,}",
        race["method"],
        f"{race['accuracy']:.2f}",
        f"{own['value']:.1f} ({own['low']:.1f} to {own['high']:.1f})",
        f"{race['cpu_seconds']:.0f}",
        *(_peer(found[name, peer]) for peer in PEERS),
    ]


def _peer(row: dict[str, Any]) -> str:
    seconds = row["cpu_seconds"]
    return f"{row['accuracy']:.2f} ({seconds:.{1 if seconds < 10 else 0}f} s)"


def _mean(rows: list[dict[str, Any]], model: str) -> str:
    scores = [row["accuracy"] for row in rows if row["model"] == model]
    return f"{sum(scores) / len(scores):.2f}"
