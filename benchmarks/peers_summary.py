"""Differences, wins and ranks of methods that were measured on the same tasks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import mean, median
from typing import Any

Row = dict[str, Any]
Figures = dict[str, dict[str, float]]  # by task, by method

TIE = {"accuracy": 0.1, "auc": 0.001}
REFERENCE = "LightGBM"


def figures(rows: Iterable[Row], name: str) -> Figures:
    """Mean over the seeds of what was measured, by task and method."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        if name in row:
            found[row["task"], row["method"]].append(row[name])
    by_task: Figures = defaultdict(dict)
    for (task, method), values in found.items():
        by_task[task][method] = mean(values)
    return dict(by_task)


def differences(found: Figures, method: str) -> dict[str, float]:
    """Figure of a method less that of LightGBM, by task."""
    return {
        task: own[method] - own[REFERENCE]
        for task, own in found.items()
        if method in own and REFERENCE in own
    }


def compared(rows: list[Row], method: str, name: str) -> Row:
    """Compare a method with LightGBM, over the tasks that both have."""
    found = differences(figures(rows, name), method)
    if not found:
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


def mean_ranks(rows: list[Row], name: str) -> dict[str, float]:
    """Mean rank, 1 is best, of the methods that have all tasks; ties share a rank."""
    found = figures(rows, name)
    methods = complete(found)
    ranks: dict[str, list[float]] = {method: [] for method in methods}
    for own in found.values():
        values = [own[method] for method in methods]
        for method in methods:
            above = sum(value > own[method] for value in values)
            equal = sum(value == own[method] for value in values)
            ranks[method].append(above + (equal + 1) / 2)
    return {method: mean(each) for method, each in ranks.items()}


def complete(found: Figures) -> list[str]:
    """Methods that have a figure for every task."""
    methods = dict.fromkeys(method for own in found.values() for method in own)
    return [m for m in methods if all(m in own for own in found.values())]
