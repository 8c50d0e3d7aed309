"""Panels of Figures 3 and 4: models of the plane, and what changes by the step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from papers._figures import COLORS, draw_plane, new_figure
from papers._plane import Plane, read_plane
from papers._results import Result

_SHADE = "#E3E3E3"
_LINE = "#333333"


@dataclass(frozen=True)
class Model:
    """A panel with a model of the plane.

    Parameters
    ----------
    title : str
    group : str
        The run, which measured its plane.
    """

    title: str
    group: str


@dataclass(frozen=True)
class Steps:
    """A panel with lines over the steps of runs.

    Parameters
    ----------
    title : str
    array : str
        Name of the measured numbers, one per step.
    lines : mapping of str to str
        Runs by the labels of their lines.
    first : int, default=0
        Number of the first step.
    is_rise : bool, default=False
        Whether the first value is subtracted.
    """

    title: str
    array: str
    lines: Mapping[str, str]
    first: int = 0
    is_rise: bool = False


def draw_panels(results: Sequence[Result], panels: Sequence[Model | Steps]) -> Any:
    """Draw panels in lines of three, of each run that with seed 0.

    Parameters
    ----------
    results : sequence of Result
    panels : sequence of Model or Steps

    Returns
    -------
    matplotlib figure
    """
    records = {r.run.group: r.record for r in results if r.run.seed == 0}
    figure, axes = new_figure(len(panels), height=3.1)
    handles: dict[str, Any] = {}
    for ax, panel in zip(axes, panels, strict=True):
        if isinstance(panel, Steps):
            _draw_steps(ax, panel, records)
        elif panel.group in records:
            handles.update(_draw_model(ax, read_plane(records[panel.group])))
        ax.set_title(panel.title, fontsize=10)
        ax.tick_params(labelsize=8)
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside lower center",
        ncols=4,
        frameon=False,
        markerscale=1.6,
    )
    return figure


def _draw_steps(ax: Any, panel: Steps, records: Mapping[str, Any]) -> None:
    for (label, group), color in zip(panel.lines.items(), COLORS, strict=False):
        if group in records:
            values = np.array(records[group]["arrays"][panel.array])
            if panel.is_rise:
                values = values - values[0]
            steps = np.arange(len(values)) + panel.first
            ax.plot(steps, values, color=color, linewidth=1.6, label=label)
    ax.set_xlabel("step")
    ax.grid(alpha=0.3, linewidth=0.5)
    ax.legend(fontsize=8, frameon=False)


def _draw_model(ax: Any, plane: Plane) -> dict[str, Any]:
    """Draw rows, boundary and components; return handles of a legend by label."""
    x = np.linspace(*plane.extent[:2], plane.labels.shape[1])
    y = np.linspace(*plane.extent[2:], plane.labels.shape[0])
    if (plane.labels == 0).any():
        ax.contourf(x, y, plane.labels == 0, [0.5, 1.5], colors=_SHADE)
    # The decision of a mixture is continuous, its boundary one line across regions.
    handles = draw_plane(ax, replace(plane, regions=None))
    if plane.regions is not None:
        _draw_components(ax, plane.regions, x, y)
    return handles


def _draw_components(ax: Any, regions: Any, x: Any, y: Any) -> None:
    for component in np.unique(regions):
        mask = (regions == component).astype(float)
        if mask.min() < mask.max():
            ax.contour(x, y, mask, [0.5], colors=_LINE, linewidths=0.5, linestyles=":")
        line, column = _inmost(mask)
        ax.text(
            x[column],
            y[line],
            str(component + 1),
            fontsize=8,
            weight="bold",
            ha="center",
            va="center",
            bbox={"boxstyle": "circle,pad=0.15", "facecolor": "white", "alpha": 0.85},
        )


def _inmost(mask: Any) -> tuple[int, int]:
    """Place of a region that is far from its border, for its number."""
    from scipy.ndimage import distance_transform_edt

    # Beyond the picture there is no region.
    distance = distance_transform_edt(np.pad(mask, 1))[1:-1, 1:-1]
    line, column = np.unravel_index(np.argmax(distance), mask.shape)
    return int(line), int(column)
