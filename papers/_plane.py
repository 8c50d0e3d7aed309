"""A model of two features as small arrays: measured in a run, drawn from its record."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zlib import compress, decompress

import numpy as np
from numpy.typing import NDArray

from papers._measures import Fitted

_POINTS = 100
_STEPS = 127


@dataclass(frozen=True, eq=False)
class Plane:
    """A model on a square grid of the plane.

    Parameters
    ----------
    extent : tuple of float
        Left, right, bottom, top.
    labels : ndarray of shape (n, n)
        Position of the class at each point, the first line at the bottom.
    decision : ndarray of shape (n, n) or None
        Two classes: some increasing function of the decision, with the same sign.
    regions : ndarray of shape (n, n) or None
        Region of each point, if the model has regions.
    X : ndarray of shape (n_samples, 2)
        Training rows.
    y : ndarray of shape (n_samples,)
        Positions of their classes.
    """

    extent: tuple[float, float, float, float]
    labels: NDArray[np.int8]
    decision: NDArray[np.int8] | None
    regions: NDArray[np.int8] | None
    X: NDArray[np.float64]
    y: NDArray[np.int8]


def plane(fitted: Fitted) -> Mapping[str, Any]:
    """Measure: what a model of two features says around its training rows."""
    X, y = fitted.rows.X_train, fitted.rows.y_train
    classes, class_index = np.unique(y, return_inverse=True)
    extent = _extent(X)
    points = _grid(extent).astype(X.dtype)
    labels = np.searchsorted(classes, fitted.model.predict(points))
    drawn = {
        "extent": extent,
        "labels": _encode(labels),
        "X": np.round(X, 3).tolist(),
        "y": _encode(class_index),
    }
    if len(classes) == 2 and hasattr(fitted.model, "decision_function"):
        drawn["decision"] = _encode(_steps(fitted.model.decision_function(points)))
    if hasattr(fitted.model, "region"):
        drawn["regions"] = _encode(fitted.model.region(points))
    return {"plane": drawn}


def read_plane(record: Mapping[str, Any]) -> Plane:
    """Give what :func:`plane` measured, from the record of the run."""
    drawn = record["arrays"]["plane"]
    left, right, bottom, top = drawn["extent"]
    maps = {
        name: _decode(drawn[name]).reshape(_POINTS, _POINTS) if name in drawn else None
        for name in ("decision", "regions")
    }
    return Plane(
        extent=(left, right, bottom, top),
        labels=_decode(drawn["labels"]).reshape(_POINTS, _POINTS),
        X=np.array(drawn["X"]),
        y=_decode(drawn["y"]),
        **maps,
    )


def _extent(X: NDArray[Any]) -> list[float]:
    low, high = X.min(axis=0), X.max(axis=0)
    low, high = low - 0.05 * (high - low), high + 0.05 * (high - low)
    return [round(float(v), 4) for v in (low[0], high[0], low[1], high[1])]


def _grid(extent: list[float]) -> NDArray[np.float64]:
    x = np.linspace(extent[0], extent[1], _POINTS)
    y = np.linspace(extent[2], extent[3], _POINTS)
    return np.stack([part.ravel() for part in np.meshgrid(x, y)], axis=1)


def _steps(decision: NDArray[Any]) -> NDArray[Any]:
    # Fine near zero, where the boundary is drawn; far away only the sign matters.
    scale = float(np.median(np.abs(decision))) or 1.0
    return np.round(_STEPS * np.tanh(decision / scale))


def _encode(values: NDArray[Any]) -> str:
    return b64encode(compress(np.asarray(values).astype(np.int8).tobytes())).decode()


def _decode(text: str) -> NDArray[np.int8]:
    return np.frombuffer(decompress(b64decode(text)), dtype=np.int8)
