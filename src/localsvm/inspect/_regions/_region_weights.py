"""Picture of the weights of features in the regions of a classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from localsvm.inspect._drawing import take_axes
from localsvm.inspect._labels import shorten
from localsvm.inspect._local_view import LocalView
from localsvm.inspect._opened import OpenedModel
from localsvm.inspect._regions._region_table import as_matrix
from localsvm.inspect._regions._weights import region_weights

_NAME = "RegionWeightsDisplay"
# Columns whose numbers have room side by side.
_MOST_UPRIGHT = 10


@dataclass(kw_only=True, eq=False)
class RegionWeightsDisplay:
    """Weights of the features that matter most in the largest regions: a heat map.

    Make one with :meth:`from_estimator`; all parameters are kept as attributes.

    Parameters
    ----------
    weights : ndarray of shape (n_features, n_regions)
        Weight of each feature in each region.
    feature_names : list of str
        Names of the rows of the map, the largest weight first.
    regions : ndarray of int of shape (n_regions,)
        Numbers of the columns of the map, the largest region first.
    label : label
        Class that positive weights speak for.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    image_ : AxesImage
    colorbar_ : Colorbar or None

    See Also
    --------
    region_table : The top features of each region, in a table.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from localsvm import ClusteredSVC
    >>> from localsvm.inspect import RegionWeightsDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), ClusteredSVC(5, random_state=0))
    >>> display = RegionWeightsDisplay.from_estimator(model.fit(X, y))
    >>> plt.show()  # doctest: +SKIP
    """

    weights: NDArray[np.float64]
    feature_names: list[str]
    regions: NDArray[np.intp]
    label: Any

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        label: Any = None,
        n_features: int = 15,
        n_regions: int = 20,
        feature_names: Any = None,
        ax: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Take the weights of a model, and draw them.

        Parameters
        ----------
        estimator : fitted classifier with regions, or Pipeline that ends in one
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), \
                default=None
            Rows, of which kernel regions take their mean gradient; without them only
            linear regions, and clusters, are drawn.
        label : label, default=None
            Of several classes, the one whose weights are drawn; None is the most
            frequent one.
        n_features : int, default=15
            Features, those with the largest weight in a region that is drawn.
        n_regions : int, default=20
            Regions, the largest ones.
        feature_names : sequence of str, default=None
            None takes those of the fit, or of the pipeline's steps.
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **plot_options : dict
            Passed to :meth:`plot`.

        Returns
        -------
        RegionWeightsDisplay

        Notes
        -----
        Weights are comparable between features that have been scaled.
        """
        opened = OpenedModel.of(estimator, feature_names)
        view = LocalView.of(opened.estimator)
        _check_regions(view)
        task, label = _task(view, label)
        rows = None if X is None else as_matrix(opened.features(X))
        weights = region_weights(view, rows)[:, task]
        sizes = np.asarray(view.estimator.region_sizes_)
        order = np.argsort(-sizes, kind="stable")
        regions = order[~np.isnan(weights[order, 0])][: max(n_regions, 1)]
        if not len(regions):
            raise ValueError(
                "Weights of kernel regions are mean gradients of rows; found no X. "
                "Give rows, for instance the training rows."
            )
        largest = np.abs(weights[regions]).max(axis=0)
        features = np.argsort(-largest, kind="stable")[: max(n_features, 1)]
        return cls(
            weights=weights[np.ix_(regions, features)].T,
            feature_names=[opened.feature_names[j] for j in features],
            regions=regions,
            label=label,
        ).plot(ax, **plot_options)

    def plot(
        self, ax: Any = None, *, cmap: Any = "RdBu_r", colorbar: bool = True
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        cmap : str or matplotlib Colormap, default="RdBu_r"
            Its middle is the weight zero.
        colorbar : bool, default=True
            Whether a bar shows what the colours mean.

        Returns
        -------
        RegionWeightsDisplay
        """
        self.ax_ = take_axes(ax, _NAME)
        self.figure_ = self.ax_.figure
        limit = float(np.abs(self.weights).max()) or 1.0
        self.image_ = self.ax_.imshow(
            self.weights, cmap=cmap, vmin=-limit, vmax=limit, aspect="auto"
        )
        self.ax_.set_xticks(
            np.arange(len(self.regions)),
            self.regions.astype(str),
            rotation=90 if len(self.regions) > _MOST_UPRIGHT else 0,
        )
        names = [shorten(name) for name in self.feature_names]
        self.ax_.set_yticks(np.arange(len(names)), names)
        self.ax_.set(xlabel="region, the largest first")
        words = f"weight: red speaks for class {shorten(self.label)}"
        self.colorbar_ = None
        if colorbar:
            self.colorbar_ = self.figure_.colorbar(self.image_, ax=self.ax_)
            self.colorbar_.set_label(words if cmap == "RdBu_r" else "weight")
        return self


def _check_regions(view: LocalView) -> None:
    if not hasattr(view.estimator, "region_class_counts_"):
        raise TypeError(
            f"{_NAME} needs an estimator with regions, such as ClusteredSVC or "
            f"StagedSVC; got {type(view.estimator).__name__}."
        )


def _task(view: LocalView, label: Any) -> tuple[int, Any]:
    """Task whose weights are drawn, and the class that they speak for."""
    classes = view.classes.tolist()
    if label is not None and label not in classes:
        raise ValueError(f"label={label!r} is not known; expected one of {classes}.")
    if len(classes) == 2:
        if label is not None and label != classes[1]:
            raise ValueError(
                f"label={label!r} is the first of two classes, whose weights are those "
                f"of {classes[1]!r} with the other sign; expected {classes[1]!r} or "
                "None."
            )
        return 0, classes[1]
    if label is None:
        label = classes[view.estimator.region_class_counts_.sum(axis=0).argmax()]
    return classes.index(label), label
