"""Picture of the tables of an additive model: what each column adds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from localsvm._extras import require
from localsvm.estimators import ColumnEffect
from localsvm.inspect._drawing import COLORS
from localsvm.inspect._labels import shorten
from localsvm.inspect._opened import OpenedModel

_NAME = "ColumnEffectsDisplay"
_PANELS_ABREAST = 3
_PANEL = 3.2, 2.6
_MOST_LEVELS = 12
# Of the height of a panel that the tallest bar of rows takes.
_SHARE_OF_ROWS = 0.25
# Of the span of the edges that the first and the last bin are drawn with.
_MARGIN = 0.06


@dataclass(kw_only=True, eq=False)
class ColumnEffectsDisplay:
    """Effects of the most important columns as steps, above their shares of rows.

    Make one with :meth:`from_estimator`; all parameters are kept as attributes.

    Parameters
    ----------
    effects : list of ColumnEffect
        Of one class each, the most important column first.
    label : label
        Class that positive effects speak for.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        One per column.
    row_axes_ : list of matplotlib Axes
        Those of the shares of rows, on the same places.
    figure_ : matplotlib Figure

    See Also
    --------
    localsvm.AdditiveSVC : Its ``column_effects_`` are what is drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_breast_cancer
    >>> from localsvm import AdditiveSVC
    >>> from localsvm.inspect import ColumnEffectsDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = AdditiveSVC(random_state=0).fit(X, y)
    >>> display = ColumnEffectsDisplay.from_estimator(model, n_columns=3)
    >>> plt.show()  # doctest: +SKIP
    """

    effects: list[ColumnEffect]
    label: Any

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        label: Any = None,
        n_columns: int = 6,
        feature_names: Any = None,
        axes: Any = None,
    ) -> Self:
        """Take the tables of a model, and draw them.

        Parameters
        ----------
        estimator : fitted AdditiveSVC, or Pipeline that ends in one
        label : label, default=None
            Of several classes, the one whose effects are drawn; None is the one with
            the largest effects.
        n_columns : int, default=6
            Columns, the most important ones.
        feature_names : sequence of str, default=None
            None takes those of the fit, or of the pipeline's steps.
        axes : sequence of matplotlib Axes, default=None
            One per column; None makes a new figure.

        Returns
        -------
        ColumnEffectsDisplay
        """
        opened = OpenedModel.of(estimator, feature_names)
        if not hasattr(opened.estimator, "column_effects_"):
            raise TypeError(
                f"{_NAME} needs an AdditiveSVC, alone or at the end of a pipeline; got "
                f"{type(opened.estimator).__name__}."
            )
        found = [
            replace(each, name=name)
            for each, name in zip(
                opened.estimator.column_effects_, opened.feature_names, strict=True
            )
        ]
        classes = opened.estimator.classes_.tolist()
        found, label = _of_class(found, classes, label)
        found.sort(key=lambda each: -each.importance)
        return cls(effects=found[: max(n_columns, 1)], label=label).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, default=None
            One per column; None makes a new figure.

        Returns
        -------
        ColumnEffectsDisplay
        """
        self.axes_ = _new_axes(len(self.effects)) if axes is None else list(axes)
        if len(self.axes_) != len(self.effects):
            raise ValueError(
                f"axes has {len(self.axes_)} entries; expected {len(self.effects)}, "
                "one per column."
            )
        self.figure_ = self.axes_[0].figure
        self.row_axes_ = [
            _draw_column(ax, effect)
            for ax, effect in zip(self.axes_, self.effects, strict=True)
        ]
        self.axes_[0].set_ylabel(f"for {shorten(self.label)}")
        return self


def _of_class(
    effects: list[ColumnEffect], classes: list[Any], label: Any
) -> tuple[list[ColumnEffect], Any]:
    """Effects of one class, and its label."""
    if label is not None and label not in classes:
        raise ValueError(f"label={label!r} is not known; expected one of {classes}.")
    if len(classes) == 2:
        if label is not None and label != classes[1]:
            raise ValueError(
                f"label={label!r} is the first of two classes, whose effects are those "
                f"of {classes[1]!r} with the other sign; expected {classes[1]!r} or "
                "None."
            )
        return effects, classes[1]
    sizes = np.array([_mean_sizes(each) for each in effects])
    place = sizes.sum(axis=0).argmax() if label is None else classes.index(label)
    own = [
        replace(
            each,
            effect=each.effect[:, place],
            missing_effect=each.missing_effect[place],
            rare_effect=each.rare_effect[place],
            importance=float(size),
        )
        for each, size in zip(effects, sizes[:, place], strict=True)
    ]
    return own, classes[place]


