"""What the displays share: axes, colours, checks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from localsvm._extras import require

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#F0E442")
MARKERS = ("o", "^", "s", "D", "v", "P", "X")


def take_axes(ax: Any, display: str) -> Any:
    """Axes to draw on, those of a new figure if there are none."""
    pyplot = require("matplotlib.pyplot", "plot", f"{display}.plot")
    return pyplot.subplots(layout="constrained")[1] if ax is None else ax


def palette(n_colors: int) -> list[Any]:
    """Colours that can be told apart."""
    if n_colors <= len(COLORS):
        return list(COLORS[:n_colors])
    from matplotlib import colormaps

    return list(colormaps["turbo"](np.linspace(0, 1, n_colors)))


def check_fitted_classifier(model: Any, display: str) -> None:
    """Raise unless the model is a classifier, and fitted."""
    if not is_classifier(model):
        raise TypeError(
            f"{display} draws a fitted classifier; got {type(model).__name__}."
        )
    check_is_fitted(model)


def sample_of(n_rows: int, most: int | None) -> NDArray[np.intp]:
    """Positions of all rows, or of as many as are wanted, always the same."""
    if most is None or n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).permutation(n_rows)[:most])
