"""Picture of a classifier's regions and, of two features, of its decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from localsvm.inspect._drawing import (
    MARKERS,
    check_fitted_classifier,
    palette,
    sample_of,
    take_axes,
)
from localsvm.inspect._opened import OpenedModel
from localsvm.inspect._regions._plane import (
    Projection,
    Surface,
    border_lines,
    centers_in_columns,
    centers_of_regions,
    features_of,
    two_columns,
)

_NAME = "RegionMapDisplay"
_MOST_LEGEND_REGIONS = 10


@dataclass(kw_only=True, eq=False)
class RegionMapDisplay:
    """Rows and regions of a classifier; its decisions, if there are two features.

    Make one with :meth:`from_estimator`; all parameters are kept as attributes. A
    classifier without regions is drawn without them, so that pictures can be compared.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        Labels of the classes.
    xx0, xx1 : ndarray of shape (n, n) or None, default=None
        Grid, as of :func:`numpy.meshgrid`; None for more than two features.
    margins : ndarray of shape (n_classes, n, n) or None, default=None
        Margin of each class over the best other class at the points of the grid; its
        zero line is the boundary of the class.
    regions : ndarray of int of shape (n, n) or None, default=None
        Region of each point of the grid.
    centers : ndarray of shape (n_regions, 2) or None, default=None
        Of the regions, in the plane.
    X : ndarray of shape (n_samples, 2) or None, default=None
        Rows to draw, in the plane.
    class_index : ndarray of int of shape (n_samples,) or None, default=None
        Positions in ``classes`` of the labels of ``X``.
    row_regions : ndarray of int of shape (n_samples,) or None, default=None
        Region of each row.
    xlabel, ylabel : str, default=""
        Names of the axes.
    note : str, default=""
        What the reader should know of the plane, written below the picture.

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
        Rows, one per class or region; labelled for ``ax_.legend()``.

    See Also
    --------
    explain : Explains predictions.
    region_table : Describes the regions.
    sklearn.inspection.DecisionBoundaryDisplay : Draws any classifier of two features.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from localsvm import ClusteredSVC
    >>> from localsvm.data import make_xor
    >>> from localsvm.inspect import RegionMapDisplay
    >>> X, y = make_xor(400, random_state=0)
    >>> model = ClusteredSVC(n_regions=4, random_state=0).fit(X, y)
    >>> display = RegionMapDisplay.from_estimator(model, X, y)
    >>> plt.show()  # doctest: +SKIP
    """

    classes: NDArray[Any]
    xx0: NDArray[np.float64] | None = None
    xx1: NDArray[np.float64] | None = None
    margins: NDArray[np.float64] | None = None
    regions: NDArray[np.intp] | None = None
    centers: NDArray[np.float64] | None = None
    X: NDArray[np.float64] | None = None
    class_index: NDArray[np.intp] | None = None
    row_regions: NDArray[np.intp] | None = None
    xlabel: str = ""
    ylabel: str = ""
    note: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        grid_resolution: int = 200,
        pad: float = 0.05,
        max_rows: int | None = 5000,
        ax: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Find rows, regions and decisions of a classifier, and draw them.

        Parameters
        ----------
        estimator : fitted classifier or Pipeline
            Its regions are drawn if it has ``region``, as ``ClusteredSVC`` does; their
            centres, too, unless a metric has moved them.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows to draw. Two columns of numbers are the plane, and set its limits; more
            are projected on two principal components of the estimator's features, and
            decisions are not drawn.
        y : array-like of shape (n_samples,), default=None
            Labels that colour the rows.
        grid_resolution : int, default=200
            Points of the grid per feature, of two features.
        pad : float, default=0.05
            Space around the rows, as a share of the range of each feature.
        max_rows : int or None, default=5000
            Of more rows a random part is drawn, always the same.
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        RegionMapDisplay

        Notes
        -----
        Costs one prediction of each point of the grid, the region of each row, and the
        principal components of the rows.
        """
        check_fitted_classifier(estimator, _NAME)
        if grid_resolution < 2:
            raise ValueError(f"grid_resolution={grid_resolution!r} should be >= 2.")
        opened = OpenedModel.of(estimator)
        plane = two_columns(X)
        features = features_of(opened, X)
        drawn = sample_of(features.shape[0], max_rows)
        display = cls(classes=estimator.classes_)
        if y is not None:
            display.class_index = _class_index(estimator, features, y)[drawn]
        if hasattr(opened.estimator, "region"):
            display.row_regions = _regions_of(opened, X, features)[drawn]
        if plane is None:
            display._project(opened, features, drawn)
        else:
            display.X = plane[drawn]
            surface = Surface.of(opened, X, plane, pad, grid_resolution)
            display._take_surface(surface, opened, X)
        return display.plot(ax, **plot_options)

    def plot(
        self,
        ax: Any = None,
        *,
        color_by: str | None = None,
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
        color_by : {"class", "region"} or None, default=None
            What colours the rows. None is the class where labels are known; without
            labels, the region of projected rows, and grey for rows in a plane.
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
        color_by = self._check_color_by(color_by)
        self.ax_ = take_axes(ax, _NAME)
        self.figure_ = self.ax_.figure
        class_colors = palette(len(self.classes)) if colors is None else list(colors)
        self.surface_ = self._draw_surface(class_colors)
        self.rows_ = self._draw_rows(color_by, class_colors, row_kw or {})
        self.borders_ = self._draw_borders(border_kw or {})
        self.boundary_ = self._draw_boundary(boundary_kw or {})
        self.centers_ = self._draw_centers(center_kw or {})
        self.ax_.set(xlabel=self.xlabel, ylabel=self.ylabel)
        if self.xx0 is not None and self.xx1 is not None:
            self.ax_.set_xlim(self.xx0.min(), self.xx0.max())
            self.ax_.set_ylim(self.xx1.min(), self.xx1.max())
        if self.note:
            self.ax_.set_title(self.note, fontsize="small", color="0.35")
        return self

    def _project(
        self, opened: OpenedModel, features: Any, drawn: NDArray[np.intp]
    ) -> None:
        projection = Projection.of(features)
        self.X = projection.project(features[drawn])
        self.xlabel, self.ylabel = projection.labels
        self.note = projection.note
        centers = centers_of_regions(opened)
        if centers is not None:
            self.centers = projection.project(centers)

    def _take_surface(self, surface: Surface, opened: OpenedModel, X: Any) -> None:
        self.xx0, self.xx1 = surface.xx0, surface.xx1
        self.margins, self.regions = surface.margins, surface.regions
        self.centers = centers_in_columns(opened)
        names = getattr(X, "columns", ("", ""))
        self.xlabel, self.ylabel = str(names[0]), str(names[1])

    def _check_color_by(self, color_by: str | None) -> str | None:
        known = {"class": self.class_index, "region": self.row_regions}
        if color_by is None:
            if self.class_index is not None:
                return "class"
            projected = self.xx0 is None and self.row_regions is not None
            return "region" if projected else None
        if color_by not in known:
            raise ValueError(
                f"color_by={color_by!r} is not known; expected 'class', 'region' or "
                "None."
            )
        if known[color_by] is None:
            what = "labels y" if color_by == "class" else "a classifier with regions"
            raise ValueError(f"color_by={color_by!r} needs {what}; found none.")
        return color_by

    def _draw_surface(self, colors: list[Any]) -> list[Any]:
        if self.margins is None:
            return []
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
            for margin, color in zip(self.margins, colors, strict=True)
            if margin.max() > 0
        ]

    def _draw_rows(
        self, color_by: str | None, colors: list[Any], options: dict[str, Any]
    ) -> list[Any]:
        if self.X is None:
            return []
        style: dict[str, Any] = {"s": 12, "alpha": 0.8, "linewidths": 0, "zorder": 1}
        if color_by is None:
            style["color"] = "0.35"
            return [self.ax_.scatter(*self.X.T, **style | options)]
        if color_by == "region":
            return self._draw_rows_of_regions(style | options)
        assert self.class_index is not None
        return [
            self.ax_.scatter(
                *self.X[self.class_index == index].T,
                **{
                    **style,
                    "color": colors[index],
                    "marker": MARKERS[index % len(MARKERS)],
                    "label": str(label),
                    **options,
                },
            )
            for index, label in enumerate(self.classes)
        ]

    def _draw_rows_of_regions(self, style: dict[str, Any]) -> list[Any]:
        """Draw the rows of each region; few enough regions are named in a legend."""
        assert self.X is not None
        assert self.row_regions is not None
        found = np.unique(self.row_regions)
        named = len(found) <= _MOST_LEGEND_REGIONS
        return [
            self.ax_.scatter(
                *self.X[self.row_regions == region].T,
                **{
                    "color": color,
                    "marker": MARKERS[place % len(MARKERS)],
                    "label": f"region {region}" if named else None,
                    **style,
                },
            )
            for place, (region, color) in enumerate(
                zip(found, palette(len(found)), strict=True)
            )
        ]

    def _draw_borders(self, options: dict[str, Any]) -> Any:
        if self.regions is None or self.xx0 is None or self.xx1 is None:
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
        lines = list(border_lines(self.xx0, self.xx1, self.regions))
        return self.ax_.add_collection(LineCollection(lines, **style | options))

    def _draw_boundary(self, options: dict[str, Any]) -> list[Any]:
        if self.margins is None:
            return []
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


def _regions_of(opened: OpenedModel, X: Any, features: Any) -> NDArray[np.intp]:
    """Region of each row; those of a data frame keep the names of its columns."""
    rows = X if opened.steps is None else features
    return np.asarray(opened.estimator.region(rows))


def _class_index(estimator: Any, rows: Any, y: Any) -> NDArray[np.intp]:
    check_consistent_length(rows, y)
    labels = np.asarray(y)
    unknown = np.setdiff1d(labels, estimator.classes_)
    if unknown.size:
        raise ValueError(
            f"y contains labels that the classifier does not know: {unknown.tolist()}; "
            f"expected some of {estimator.classes_.tolist()}."
        )
    return np.asarray(np.searchsorted(estimator.classes_, labels))
