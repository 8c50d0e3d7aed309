"""Rows, regions and decisions of a classifier in a plane."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage, sparse
from sklearn.decomposition import PCA

from localsvm.data import as_frame
from localsvm.inspect._opened import OpenedModel
from localsvm.inspect._regions._region_table import as_matrix

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Surface:
    """A classifier of two features on a grid.

    Attributes
    ----------
    xx0, xx1 : ndarray of shape (n, n)
    margins : ndarray of shape (n_classes, n, n)
        Lead of each class over the best other one.
    regions : ndarray of shape (n, n) or None
    """

    xx0: Floats
    xx1: Floats
    margins: Floats
    regions: NDArray[np.intp] | None

    @classmethod
    def of(
        cls, opened: OpenedModel, X: Any, limits: Floats, pad: float, n_points: int
    ) -> Surface:
        """Evaluate a model on a grid around rows of two columns."""
        xx0, xx1 = np.meshgrid(*(_axis(values, pad, n_points) for values in limits.T))
        grid = _like(X, np.column_stack([xx0.ravel(), xx1.ravel()]))
        margins = _margins(opened.model, grid).T.reshape(-1, *xx0.shape)
        regions = None
        if hasattr(opened.estimator, "region"):
            regions = opened.estimator.region(opened.features(grid))
            regions = np.asarray(regions).reshape(xx0.shape)
        return cls(xx0, xx1, margins, regions)


@dataclass(frozen=True)
class Projection:
    """Rows of many features on their two principal components.

    Attributes
    ----------
    axes : PCA
    n_features : int
    typical : ndarray of shape (n_features,) or None
        Medians, in which place a missing value is drawn; None of sparse rows.
    """

    axes: PCA
    n_features: int
    typical: Floats | None = None

    @classmethod
    def of(cls, rows: Any) -> Projection:
        """Find the components of rows of numbers."""
        n_features = rows.shape[1]
        if min(rows.shape) < 2:
            raise ValueError(
                f"RegionMapDisplay draws two features or more of two rows or more; X "
                f"has {n_features} features and {rows.shape[0]} rows."
            )
        if sparse.issparse(rows) and min(rows.shape) <= 2:
            rows = rows.toarray()
        if sparse.issparse(rows):
            axes = PCA(2, svd_solver="arpack", random_state=0).fit(rows)
            return cls(axes, n_features)
        typical = np.nan_to_num(_medians(np.asarray(rows, dtype=np.float64)))
        axes = PCA(2, random_state=0).fit(np.where(np.isnan(rows), typical, rows))
        return cls(axes, n_features, typical)

    def project(self, rows: Any) -> Floats:
        """Place rows in the plane of the components."""
        if self.typical is not None and not sparse.issparse(rows):
            rows = np.where(np.isnan(rows), self.typical, rows)
        return np.asarray(self.axes.transform(rows))

    @property
    def labels(self) -> tuple[str, str]:
        """Names of the axes, with the share of the variance that they show."""
        shares = np.nan_to_num(self.axes.explained_variance_ratio_)
        first, second = (f"{share:.0%} of the variance" for share in shares)
        return f"first principal component, {first}", f"second, {second}"

    @property
    def note(self) -> str:
        """What the picture cannot show."""
        return (
            f"two principal components of {self.n_features} features:\n"
            "what overlaps here may lie apart"
        )


def _medians(rows: Floats) -> Floats:
    """Median of each column's values; NaN where it has none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.asarray(np.nanmedian(rows, axis=0))


def two_columns(X: Any) -> Floats | None:
    """Rows of two columns of numbers, None if they are not."""
    frame = as_frame(X)
    values = X if frame is None else frame
    if sparse.issparse(values):
        values = values.toarray()
    elif not hasattr(values, "shape"):
        values = np.asarray(values)
    if len(values.shape) != 2:
        raise ValueError(
            f"RegionMapDisplay draws rows; X has {len(values.shape)}D data, expected "
            "the shape (n_samples, n_features)."
        )
    if values.shape[1] != 2:
        return None
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):  # a column of words, or of dates
        return None


def centers_of_regions(opened: OpenedModel) -> Floats | None:
    """Centres of the regions in the features of the estimator, if they have any."""
    # The map takes any classifier of scikit-learn, too.
    find = getattr(opened.estimator, "_region_centers", lambda: None)
    centers = find()
    return None if centers is None else np.asarray(centers, dtype=np.float64)


def centers_in_columns(opened: OpenedModel) -> Floats | None:
    """Centres of the regions in the two columns of the table, if that is known."""
    centers = centers_of_regions(opened)
    if centers is None or opened.steps is None:
        return centers
    found = np.array([opened.in_units(center) for center in centers])
    of_column = opened.column_of_feature
    if of_column is None or len(of_column) != 2 or np.isnan(found).any():
        return None
    return found


def features_of(opened: OpenedModel, X: Any) -> Any:
    """Rows as the estimator sees them, as numbers."""
    return as_matrix(opened.features(X))


def border_lines(xx0: Floats, xx1: Floats, regions: NDArray[np.intp]) -> Iterator[Any]:
    """Lines between the points of different regions, each border once."""
    from contourpy import contour_generator

    labels = np.unique(regions, return_inverse=True)[1].reshape(regions.shape)
    for label, box in enumerate(ndimage.find_objects(labels + 1)):
        window = tuple(slice(max(s.start - 1, 0), s.stop + 1) for s in box)
        near = labels[window]
        if min(near.shape) < 2:
            continue
        # The borders with earlier regions are drawn already; a dashed line that is
        # drawn twice looks solid.
        inside = np.ma.masked_where(near < label, (near == label).astype(float))
        lines: Any = contour_generator(xx0[window], xx1[window], inside).lines(0.5)
        yield from lines


def _axis(values: Floats, pad: float, n_points: int) -> Floats:
    low, high = float(values.min()), float(values.max())
    space = pad * (high - low) if high > low else 1.0
    return np.linspace(low - space, high + space, n_points)


def _like(X: Any, grid: Floats) -> Any:
    """Grid as a data frame if the rows are one, with the same names."""
    if not hasattr(X, "columns"):
        return grid
    return type(X)(dict(zip(X.columns, grid.T, strict=True)))


def _margins(model: Any, grid: Any) -> Floats:
    """Margins of shape (n_points, n_classes) that agree with ``predict``."""
    winner = np.searchsorted(model.classes_, model.predict(grid))
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(grid), dtype=np.float64)
        scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        # Kernel SVMs decide several classes by votes, which may differ from scores.
        if np.array_equal(scores.argmax(axis=1), winner):
            return _over_best_other(scores)
    return _over_best_other(np.eye(len(model.classes_))[winner])


def _over_best_other(scores: Floats) -> Floats:
    second, best = np.partition(scores, -2, axis=1)[:, -2:].T
    is_best = np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, np.newaxis]
    best_other = np.where(is_best, second[:, np.newaxis], best[:, np.newaxis])
    return np.asarray(scores - best_other)
