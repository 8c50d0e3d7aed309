"""The regions in a table, and where the errors are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localsvm.inspect._quality._intervals import quantile_of, wilson
from localsvm.inspect._regions._region_row import RegionRow
from localsvm.inspect._regions._region_table import RegionTable
from localsvm.inspect._report._svg import Picture, new_axes, picture_of
from localsvm.inspect._report._text import NONE, clean, number, percent

_SHOWN_REGIONS = 100
_SHOWN_ERRORS = 15
_SHOWN_CLASSES = 3
_COLORS = {"more": "#D55E00", "less": "#009E73", "": "#5c6670"}


@dataclass(frozen=True)
class RegionLine:
    """One region in words, with the values to sort by.

    Attributes
    ----------
    region : int
    kind, share, classes, features : str
    size, n_rows, accuracy, margin : tuple of float and str
        Number and words.
    """

    region: int
    kind: str
    size: tuple[float, str]
    share: str
    classes: str
    n_rows: tuple[float, str]
    accuracy: tuple[float, str]
    margin: tuple[float, str]
    features: str


@dataclass(frozen=True)
class ErrorLine:
    """Errors in one region.

    Attributes
    ----------
    region : int
    n_errors, n_rows : int
    rate, low, high : float
        Share of errors with its 95 % interval.
    than_all : {"more", "less", ""}
        How the region compares with all rows, as far as the interval shows.
    """

    region: int
    n_errors: int
    n_rows: int
    rate: float
    low: float
    high: float
    than_all: str


@dataclass(frozen=True)
class RegionSection:
    """Regions of the model.

    Attributes
    ----------
    lines : list of RegionLine
        The largest regions.
    n_hidden : int
    errors : list of ErrorLine
        The regions with the most errors.
    n_error_regions : int
        Regions with errors.
    overall : float
        Share of errors of all rows.
    speaks_for : str
        Class that positive weights speak for; "" if each weight says its own.
    """

    lines: list[RegionLine]
    n_hidden: int
    errors: list[ErrorLine]
    n_error_regions: int
    overall: float
    speaks_for: str

    @property
    def kinds(self) -> list[str]:
        """Kinds of the regions that are shown."""
        return sorted({line.kind for line in self.lines})


def describe_regions(table: RegionTable) -> RegionSection:
    """Put a table of regions, with rows and labels, into words."""
    largest = sorted(table.rows, key=lambda row: -row.size)[:_SHOWN_REGIONS]
    errors, overall = _errors(table)
    with_errors = [line for line in errors if line.n_errors]
    return RegionSection(
        [_line(row) for row in largest],
        len(table.rows) - len(largest),
        sorted(with_errors, key=lambda line: -line.n_errors)[:_SHOWN_ERRORS],
        len(with_errors),
        overall,
        clean(table.classes[1]) if len(table.classes) == 2 else "",
    )


def draw_errors(section: RegionSection) -> Picture | None:
    """Draw the share of errors in the regions that have the most of them."""
    shown = sorted(section.errors, key=lambda line: line.rate)
    if not shown:
        return None
    ax = new_axes(5.4, 0.9 + 0.27 * len(shown))
    for place, line in enumerate(shown):
        color = _COLORS[line.than_all]
        ax.plot([100 * line.low, 100 * line.high], [place, place], color=color, lw=2)
        ax.plot([100 * line.rate], [place], "o", color=color, markersize=6)
    ax.axvline(100 * section.overall, color="#0072B2", linestyle="--", linewidth=1.3)
    ax.set_yticks(range(len(shown)), [f"region {line.region}" for line in shown])
    ax.set(xlabel="errors, % of the region's scored rows (dashed: of all rows)")
    ax.set_xlim(left=0)
    ax.set_ylim(-0.7, len(shown) - 0.3)
    ax.grid(axis="x", alpha=0.3, linewidth=0.6)
    words = ", ".join(f"{line.region}: {percent(line.rate)}" for line in shown[::-1])
    text = f"Share of errors by region, {percent(section.overall)} of all rows: {words}"
    return picture_of(ax.figure, "errors", text)


def _errors(table: RegionTable) -> tuple[list[ErrorLine], float]:
    rows = [(r, r.n_rows, r.accuracy) for r in table.rows if r.accuracy is not None]
    sizes = np.array([n_rows or 0 for _, n_rows, _ in rows], dtype=float)
    rates = np.array([1 - (accuracy or 0.0) for *_, accuracy in rows])
    overall = float(sizes @ rates / sizes.sum()) if len(rows) else 0.0
    low, high = wilson(rates, sizes, quantile_of(0.95))
    lines = []
    for place, (row, _, _) in enumerate(rows):
        than_all = "more" if low[place] > overall else ""
        than_all = "less" if high[place] < overall else than_all
        lines.append(
            ErrorLine(
                row.region,
                round(sizes[place] * rates[place]),
                int(sizes[place]),
                float(rates[place]),
                float(low[place]),
                float(high[place]),
                than_all,
            )
        )
    return lines, overall


def _line(row: RegionRow) -> RegionLine:
    return RegionLine(
        region=row.region,
        kind=row.kind if row.stage is None else f"{row.kind}, stage {row.stage}",
        size=(row.size, number(row.size)),
        share=percent(row.share),
        classes=_mix(row),
        n_rows=(row.n_rows or 0, number(row.n_rows or 0)),
        accuracy=_or_none(row.accuracy, percent(row.accuracy or 0.0)),
        margin=_or_none(row.mean_margin, number(row.mean_margin or 0.0, 3)),
        features=", ".join(
            f"{clean(top.name, 40)} {top.weight:+.2g}"
            + (f" for {clean(top.label, 20)}" if len(row.class_counts) > 2 else "")
            for top in row.top_features
        ),
    )


def _mix(row: RegionRow) -> str:
    mix = sorted(row.class_mix.items(), key=lambda pair: -pair[1])
    words = [
        f"{clean(label, 40)}: {percent(share, 0)}" for label, share in mix if share
    ]
    more = len(words) - _SHOWN_CLASSES
    return ", ".join(words[:_SHOWN_CLASSES]) + (f" and {more} more" if more > 0 else "")


def _or_none(value: float | None, words: str) -> tuple[float, str]:
    return (-np.inf, NONE) if value is None else (value, words)
