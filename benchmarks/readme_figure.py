"""The figure of the README: accuracy against fit time on Forest Covertype.

``python benchmarks/readme_figure.py`` draws docs/images/covertype.svg from the result
files ``local_speed.json`` (seconds of wall time on two threads) and ``staged.json``
(seconds of CPU).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from markdown import average, groups, load

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "covertype.svg"
_OURS = {"LocalSVC()": "LocalSVC", "StagedSVC": "StagedSVC"}
_SHORT = {
    "StandardScaler, LinearSVC()": "LinearSVC",
    "StandardScaler, Nystroem(500), LinearSVC()": "Nystroem + LinearSVC",
    "HistGradientBoostingClassifier(max_iter=500)": "HistGradientBoosting",
    "SVC": "SVC (RBF)",
    "LightGBM": "LightGBM",
}
_COLOURS = {
    "LocalSVC": "#0b6e4f",
    "StagedSVC": "#08519c",
    "SVC (RBF)": "#c0392b",
    "LightGBM": "#e67e22",
    "HistGradientBoosting": "#e67e22",
    "LinearSVC": "#7f8c8d",
    "Nystroem + LinearSVC": "#95a5a6",
}

_TICKS = (0.3, 1, 3, 10, 30, 100, 300, 1000)

# A point: rows, seconds, accuracy.
Curves = dict[str, list[tuple[int, float, float]]]


def by_default() -> Curves:
    """Points of the models as they come, from 10,000 to 556,000 rows."""
    curves: Curves = {}
    for row in load("local_speed")["rows"]:
        name = {**_OURS, **_SHORT}.get(row["model"])
        if name and row["fit_seconds"] is not None:
            point = row["rows"], row["fit_seconds"], row["accuracy"]
            curves.setdefault(name, []).append(point)
    return curves


def tuned() -> Curves:
    """Points of models that are tuned on training rows; the search is counted."""
    curves: Curves = {}
    for group in groups(load("staged")["rows"], "task", "model"):
        first = group[0]
        name = {**_OURS, **_SHORT}.get(first["model"])
        if not (name and first["task"].startswith("covtype_2") and "accuracy" in first):
            continue
        point = first["rows"], _whole_seconds(group), average(group, "accuracy")
        curves.setdefault(name, []).append(point)
    return curves


def _whole_seconds(group: list[dict[str, Any]]) -> float:
    """CPU seconds of the fit and of the search before it, if there was one."""
    whole = "choice_and_fit_cpu_seconds"
    if whole in group[0]:
        return average(group, whole)
    return average(group, "fit_cpu_seconds") + group[0].get("choice_cpu_seconds", 0.0)


def draw(axes: Any, curves: Curves, title: str) -> None:
    """Draw each model as a line through its numbers of rows."""
    for name, points in curves.items():
        rows, seconds, accuracy = zip(*sorted(points), strict=True)
        ours = name in _OURS.values()
        axes.plot(
            seconds,
            accuracy,
            marker="o" if ours else "s",
            color=_COLOURS[name],
            linewidth=2.2 if ours else 1.2,
            label=name,
        )
        axes.annotate(
            f"{rows[-1] // 1000}k",
            (seconds[-1], accuracy[-1]),
            textcoords="offset points",
            xytext=(5, -10),
            fontsize=8,
            color=_COLOURS[name],
        )
    axes.set_xscale("log")
    axes.margins(0.12)
    low, high = axes.get_xlim()
    ticks = [tick for tick in _TICKS if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8, frameon=False, loc="best")


def main() -> None:
    """Draw both panels and write the picture."""
    plt.rcParams["svg.hashsalt"] = "localsvm"
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6))
    draw(left, by_default(), "Nothing tuned")
    draw(right, tuned(), "Tuned: the search is counted (LocalSVC: nothing tuned)")
    left.set_xlabel("fit, seconds on two threads")
    right.set_xlabel("search and fit, CPU seconds")
    left.set_ylabel("test accuracy, %")
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    main()
