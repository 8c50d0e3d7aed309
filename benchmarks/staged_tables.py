"""Tables of the staged SVM, and what the demo printed."""

from __future__ import annotations

from typing import Any

from markdown import RESULTS, average, goals, groups, load, spread, table


def staged() -> str:
    """List accuracy and cost of the staged SVM and its peers."""
    result = load("staged")
    rows = [
        [
            group[0]["task"].replace("_", " "),
            f"`{group[0]['model']}`",
            spread(group, "accuracy"),
            _mean(group, "choice_and_fit_cpu_seconds"),
            _stopped(group) or _mean(group, "fit_cpu_seconds"),
            _mean(group, "predict_cpu_microseconds"),
        ]
        for group in groups(result["rows"], "task", "model")
    ]
    header = ["task", "model", "accuracy, %", "whole fit, s", "fit, s", "µs per row"]
    return "\n\n".join([table(header, rows), goals(result)])


def demo() -> str:
    """Show what the demo printed."""
    return "```\n" + (RESULTS / "demo.txt").read_text().strip("\n") + "\n```"


def _mean(rows: list[dict[str, Any]], key: str) -> str:
    if key not in rows[0]:
        return "-"
    return f"{average(rows, key):.1f}"


def _stopped(rows: list[dict[str, Any]]) -> str:
    seconds = rows[0].get("stopped_after")
    return "" if seconds is None else f"stopped after {seconds:.0f}"
