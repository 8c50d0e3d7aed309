"""Parts of figures: curves with their spread, and classifiers of the plane."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from localsvm._extras import require
from papers._plane import Plane

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "^", "s", "D", "v", "P", "X")
_BOUNDARY = "#C2185B"
_BORDER = "#009E73"
_MOST_MARKS = 8


@dataclass(frozen=True)
class Curve:
    """A line through the means of repetitions, with bars of one standard deviation.

    Parameters
    ----------
    label : str
    values : mapping of float to sequence of float
        Repetitions by their x.
    """

    label: str
    values: Mapping[float, Sequence[float]]


def new_figure(
    n_panels: int, n_columns: int = 3, width: float = 3.3, height: float = 2.8
) -> tuple[Any, list[Any]]:
    """Make a figure and a list of its axes; sizes are those of a panel in inches."""
    drawing = require("matplotlib.figure", "report", "A figure of the papers")
    n_columns = min(n_columns, n_panels)
    n_lines = -(-n_panels // n_columns)
    figure = drawing.Figure(
        figsize=(width * n_columns, height * n_lines), layout="constrained"
    )
    axes = figure.subplots(n_lines, n_columns, squeeze=False).ravel()
    for unused in axes[n_panels:]:
        unused.remove()
    return figure, list(axes[:n_panels])


def draw_curves(
    panels: Mapping[str, Sequence[Curve]],
    *,
    xlabel: str,
    ylabel: str,
    log: str = "",
    from_zero: bool = False,
    n_columns: int = 3,
) -> Any:
    """Draw one panel of curves per title, with one legend for all.

    Parameters
    ----------
    panels : mapping of str to sequence of Curve
        By title. Curves with the same label have the same colour and marker; one with a
        single x is a dashed line through the panel.
    xlabel, ylabel : str
    log : {"", "x", "y", "xy"}, default=""
        Logarithmic axes.
    from_zero : bool, default=False
        Whether the vertical axes begin at zero: times.
    n_columns : int, default=3

    Returns
    -------
    matplotlib figure
    """
    figure, axes = new_figure(len(panels), n_columns)
    labels = list(dict.fromkeys(c.label for curves in panels.values() for c in curves))
    handles: dict[str, Any] = {}
    for place, (ax, (title, curves)) in enumerate(
        zip(axes, panels.items(), strict=True)
    ):
        for curve in curves:
            handles[curve.label] = _draw_curve(ax, curve, labels.index(curve.label))
        ax.set_title(title, fontsize=10)
        ax.set_xlabel(xlabel)
        if place % n_columns == 0:
            ax.set_ylabel(ylabel)
        ax.grid(alpha=0.3, linewidth=0.5)
        ax.set_xscale("log" if "x" in log else "linear")
        ax.set_yscale("log" if "y" in log else "linear")
        if from_zero:
            ax.set_ylim(bottom=0)
        _mark_each_x(ax, curves)
    _legend_below(figure, handles)
    return figure


def draw_planes(planes: Mapping[str, Plane], n_columns: int = 3) -> Any:
    """Draw one classifier of the plane per title, with one legend for all.

    Parameters
    ----------
    planes : mapping of str to Plane
        By title.
    n_columns : int, default=3

    Returns
    -------
    matplotlib figure
    """
    figure, axes = new_figure(len(planes), n_columns, height=3.4)
    handles: dict[str, Any] = {}
    for ax, (title, plane) in zip(axes, planes.items(), strict=True):
        handles.update(draw_plane(ax, plane))
        ax.set_title(title, fontsize=10)
    _legend_below(figure, handles)
    return figure


def draw_plane(ax: Any, plane: Plane) -> dict[str, Any]:
    """Draw rows, boundary and region borders; return handles of a legend by label."""
    handles = _draw_rows(ax, plane)
    x, y = _axes_of(plane)
    for part, level in _boundaries(plane):
        if part.min() < level < part.max():
            ax.contour(x, y, part, [level], colors=_BOUNDARY, linewidths=1.8)
            handles["decision boundary"] = _line(_BOUNDARY, "-")
    for border in _borders(plane):
        ax.contour(x, y, border, [0.5], colors=_BORDER, linewidths=1.4, linestyles="--")
        handles["border of regions"] = _line(_BORDER, "--")
    ax.set_xlim(plane.extent[:2])
    ax.set_ylim(plane.extent[2:])
    ax.set_aspect("equal")
    return handles


def _draw_curve(ax: Any, curve: Curve, style: int) -> Any:
    color = COLORS[style % len(COLORS)]
    x = sorted(curve.values)
    means = [float(np.mean(curve.values[place])) for place in x]
    if len(x) == 1:
        return ax.axhline(means[0], color=color, linestyle="--", linewidth=1.4)
    spreads = [
        float(np.std(curve.values[p], ddof=1)) if len(curve.values[p]) > 1 else 0.0
        for p in x
    ]
    return ax.errorbar(
        x,
        means,
        spreads,
        color=color,
        marker=MARKERS[style % len(MARKERS)],
        markersize=4,
        linewidth=1.4,
        capsize=2,
    )


def _mark_each_x(ax: Any, curves: Sequence[Curve]) -> None:
    marks = sorted(
        {x for curve in curves if len(curve.values) > 1 for x in curve.values}
    )
    if 1 < len(marks) <= _MOST_MARKS:
        ax.set_xticks(marks, [f"{x:g}" for x in marks])
        ax.set_xticks([], minor=True)


def _draw_rows(ax: Any, plane: Plane) -> dict[str, Any]:
    handles = {}
    for position in np.unique(plane.y):
        rows = plane.X[plane.y == position]
        handles[f"class {position + 1}"] = ax.scatter(
            rows[:, 0],
            rows[:, 1],
            s=13,
            color=COLORS[position % len(COLORS)],
            marker=MARKERS[position % len(MARKERS)],
            alpha=0.7,
            linewidths=0,
        )
    return handles


def _axes_of(plane: Plane) -> tuple[Any, Any]:
    n_lines, n_columns = plane.labels.shape
    left, right, bottom, top = plane.extent
    return np.linspace(left, right, n_columns), np.linspace(bottom, top, n_lines)


def _boundaries(plane: Plane) -> Iterable[tuple[Any, float]]:
    """Surfaces whose level line is the boundary.

    Where a model has regions its decision jumps at their borders, so that each region
    is drawn by itself.
    """
    if plane.decision is None:
        for position in np.unique(plane.labels)[1:]:
            yield (plane.labels == position).astype(float), 0.5
    elif plane.regions is None:
        yield plane.decision.astype(float), 0.0
    else:
        for region in np.unique(plane.regions):
            elsewhere = plane.regions != region
            yield np.ma.masked_where(elsewhere, plane.decision.astype(float)), 0.0


def _borders(plane: Plane) -> Iterable[Any]:
    if plane.regions is None:
        return
    # The last region's borders are those of the others.
    for region in np.unique(plane.regions)[:-1]:
        yield (plane.regions == region).astype(float)


def _line(color: str, style: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=color, linestyle=style, linewidth=1.6)


def _legend_below(figure: Any, handles: Mapping[str, Any]) -> None:
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside lower center",
        ncols=min(len(handles), 4),
        frameon=False,
        markerscale=1.6,
    )
