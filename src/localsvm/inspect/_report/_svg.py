"""Figures inside a page."""

from __future__ import annotations

import re
import warnings
from base64 import b64encode
from dataclasses import dataclass
from io import BytesIO, StringIO
from typing import Any

from localsvm._extras import require

MATPLOTLIB_NEED = "A report"
_MOST_SVG_CHARACTERS = 250_000
_PNG_DPI = 130
_STYLE = {
    # Text stays text: it can be searched, and any script has its letters.
    "svg.fonttype": "none",
    "svg.hashsalt": "localsvm",
    # Names of columns and classes are not formulas.
    "text.parse_math": False,
    "font.family": ["sans-serif"],
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
}


@dataclass(frozen=True)
class Picture:
    """A drawn figure.

    Attributes
    ----------
    content : str
        An ``svg`` element, or the base64 text of a PNG.
    is_svg : bool
    text : str
        What it shows, for those who cannot see it.
    """

    content: str
    is_svg: bool
    text: str


def style() -> Any:
    """Context in which figures are drawn and saved."""
    return require("matplotlib", "report", MATPLOTLIB_NEED).rc_context(_STYLE)


def new_figure(
    width: float, height: float, n_axes: int, n_lines: int = 1
) -> tuple[Any, Any]:
    """Figure of a size in inches with axes line by line; pyplot is left alone."""
    module = require("matplotlib.figure", "report", MATPLOTLIB_NEED)
    figure = module.Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(n_lines, n_axes, squeeze=False).ravel()


def new_axes(width: float, height: float) -> Any:
    """Axes of a figure of their own."""
    return new_figure(width, height, 1)[1][0]


def picture_of(figure: Any, name: str, text: str) -> Picture:
    """Save a figure as SVG, or as PNG if it has too many parts for that.

    Parameters
    ----------
    figure : matplotlib figure
    name : str
        Letters; keeps the ids of several figures on a page apart.
    text : str
        What it shows.
    """
    content = StringIO()
    with warnings.catch_warnings():
        # The fonts of the reader are used, not those of matplotlib.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(content, format="svg")
    svg = _inline(content.getvalue(), name)
    if len(svg) <= _MOST_SVG_CHARACTERS:
        return Picture(svg, True, text)
    png = BytesIO()
    figure.savefig(png, format="png", dpi=_PNG_DPI, metadata={"Software": None})
    return Picture(b64encode(png.getvalue()).decode(), False, text)


def _inline(svg: str, name: str) -> str:
    """Take the element alone, without metadata, with ids of its own."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    return re.sub(r">\s+<", "><", svg).strip()
