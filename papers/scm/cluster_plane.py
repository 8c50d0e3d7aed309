"""A model of the plane with its clusters: measured in a run, drawn from its record."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers._figures import COLORS
from papers._measures import Fitted

_POINTS = 100
_ROW_STEP = 0.001
_LARGEST = 2.0
_STEPS = 10_000
_LIGHT, _DEEP = "#DDDDDD", "#AAAAAA"
# Of the ellipse of a cluster of mean weight.
_AREA = 0.35


def training_rows(fitted: Fitted) -> Mapping[str, Any]:
    """Measure: the training rows, to a thousandth."""
    X = _encode(fitted.rows.X_train / _ROW_STEP, np.int16)
    return {"rows": {"X": X, "y": _encode(fitted.rows.y_train, np.int8)}}


def margin_plane(fitted: Fitted) -> Mapping[str, Any]:
    """Measure: decisions on a grid around the training rows, cut far off the margin."""
    X = fitted.rows.X_train
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    axes = [np.linspace(low[d], high[d], _POINTS) for d in range(2)]
    grid = np.stack([part.ravel() for part in np.meshgrid(*axes)], axis=1)
    decision = fitted.model.decision_function(grid.astype(X.dtype))
    steps = _STEPS * np.clip(decision, -_LARGEST, _LARGEST)
    drawn = {
        "extent": [round(float(v), 3) for v in (low[0], high[0], low[1], high[1])],
        "decision": _encode(steps, np.int16),
    }
    return {"margin_plane": drawn}


def plane_clusters(fitted: Fitted) -> Mapping[str, Any]:
    """Measure: the clusters, which of them support, and which are on the wrong side."""
    model = fitted.model
    summary = model.summary_
    wrong = model.predict(summary.mean) != summary.label
    described = {
        "weight": summary.weight.tolist(),
        "mean": np.round(summary.mean, 4).tolist(),
        "label": np.asarray(summary.label).tolist(),
        "support": np.asarray(model.support_).tolist(),
    }
    if summary.covariance is not None:
        full = summary.with_covariance("full").covariance
        described["covariance"] = np.round(full, 5).tolist()
    return {
        "n_clusters": int(summary.n_clusters),
        "n_support": len(model.support_),
        "n_wrong_clusters": int(np.count_nonzero(wrong)),
        "clusters": described,
    }


def draw_rows(ax: Any, record: Mapping[str, Any]) -> None:
    """Draw the training rows of a record."""
    drawn = record["arrays"]["rows"]
    X = _decode(drawn["X"], np.int16).reshape(-1, 2) * _ROW_STEP
    y = _decode(drawn["y"], np.int8)
    for position in range(2):
        rows = X[y == position]
        ax.plot(*rows.T, ".", ms=1.5, color=COLORS[position], zorder=0.5)
    _frame(ax, record["arrays"]["margin_plane"]["extent"])


def draw_margin(ax: Any, record: Mapping[str, Any]) -> None:
    """Draw the boundary, the margin in grey and the clusters of a record."""
    drawn = record["arrays"]["margin_plane"]
    left, right, bottom, top = drawn["extent"]
    steps = _decode(drawn["decision"], np.int16).reshape(_POINTS, _POINTS)
    decision = steps / _STEPS
    x, y = np.linspace(left, right, _POINTS), np.linspace(bottom, top, _POINTS)
    ax.contourf(x, y, decision, [-1, 0, 1], colors=[_LIGHT, _DEEP], zorder=0)
    ax.contour(x, y, decision, [0], colors="black", linewidths=1.2)
    if "clusters" in record["arrays"]:
        _draw_clusters(ax, record["arrays"]["clusters"])
    _frame(ax, drawn["extent"])


def _draw_clusters(ax: Any, clusters: Mapping[str, Any]) -> None:
    """Ellipses whose area is in proportion to the weights; points without spread."""
    from matplotlib.patches import Ellipse

    weight, mean = np.array(clusters["weight"]), np.array(clusters["mean"])
    share = weight / weight.mean()
    support = set(clusters["support"])
    for number, label in enumerate(clusters["label"]):
        color = COLORS[label]
        edge = "black" if number in support else color
        if "covariance" not in clusters:
            size = 5 * np.sqrt(share[number])
            ax.plot(*mean[number], "o", ms=size, mfc=color, mec=edge, mew=1.4)
            continue
        values, vectors = np.linalg.eigh(np.array(clusters["covariance"][number]))
        lengths = np.sqrt(np.maximum(values, 1e-6))
        lengths *= np.sqrt(share[number] * _AREA / lengths.prod())
        angle = np.rad2deg(np.arctan2(vectors[1, 1], vectors[0, 1]))
        width = 2.2 if number in support else 0.9
        ellipse = Ellipse(mean[number], *lengths[::-1], angle=angle, lw=width, ec=edge)
        ellipse.set_facecolor((*_rgb(color), 0.25))
        ax.add_patch(ellipse)


def _rgb(color: str) -> tuple[float, float, float]:
    red, green, blue = (int(color[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return red, green, blue


def _frame(ax: Any, extent: Sequence[float]) -> None:
    ax.set_xlim(extent[:2])
    ax.set_ylim(extent[2:])
    ax.set_aspect("equal")


def _encode(values: Any, dtype: Any) -> str:
    plain = np.rint(values).astype(dtype).tobytes()
    return b64encode(zlib.compress(plain, 9)).decode()


def _decode(text: str, dtype: Any) -> NDArray[Any]:
    return np.frombuffer(zlib.decompress(b64decode(text)), dtype=dtype)
