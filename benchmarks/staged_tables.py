"""Tables of the staged SVM, and what demo and commands printed."""

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


def staged_summary() -> str:
    """Accuracy and cost of the fit of all models, one line per task."""
    by_task = groups(load("staged")["rows"], "task")
    models = ("StagedSVC", "SVC", "LightGBM")
    rows = []
    for task in by_task:
        own = {group[0]["model"]: group for group in groups(task, "model")}
        cells = [
            f"{_accuracy(own[model])}, {_stopped(own[model]) or _cost(own[model])}"
            if model in own
            else "-"
            for model in models
        ]
        rows.append([task[0]["task"].replace("_", " "), *cells])
    header = ["task", *(f"`{model}`" for model in models)]
    return table(header, rows)


def _accuracy(rows: list[dict[str, Any]]) -> str:
    return f"{average(rows, 'accuracy'):.2f}" if "accuracy" in rows[0] else "-"


def _cost(rows: list[dict[str, Any]]) -> str:
    own = "choice_and_fit_cpu_seconds"
    key = own if own in rows[0] else "fit_cpu_seconds"
    return f"{average(rows, key):.1f} s"


def demo() -> str:
    """Show what the demo printed."""
    return _printed("demo")


def adult_story() -> str:
    """Show what the first commands printed."""
    return _printed("adult_story")


def _printed(name: str) -> str:
    return "```\n" + (RESULTS / f"{name}.txt").read_text().strip("\n") + "\n```"


def _mean(rows: list[dict[str, Any]], key: str) -> str:
    if key not in rows[0]:
        return "-"
    return f"{average(rows, key):.1f}"


def _stopped(rows: list[dict[str, Any]]) -> str:
    seconds = rows[0].get("stopped_after")
    return "" if seconds is None else f"stopped after {seconds:.0f}"
