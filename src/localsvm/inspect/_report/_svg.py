"""Figures inside a page."""

from __future__ import annotations

import re
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
    "font.family": ["sans-serif"],
    "font.size": 10,
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


def new_axes(width: float, height: float) -> Any:
    """Axes of a figure of its own, in inches; pyplot and its state are left alone."""
    figure = require("matplotlib.figure", "report", MATPLOTLIB_NEED).Figure(
        figsize=(width, height), layout="constrained"
    )
    return figure.subplots()


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
