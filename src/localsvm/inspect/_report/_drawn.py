"""Pictures of the model: map, weights, calibration and time of the fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from localsvm.inspect._column_effects import ColumnEffectsDisplay
from localsvm.inspect._fit_report import FitReportDisplay
from localsvm.inspect._labels import LabelCoding
from localsvm.inspect._opened import OpenedModel
from localsvm.inspect._quality._reliability import ReliabilityDisplay
from localsvm.inspect._quality._scores import gives_confidence
from localsvm.inspect._regions._region_map import RegionMapDisplay
from localsvm.inspect._regions._region_weights import RegionWeightsDisplay
from localsvm.inspect._report._svg import Picture, new_axes, new_figure, picture_of
from localsvm.inspect._report._text import clean, plural, seconds

_MAP_ROWS = 2000
_MAP_GRID = 120
_MOST_COLORS = 20
_MOST_NARROW = 10
_MAP_STYLE: dict[str, Any] = {"row_kw": {"rasterized": True}, "center_kw": {"s": 30}}
_LONGEST_LEGEND = 30
_MOST_LEGEND_ENTRIES = 14
_MOST_EFFECTS, _EFFECTS_ABREAST = 9, 3


@dataclass(frozen=True)
class Drawn:
    """A picture with its caption, or the reason why there is none."""

    words: str
    picture: Picture | None = None
    is_wide: bool = False


def draw_map(model: Any, X: Any, y: Any, coding: LabelCoding) -> Drawn:
    """Draw rows in the plane, or projected on one: by class, and by few regions."""
    known = not coding.unknown
    n_regions = len(OpenedModel.of(model).estimator.region_sizes_)
    panels = ["class"] * known + ["region"] * (n_regions <= _MOST_COLORS or not known)
    figure, axes = new_figure((5.4, 8.6)[len(panels) - 1], 4.0, len(panels))
    display = RegionMapDisplay.from_estimator(
        model,
        X,
        y if known else None,
        grid_resolution=_MAP_GRID,
        max_rows=_MAP_ROWS,
        ax=axes[0],
        color_by=panels[0],
        **_MAP_STYLE,
    )
    for ax, panel in zip(axes, panels, strict=True):
        if ax is not axes[0]:
            display.plot(ax, color_by=panel, **_MAP_STYLE)
        ax.set_title(f"by {panel}", fontsize="medium")
        ax.set(xlabel=clean(ax.get_xlabel()), ylabel=clean(ax.get_ylabel()))
    if known:
        _legend_below(axes[0])
    words = f"Scored rows, at most {_MAP_ROWS:,} of them, in {n_regions:,} regions. "
    if display.note:
        words += display.note[0].upper() + display.note[1:].rstrip(".") + "."
    else:
        words += (
            "The background is the predicted class, the black line the boundary of the "
            "classes; dashed lines are the borders of the regions."
        )
    if display.centers is not None:
        words += " Crosses are the centres of the regions."
    return Drawn(words, picture_of(figure, "map", words), is_wide=len(panels) > 1)


def draw_weights(model: Any, X: Any) -> Drawn:
    """Draw the weights of the most important features in the largest regions."""
    opened = OpenedModel.of(model)
    names = [clean(name, 40) for name in opened.feature_names]
    # Names of features take half of a narrow picture, and numbers of regions overlap.
    is_wide = len(opened.estimator.region_sizes_) > _MOST_NARROW
    ax = new_axes(8.6 if is_wide else 5.4, 0.24 * min(15, len(names)) + 1.9)
    try:
        display = RegionWeightsDisplay.from_estimator(
            model, X, feature_names=names, ax=ax
        )
    except ValueError as error:  # kernel regions that no row falls in
        return Drawn(str(error))
    label = clean(display.label, 40)
    if display.colorbar_ is not None:
        display.colorbar_.set_label(f"weight; red speaks for {clean(label, 20)}")
    shown = (
        _how_many(len(display.feature_names), len(names), "feature"),
        _how_many(len(display.regions), len(opened.estimator.region_sizes_), "region"),
    )
    words = (
        f"Weights that speak for class \u201c{label}\u201d (red) or against it (blue), "
        f"of {shown[0]} in {shown[1]}, the largest first. Weights can be compared "
        "where features have been scaled; of kernel regions they are mean gradients."
    )
    return Drawn(words, picture_of(ax.figure, "weights", words), is_wide)


def draw_effects(model: Any) -> Drawn:
    """Draw what the most important columns add to the decision."""
    opened = OpenedModel.of(model)
    names = [clean(name, 40) for name in opened.feature_names]
    n_shown = min(_MOST_EFFECTS, len(names))
    abreast = min(n_shown, _EFFECTS_ABREAST)
    lines = -(-n_shown // abreast)
    figure, axes = new_figure((5.4, 8.6)[abreast > 1], 2.3 * lines, abreast, lines)
    for ax in axes[n_shown:]:
        ax.set_visible(False)
    display = ColumnEffectsDisplay.from_estimator(
        model, n_columns=n_shown, feature_names=names, axes=axes[:n_shown]
    )
    label = clean(display.label, 40)
    words = (
        f"What {_how_many(n_shown, len(names), 'column')} add to the decision for "
        f"class \u201c{label}\u201d, by the value in the column, the most important "
        "first. Grey: share of the training rows. With the intercept, the effects of "
        "all columns sum to the decision."
    )
    return Drawn(words, picture_of(figure, "effects", words), abreast > 1)


def draw_calibration(model: Any, X: Any, y: Any) -> Drawn:
    """Draw how often answers are right by how sure they are."""
    if not gives_confidence(model):
        return Drawn(f"{type(model).__name__} does not tell how sure it is.")
    ax = new_axes(5.4, 3.9)
    display = ReliabilityDisplay.from_estimator(model, X, y, ax=ax)
    error = display.calibration_error
    if error is None:
        words = (
            "Share of right answers by the lead of the predicted class over the next, "
            "with 95 % intervals; the grey bars count rows, the last one all that lead "
            "by more. The model gives no probabilities: the picture shows whether "
            "clearer answers are more often right. CalibratedClassifierCV turns leads "
            "into probabilities."
        )
    else:
        words = (
            "Share of right answers by predicted probability, with 95 % intervals; the "
            "grey bars count rows. On the dotted line answers are as often right as "
            f"the model says; on average they are {100 * error:.1f} points off."
        )
    return Drawn(words, picture_of(ax.figure, "calibration", words))


def draw_fit(model: Any) -> Drawn:
    """Draw where the time of the fit went."""
    estimator = OpenedModel.of(model).estimator
    if not getattr(estimator, "fit_report_", None):
        return Drawn(f"{type(estimator).__name__} does not tell the time of its fit.")
    stages = [v for v in estimator.fit_report_.values() if isinstance(v, float)]
    ax = new_axes(5.4, 0.8 + 0.36 * len(stages))
    FitReportDisplay.from_estimator(model, ax=ax)
    ax.set_title("", loc="left")
    words = f"Time of the fit by stage, {seconds(sum(stages))} in all."
    return Drawn(words, picture_of(ax.figure, "fit", words))


def _how_many(shown: int, n_all: int, noun: str) -> str:
    return plural(shown, noun) if shown == n_all else f"{shown} of {n_all:,} {noun}s"


def _legend_below(ax: Any) -> None:
    handles, labels = ax.get_legend_handles_labels()
    if 0 < len(handles) <= _MOST_LEGEND_ENTRIES:
        ax.figure.legend(
            handles,
            [clean(label, _LONGEST_LEGEND) for label in labels],
            loc="outside lower center",
            ncols=min(len(handles), 4),
            frameon=False,
            markerscale=1.5,
        )
