"""Picture of a two-feature classifier: decision regions, boundary, regions, rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage, sparse
from sklearn.base import is_classifier
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from localsvm._extras import require

# Okabe and Ito's colours, which colour-blind readers can tell apart.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#F0E442")
_MARKERS = ("o", "^", "s", "D", "v", "P", "X")


@dataclass(kw_only=True, eq=False)
class RegionMapDisplay:
    """Decision regions of a two-feature classifier and the regions of its clustering.

    Make one with :meth:`from_estimator`; all parameters are kept as attributes. A
    classifier without regions is drawn without them, so that pictures can be compared.

    Parameters
    ----------
    xx0, xx1 : ndarray of shape (n, n)
        Grid, as of :func:`numpy.meshgrid`.
    margins : ndarray of shape (n_classes, n, n)
        Margin of each class over the best other class at the points of the grid; its
        zero line is the boundary of the class.
    classes : ndarray of shape (n_classes,)
    regions : ndarray of int of shape (n, n) or None, default=None
        Region of each point of the grid.
    centers : ndarray of shape (n_regions, 2) or None, default=None
    X : ndarray of shape (n_samples, 2) or None, default=None
        Rows to draw.
    class_index : ndarray of int of shape (n_samples,) or None, default=None
        Positions in ``classes`` of the labels of ``X``.
    xlabel, ylabel : str, default=""

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    surface_ : list of QuadContourSet
        Background, one per class.
    boundary_ : list of QuadContourSet
        Zero lines of the margins: one for two classes, else one per class.
    borders_ : LineCollection or None
        Borders of the regions.
    centers_ : PathCollection or None
    rows_ : list of PathCollection
        Rows, one per class; labelled for ``ax_.legend()``.

    See Also
    --------
    explain : Explains one prediction.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from localsvm import ClusteredSVC
    >>> from localsvm.data import make_xor
    >>> from localsvm.inspect import RegionMapDisplay
    >>> X, y = make_xor(400, random_state=0)
    >>> model = ClusteredSVC(n_clusters=4, random_state=0).fit(X, y)
    >>> display = RegionMapDisplay.from_estimator(model, X, y)
    >>> plt.show()  # doctest: +SKIP
    """

    xx0: NDArray[np.float64]
    xx1: NDArray[np.float64]
    margins: NDArray[np.float64]
    classes: NDArray[Any]
    regions: NDArray[np.intp] | None = None
    centers: NDArray[np.float64] | None = None
    X: NDArray[np.float64] | None = None
    class_index: NDArray[np.intp] | None = None
    xlabel: str = ""
    ylabel: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        grid_resolution: int = 200,
        pad: float = 0.05,
        ax: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Evaluate a classifier on a grid around the rows and draw it.

        Parameters
        ----------
        estimator : fitted classifier
            Its regions are drawn if it has ``region``, as ``ClusteredSVC`` does; their
            centres, too, unless a metric has moved them.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, 2)
            Rows to draw; they set the limits of the picture.
        y : array-like of shape (n_samples,), default=None
            Labels that colour the rows; None draws them in grey.
        grid_resolution : int, default=200
            Points of the grid per feature.
        pad : float, default=0.05
            Space around the rows, as a share of the range of each feature.
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        RegionMapDisplay
        """
        _check_classifier(estimator)
        if grid_resolution < 2:
            raise ValueError(f"grid_resolution={grid_resolution!r} should be >= 2.")
        rows = _two_features(X)
        xx0, xx1 = np.meshgrid(*(_axis(x, pad, grid_resolution) for x in rows.T))
        grid = _like(X, np.column_stack([xx0.ravel(), xx1.ravel()]))
        regions = estimator.region(grid) if hasattr(estimator, "region") else None
        names = getattr(X, "columns", ("", ""))
        return cls(
            xx0=xx0,
            xx1=xx1,
            margins=_margins(estimator, grid).T.reshape(-1, *xx0.shape),
            classes=estimator.classes_,
            regions=None if regions is None else regions.reshape(xx0.shape),
            centers=_centers(estimator),
            X=rows,
            class_index=None if y is None else _class_index(estimator, rows, y),
            xlabel=str(names[0]),
            ylabel=str(names[1]),
        ).plot(ax, **plot_options)

    def plot(
        self,
        ax: Any = None,
        *,
        colors: Any = None,
        boundary_kw: dict[str, Any] | None = None,
        border_kw: dict[str, Any] | None = None,
        center_kw: dict[str, Any] | None = None,
        row_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        colors : list of matplotlib colours, default=None
            One per class. None takes colours that colour-blind readers can tell apart.
        boundary_kw, border_kw, center_kw, row_kw : dict, default=None
            Options of ``ax.contour`` for the decision boundary, of ``LineCollection``
            for the borders of the regions, of ``ax.scatter`` for their centres and for
            the rows. ``{"visible": False}`` hides borders, centres or rows.

        Returns
        -------
        RegionMapDisplay
        """
        pyplot = require("matplotlib.pyplot", "plot", "RegionMapDisplay.plot")
        self.ax_ = pyplot.subplots()[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        palette = _palette(len(self.classes)) if colors is None else list(colors)
        self.surface_ = self._draw_surface(palette)
        self.rows_ = self._draw_rows(palette, row_kw or {})
        self.borders_ = self._draw_borders(border_kw or {})
        self.boundary_ = self._draw_boundary(boundary_kw or {})
        self.centers_ = self._draw_centers(center_kw or {})
        self.ax_.set(
            xlim=(self.xx0.min(), self.xx0.max()),
            ylim=(self.xx1.min(), self.xx1.max()),
            xlabel=self.xlabel,
            ylabel=self.ylabel,
        )
        return self

    def _draw_surface(self, palette: list[Any]) -> list[Any]:
        return [
            self.ax_.contourf(
                self.xx0,
                self.xx1,
                margin,
                levels=[0.0, np.inf],
                colors=[color],
                alpha=0.2,
                zorder=0,
            )
            for margin, color in zip(self.margins, palette, strict=True)
            if margin.max() > 0
        ]

    def _draw_rows(self, palette: list[Any], options: dict[str, Any]) -> list[Any]:
        if self.X is None:
            return []
        style: dict[str, Any] = {"s": 12, "alpha": 0.8, "linewidths": 0, "zorder": 1}
        if self.class_index is None:
            style["color"] = "0.35"
            return [self.ax_.scatter(*self.X.T, **style | options)]
        return [
            self.ax_.scatter(
                *self.X[self.class_index == index].T,
                **{
                    **style,
                    "color": palette[index],
                    "marker": _MARKERS[index % len(_MARKERS)],
                    "label": str(label),
                    **options,
                },
            )
            for index, label in enumerate(self.classes)
        ]

    def _draw_borders(self, options: dict[str, Any]) -> Any:
        if self.regions is None:
            return None
        from matplotlib.collections import LineCollection

        style: dict[str, Any] = {
            "colors": "0.6",
            "linewidths": 1.2,
            "linestyles": (0, (4, 3)),
            # Above the boundary: where the class changes from region to region the two
            # lines coincide, and both should be seen.
            "zorder": 3,
            "label": "region border",
        }
        lines = list(_border_lines(self.xx0, self.xx1, self.regions))
        return self.ax_.add_collection(LineCollection(lines, **style | options))

    def _draw_boundary(self, options: dict[str, Any]) -> list[Any]:
        style = {"colors": "black", "linewidths": 2.0, "zorder": 2}
        margins = self.margins[1:] if len(self.classes) == 2 else self.margins
        return [
            self.ax_.contour(self.xx0, self.xx1, margin, levels=[0], **style | options)
            for margin in margins
            if margin.min() < 0 < margin.max()
        ]

    def _draw_centers(self, options: dict[str, Any]) -> Any:
        if self.centers is None:
            return None
        style = {
            "s": 45,
            "marker": "X",
            "color": "black",
            "edgecolors": "white",
            "linewidths": 0.8,
            "zorder": 4,
            "label": "region centre",
        }
        return self.ax_.scatter(*self.centers.T, **style | options)


def _palette(n_classes: int) -> list[Any]:
    if n_classes <= len(_COLORS):
        return list(_COLORS[:n_classes])
    from matplotlib import colormaps

    return list(colormaps["turbo"](np.linspace(0, 1, n_classes)))


def _border_lines(
    xx0: NDArray[np.float64], xx1: NDArray[np.float64], regions: NDArray[np.intp]
) -> Iterator[NDArray[np.float64]]:
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


def _check_classifier(estimator: Any) -> None:
    if not is_classifier(estimator):
        raise TypeError(
            "RegionMapDisplay draws a fitted classifier; got "
            f"{type(estimator).__name__}."
        )
    check_is_fitted(estimator)


def _two_features(X: Any) -> NDArray[np.float64]:
    rows = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        found = f"{rows.shape[1]} features" if rows.ndim == 2 else f"{rows.ndim}D data"
        raise ValueError(
            f"RegionMapDisplay draws two features; X has {found}. Fit the classifier "
            "on two columns, or on two principal components, to draw it."
        )
    return rows


def _axis(
    values: NDArray[np.float64], pad: float, n_points: int
) -> NDArray[np.float64]:
    low, high = float(values.min()), float(values.max())
    space = pad * (high - low) if high > low else 1.0
    return np.linspace(low - space, high + space, n_points)


def _like(X: Any, grid: NDArray[np.float64]) -> Any:
    """Grid as a data frame if the rows are one, with the same names."""
    if not hasattr(X, "columns"):
        return grid
    return type(X)(dict(zip(X.columns, grid.T, strict=True)))


def _margins(estimator: Any, grid: Any) -> NDArray[np.float64]:
    """Margins of shape (n_points, n_classes) that agree with ``predict``."""
    winner = np.searchsorted(estimator.classes_, estimator.predict(grid))
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(grid), dtype=np.float64)
        scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        # Kernel SVMs decide several classes by votes, which may differ from scores.
        if np.array_equal(scores.argmax(axis=1), winner):
            return _over_best_other(scores)
    return _over_best_other(np.eye(len(estimator.classes_))[winner])


def _over_best_other(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    second, best = np.partition(scores, -2, axis=1)[:, -2:].T
    is_best = np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, np.newaxis]
    best_other = np.where(is_best, second[:, np.newaxis], best[:, np.newaxis])
    return np.asarray(scores - best_other)


def _centers(estimator: Any) -> NDArray[np.float64] | None:
    """Centres of the regions, if they have any in the columns of the rows."""
    if getattr(estimator, "metric_", None) is not None:
        return None
    centers = getattr(getattr(estimator, "regions_", None), "centers", None)
    return None if centers is None else np.asarray(centers, dtype=np.float64)


def _class_index(estimator: Any, rows: NDArray[np.float64], y: Any) -> NDArray[np.intp]:
    check_consistent_length(rows, y)
    labels = np.asarray(y)
    unknown = np.setdiff1d(labels, estimator.classes_)
    if unknown.size:
        raise ValueError(
            f"y contains labels that the classifier does not know: {unknown.tolist()}; "
            f"expected some of {estimator.classes_.tolist()}."
        )
    return np.asarray(np.searchsorted(estimator.classes_, labels))
