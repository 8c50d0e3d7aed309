"""Tables of the comparison with peers."""

from __future__ import annotations

from statistics import mean
from typing import Any

from markdown import load, table
from peers_summary import Row, compared, figures, mean_ranks
from peers_tasks import TASKS

NAME = "peers_all"


def peers_summary() -> str:
    """Compare every method with LightGBM, over the tasks that both have."""
    return _summary(load(NAME)["rows"])


def peers_raw() -> str:
    """Compare every method with LightGBM on tables of raw columns."""
    rows = load(NAME)["rows"]
    return _summary([row for row in rows if TASKS[row["task"]].is_table])


def _summary(rows: list[Row]) -> str:
    ranks, header = {}, ["method", "tasks"]
    for name, shown in (("accuracy", "accuracy"), ("auc", "AUC")):
        ranks[name], n_tasks = mean_ranks(rows, name)
        header += [f"{shown}: mean, median", "won, even, lost", "worst"]
        header += [f"rank, {n_tasks} tasks"]
    lines = [
        [
            f"`{method}`",
            _count(rows, method),
            *_against(compared(rows, method, "accuracy"), ".2f"),
            _rank(ranks["accuracy"], method),
            *_against(compared(rows, method, "auc"), ".4f"),
            _rank(ranks["auc"], method),
            _cost(rows, method, "fit_cpu_seconds"),
            _cost(rows, method, "predict_cpu_microseconds"),
        ]
        for method in methods(rows)
    ]
    return table([*header, "fit, s", "µs per row"], lines)


def peers_accuracy() -> str:
    """Accuracy of every method, one line per task, of seed 0."""
    return _by_task("accuracy", ".2f")


def peers_auc() -> str:
    """Area under the curve of every method, one line per task, of seed 0."""
    return _by_task("auc", ".4f")


def peers_cost() -> str:
    """CPU seconds of the whole fit of every method, one line per task, of seed 0."""
    return _by_task("fit_cpu_seconds", ".1f")


def methods(rows: list[Row]) -> list[str]:
    """Methods in the order of the file's first task."""
    return list(dict.fromkeys(row["method"] for row in rows))


def _by_task(name: str, form: str) -> str:
    rows = load(NAME)["rows"]
    found, columns = figures(rows, name), methods(rows)
    lines = [
        [task.replace("_", " "), *(_cell(own, each, form) for each in columns)]
        for (task, seed), own in found.items()
        if seed == 0
    ]
    return table(["task", *(f"`{each}`" for each in columns)], lines)


def _cell(own: dict[str, float], method: str, form: str) -> str:
    return format(own[method], form) if method in own else "-"


def _against(found: Row, form: str) -> list[str]:
    if not found["tasks"]:  # LightGBM itself
        return ["-"] * 3
    middle = ", ".join(f"{found[name]:+{form}}" for name in ("mean", "median"))
    counts = ", ".join(str(found[name]) for name in ("wins", "ties", "losses"))
    worst = f"{found['worst']:+{form}} ({found['worst_task'].replace('_', ' ')})"
    return [middle, counts, worst]


def _rank(ranks: dict[str, float], method: str) -> str:
    return f"{ranks[method]:.2f}" if method in ranks else "-"


def _count(rows: list[Row], method: str) -> int:
    return len({row["task"] for row in rows if _has(row, method)})


def _cost(rows: list[Row], method: str, name: str) -> str:
    found = [row[name] for row in rows if _has(row, method)]
    return f"{mean(found):.1f}" if found else "-"


def _has(row: dict[str, Any], method: str) -> bool:
    return row["method"] == method and "accuracy" in row