def _mean_sizes(each: ColumnEffect) -> NDArray[np.float64]:
    """Mean size of the effect for each class."""
    effect = np.vstack([each.effect, each.missing_effect, each.rare_effect])
    weight = np.append(each.weight, [each.missing_weight, each.rare_weight])
    return np.asarray(weight @ np.abs(effect) / weight.sum())


def _new_axes(n_columns: int) -> list[Any]:
    pyplot = require("matplotlib.pyplot", "plot", f"{_NAME}.plot")
    abreast = min(n_columns, _PANELS_ABREAST)
    lines = -(-n_columns // abreast)
    size = _PANEL[0] * abreast, _PANEL[1] * lines
    _, grid = pyplot.subplots(
        lines, abreast, figsize=size, layout="constrained", squeeze=False
    )
    for ax in grid.flat[n_columns:]:
        ax.set_visible(False)
    return list(grid.flat[:n_columns])


def _draw_column(ax: Any, effect: ColumnEffect) -> Any:
    """Draw one column; return the axes of its shares of rows."""
    rows = ax.twinx()
    ax.set_zorder(rows.get_zorder() + 1)
    ax.patch.set_visible(False)
    ax.axhline(0, color="0.7", linewidth=0.8)
    ax.set_title(shorten(effect.name), fontsize="medium")
    draw = _draw_number if effect.kind == "number" else _draw_category
    shares = draw(ax, rows, effect)
    rows.set_ylim(0, float(shares.max(initial=0.0)) / _SHARE_OF_ROWS or 1.0)
    rows.set_yticks([])
    return rows


def _total(effect: ColumnEffect) -> float:
    return float(effect.weight.sum() + effect.missing_weight + effect.rare_weight)


def _draw_number(ax: Any, rows: Any, effect: ColumnEffect) -> NDArray[np.float64]:
    edges = effect.edges if len(effect.edges) else np.zeros(1)
    margin = _MARGIN * (np.ptp(edges) or 1.0)
    ends = np.concatenate([[edges[0] - margin], effect.edges, [edges[-1] + margin]])
    shares = effect.weight / _total(effect)
    ax.stairs(effect.effect, ends, baseline=None, color=COLORS[0], linewidth=1.5)
    rows.stairs(shares, ends, fill=True, color="0.88")
    if effect.missing_weight:
        share = effect.missing_weight / _total(effect)
        label = f"missing ({share:.0%})"
        ax.axhline(effect.missing_effect, color=COLORS[1], linestyle=":", label=label)
        ax.legend(fontsize="small", frameon=False)
    return shares


def _draw_category(ax: Any, rows: Any, effect: ColumnEffect) -> NDArray[np.float64]:
    shown = min(len(effect.levels), _MOST_LEVELS)
    bars = list(
        zip(
            [f"{level:g}" for level in effect.levels[:shown]],
            effect.effect[:shown],
            effect.weight[:shown],
            strict=True,
        )
    )
    if effect.rare_weight:
        bars.append(("rare", effect.rare_effect, effect.rare_weight))
    if effect.missing_weight:
        bars.append(("missing", effect.missing_effect, effect.missing_weight))
    names, heights, weights = zip(*bars, strict=True)
    places, shares = np.arange(len(bars)), np.array(weights) / _total(effect)
    ax.hlines(heights, places - 0.4, places + 0.4, color=COLORS[0], linewidth=2.5)
    rows.bar(places, shares, width=0.8, color="0.88")
    ax.set_xticks(places, names, rotation=90 if len(bars) > _PANELS_ABREAST else 0)
    hidden = len(effect.levels) - shown
    if hidden:
        ax.set_xlabel(f"{hidden} more level" + ("s" if hidden > 1 else ""))
    return shares
