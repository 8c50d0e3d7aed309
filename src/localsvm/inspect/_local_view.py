"""Decisions of an estimator near a point: labels, scores, weights, regions."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm._checks import check_mapped_rows
from localsvm.estimators import ColumnParts

Floats = NDArray[np.float64]
# Of points that are worked on at once.
_BLOCK_VALUES = 1 << 22
# Of parts of decisions that are computed at once: they stay in the cache.
_SPLIT_VALUES = 1 << 18


@dataclass(frozen=True)
class LocalView:
    """An estimator that takes arrays without names, and has one score per class.

    The scores of two classes are 0 and the decision value, so that their difference is
    the decision value.

    Attributes
    ----------
    estimator : fitted estimator with ``local_coef``
    """

    estimator: Any

    @classmethod
    def of(cls, estimator: Any) -> LocalView:
        """Look at a copy, so that the estimator of the user is left as it is."""
        bare = copy(estimator)
        if hasattr(bare, "feature_names_in_"):
            del bare.feature_names_in_
        return cls(bare)

    @property
    def classes(self) -> NDArray[Any]:
        """Labels of the classes."""
        return np.asarray(self.estimator.classes_)

    @property
    def has_regions(self) -> bool:
        """Whether rows fall in regions."""
        return hasattr(self.estimator, "region")

    def winners(self, points: Floats) -> NDArray[np.intp]:
        """Position of the predicted class of each point."""
        values = _in_blocks(self._decide, points)
        if values.shape[1] == 1:
            return (values[:, 0] > 0).astype(np.intp)
        return np.asarray(values.argmax(axis=1))

    def scores(self, points: Floats) -> Floats:
        """Scores of shape (n_points, n_classes)."""
        return self.by_class(_in_blocks(self._decide, points))

    def _decide(self, points: Floats) -> NDArray[Any]:
        """Decisions, of shape (n_points, n_outputs), without a check of the points."""
        metric = getattr(self.estimator, "metric_", None)
        if metric is not None:
            points = check_mapped_rows(metric.transform(points))
        # Of a table, a column is contiguous; the core takes rows that are.
        rows = points if sparse.issparse(points) else np.ascontiguousarray(points)
        return np.asarray(self.estimator._decide(rows))

    def by_class(self, decisions: Any) -> Floats:
        """Scores of what ``decision_function`` returned."""
        wide = np.reshape(decisions, (len(decisions), -1))
        return _with_first(wide, len(self.classes))

    def linear_functions(self, points: Any) -> tuple[Floats, Floats]:
        """Weights (n_points, n_classes, n_features) and intercepts of the scores."""
        coef, intercept = self.estimator.local_coef(points)
        n_classes = len(self.classes)
        return _with_first(coef, n_classes), _with_first(intercept, n_classes)

    def effects(self, points: Any) -> Floats | None:
        """Return what features add to scores, (n_points, n_classes, n_features).

        None of models that are no sums over the features.
        """
        if not hasattr(self.estimator, "contributions"):
            return None
        parts = self.estimator.contributions(points)
        tasks = parts[..., np.newaxis] if parts.ndim == 2 else parts
        return _with_first(np.moveaxis(tasks, 2, 1), len(self.classes))

    def column_parts(self, points: Any) -> ColumnParts:
        """Split decisions by column, blocks of points at a time."""
        n_values = points.shape[1] * len(self.classes)
        step = max(1, _SPLIT_VALUES // n_values)
        blocks = [
            self.estimator._column_parts(points[i : i + step])
            for i in range(0, points.shape[0], step)
        ]
        return ColumnParts.stacked(blocks)

    def terms(self, point: Any, label: int) -> dict[str, float]:
        """Return what each term adds to the score of a class, of a sum of terms."""
        if not hasattr(self.estimator, "parts"):
            return {}
        task = 0 if len(self.classes) == 2 else label
        found = self.estimator.parts(point)
        return {name: float(part[0, task]) for name, part in found.items()}

    def slopes(self, point: Floats) -> Floats:
        """Weights of the scores at one point, of shape (n_classes, n_features)."""
        return np.asarray(self.linear_functions(point[np.newaxis])[0][0])

    def regions(self, points: Any) -> NDArray[np.intp]:
        """Region of each point."""
        return np.asarray(_in_blocks(self.estimator.region, points), dtype=np.intp)

    def is_curved(self, region: int | None) -> bool:
        """Whether a kernel SVM decides in a region, or a mixture of linear ones."""
        return bool(self.estimator._is_curved(region))

    def has_votes(self, region: int | None) -> bool:
        """Whether scores are votes, whose differences are no distances."""
        return bool(self.estimator._has_votes(region))


def leads(scores: Floats) -> Floats:
    """Difference between the best and the second best score of each row."""
    second, best = np.partition(scores, -2, axis=1)[:, -2:].T
    return np.asarray(best - second)


def _with_first(values: NDArray[Any], n_classes: int) -> Floats:
    """Give the first of two classes zeros of its own."""
    wide = np.asarray(values, dtype=np.float64)
    if n_classes > 2:
        return wide
    return np.concatenate([np.zeros_like(wide), wide], axis=1)


def _in_blocks(method: Callable[[Any], Any], points: Any) -> NDArray[Any]:
    """Call a method on blocks of points that fit the memory."""
    step = max(1, _BLOCK_VALUES // points.shape[1])
    n_points = points.shape[0]
    if n_points <= step:
        return np.asarray(method(points))
    parts = [method(points[i : i + step]) for i in range(0, n_points, step)]
    return np.concatenate(parts)
