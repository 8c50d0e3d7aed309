"""The linear function that decides a row."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from localsvm.inspect._local_view import Floats, LocalView

_LEAST_GAP = 1e-12


@dataclass(frozen=True)
class LocalFunction:
    """What decides a row: scores and their weights.

    Attributes
    ----------
    x : ndarray of shape (n_features,)
    label : int
        Position of the predicted class.
    scores : ndarray of shape (n_classes,)
    slopes : ndarray of shape (n_classes, n_features)
    intercepts : ndarray of shape (n_classes,)
    region : int or None
        The main region.
    is_curved : bool
        Whether the slopes are a gradient.
    has_votes : bool
        Whether scores are votes, whose differences are no distances.
    """

    x: Floats
    label: int
    scores: Floats
    slopes: Floats
    intercepts: Floats
    region: int | None
    is_curved: bool
    has_votes: bool

    def gaps(self) -> tuple[NDArray[np.intp], Floats, Floats]:
        """Other classes, how far they are behind, and how that changes with x."""
        others = np.delete(np.arange(len(self.scores)), self.label)
        behind = self.scores[self.label] - self.scores[others]
        # A vote says nothing of distance: what a decision value of one would take.
        size = np.ones_like(behind) if self.has_votes else behind
        slope = self.slopes[self.label] - self.slopes[others]
        return others, np.maximum(size, _LEAST_GAP), slope

    def distance(self) -> float:
        """Distance to the nearest border of the linear function, were it to hold."""
        _, gaps, slopes = self.gaps()
        norms = np.linalg.norm(slopes, axis=1)
        return float((gaps[norms > 0] / norms[norms > 0]).min(initial=np.inf))

    def moved(self, view: LocalView, point: Floats) -> LocalFunction:
        """Give the function of another point, for the label of this one."""
        slopes, intercepts = view.linear_functions(point[np.newaxis])
        scores = view.scores(point[np.newaxis])
        return replace(
            self, x=point, scores=scores[0], slopes=slopes[0], intercepts=intercepts[0]
        )
