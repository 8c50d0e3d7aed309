"""Numbers and names as a reader sees them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from localsvm.inspect._quality._intervals import Estimate

LONGEST_NAME = 60
NONE = "\u2013"
MINUS = "\u2212"
NBSP = "\u00a0"
_LONGEST_VALUE = 200
# Embeddings, overrides and isolates of the direction of text.
_TURNS = frozenset(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]))


def clean(text: Any, most: int = LONGEST_NAME) -> str:
    """Text of any origin without what no page can hold, cut to ``most`` characters.

    Control characters, halves of characters, and those that turn the direction of what
    follows become a replacement character.
    """
    shown = "".join(
        "\ufffd"
        if unicodedata.category(char) in ("Cc", "Cs") or char in _TURNS
        else char
        for char in str(text)[: most + 1]
    )
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def describe(value: Any) -> str:
    """Write a value as in Python, cut if it is long."""
    return clean(repr(value), _LONGEST_VALUE)


def number(value: float, digits: int = 4) -> str:
    """Write a number with separated thousands, or with some significant digits."""
    if not math.isfinite(value):
        return str(value)
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    if 1000 <= abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def percent(share: float, decimals: int = 1) -> str:
    """Write a share in percent; what is not zero does not look like it."""
    if 0 < share < 0.5 * 10 ** -(decimals + 2):
        return f"<{NBSP}{10.0**-decimals:g}{NBSP}%"
    return f"{100 * share:.{decimals}f}{NBSP}%"


def points(share: float) -> str:
    """Write a difference of shares in percentage points, with its sign."""
    text = f"{100 * share:+.2f}"
    return text[1:] if float(text) == 0 else text.replace("-", MINUS)


def interval(estimate: Estimate) -> str:
    """Write the ends of an interval of shares in percent."""
    return f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f}"


def point_interval(estimate: Estimate) -> str:
    """Write the ends of an interval of differences in percentage points."""
    return f"{points(estimate.low)} to {points(estimate.high)}"


def seconds(value: float) -> str:
    """Write a time in the unit that suits it."""
    if value >= 100:
        return f"{value / 60:.1f}{NBSP}min"
    unit, factor = next(
        (unit, factor)
        for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6))
        if value * factor >= 1 or unit == "µs"
    )
    shown = value * factor
    return f"{shown:.2g}{NBSP}{unit}" if shown < 10 else f"{shown:.0f}{NBSP}{unit}"


def p_value(value: float) -> str:
    """Write the p-value of a test."""
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def sentence_list(words: Sequence[str]) -> str:
    """Join words: "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def plural(count: int, noun: str) -> str:
    """Count things: "1 row", "2 rows", "2 classes"."""
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}{ending}"


def paragraphs(notes: Any) -> tuple[list[str], dict[str, str]]:
    """Split notes into the paragraphs of a text, or the entries of a mapping."""
    if isinstance(notes, Mapping):
        return [], {
            clean(key): clean(value, _LONGEST_VALUE) for key, value in notes.items()
        }
    text = "" if notes is None else str(notes)
    parts = [" ".join(part.split()) for part in text.split("\n\n")]
    return [clean(part, 2000) for part in parts if part], {}
