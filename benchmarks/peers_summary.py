"""Differences, wins and ranks of methods that were measured on the same tasks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import mean, median
from typing import Any

Row = dict[str, Any]
Cell = tuple[str, int]  # task and seed
Figures = dict[Cell, dict[str, float]]  # by method

TIE = {"accuracy": 0.1, "auc": 0.001}
REFERENCE = "LightGBM"
MOST_TASKS = 0.8


def figures(rows: Iterable[Row], name: str) -> Figures:
    """Collect what was measured, by task and seed, and by method."""
    found: Figures = defaultdict(dict)
    for row in rows:
        if name in row:
            found[row["task"], row["seed"]][row["method"]] = row[name]
    return dict(found)


def differences(found: Figures, method: str) -> dict[str, float]:
    """Subtract LightGBM on the same split; the mean over the seeds, by task."""
    by_task: dict[str, list[float]] = defaultdict(list)
    for (task, _), own in found.items():
        if method in own and REFERENCE in own:
            by_task[task].append(own[method] - own[REFERENCE])
    return {task: mean(values) for task, values in by_task.items()}


def compared(rows: list[Row], method: str, name: str) -> Row:
    """Compare a method with LightGBM, over the tasks that both have."""
    found = differences(figures(rows, name), method)
    if method == REFERENCE or not found:
        return {"tasks": 0}
    values = list(found.values())
    worst = min(found, key=lambda task: found[task])
    tie = TIE[name]
    return {
        "tasks": len(values),
        "mean": mean(values),
        "median": median(values),
        "wins": sum(value > tie for value in values),
        "ties": sum(abs(value) <= tie for value in values),
        "losses": sum(value < -tie for value in values),
        "worst": found[worst],
        "worst_task": worst,
    }


def mean_ranks(rows: list[Row], name: str) -> tuple[dict[str, float], int]:
    """Rank methods over the tasks that all of them have, and count these tasks.

    1 is best; equal figures share a rank. The mean over the seeds, then over the tasks,
    of the methods that have most tasks.
    """
    found = figures(rows, name)
    methods = widely_measured(found)
    ranks: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (task, _), own in found.items():
        if not all(method in own for method in methods):
            continue
        for method in methods:
            above = sum(own[other] > own[method] for other in methods)
            equal = sum(own[other] == own[method] for other in methods)
            ranks[method][task].append(above + (equal + 1) / 2)
    means = {
        method: mean(mean(values) for values in by_task.values())
        for method, by_task in ranks.items()
    }
    return means, max(map(len, ranks.values()), default=0)


def widely_measured(found: Figures) -> list[str]:
    """Methods that have figures for four fifths of the tasks."""
    tasks = {task for task, _ in found}
    of_method: dict[str, set[str]] = defaultdict(set)
    for (task, _), own in found.items():
        for method in own:
            of_method[method].add(task)
    return [m for m, own in of_method.items() if len(own) >= MOST_TASKS * len(tasks)]
