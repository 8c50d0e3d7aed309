"""Text: aligned tables, no characters that do harm, JSON from strangers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

_MOST_CONTAINERS = 2**17
_BYTES_PER_CONTAINER = 16

# Control characters but for tab and newline, marks that turn the direction of writing,
# separators of lines, and halves of characters.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    "\ud800-\udfff]"
)


def aligned(
    rows: Sequence[Sequence[str]], sides: str = "l", *, indent: str = ""
) -> list[str]:
    """Lines of a table, two spaces between its columns.

    Parameters
    ----------
    rows : sequence of sequences of str
        Cells, of the heading too; each row has as many.
    sides : str, default="l"
        One letter per column: "l" aligns it to the left, "r" to the right. The last
        letter holds for all further columns.
    indent : str, default=""
        What each line begins with.

    Returns
    -------
    lines : list of str
        Without spaces at their ends; empty if there are no rows.
    """
    if not rows:
        return []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = sides.ljust(len(widths), sides[-1])
    lines = []
    for row in rows:
        cells = zip(row, widths, sides, strict=True)
        padded = (c.rjust(w) if side == "r" else c.ljust(w) for c, w, side in cells)
        lines.append((indent + "  ".join(padded)).rstrip())
    return lines


def printable(text: str) -> str:
    r"""Write characters that a terminal would obey as ``\u001b`` and the like.

    In JSON these stand for the same characters.
    """
    return _HARMFUL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def parse_json(text: bytes) -> Any:
    """Read JSON from a stranger; a ValueError for whatever is wrong with it.

    Numbers are finite, integers have 64 bits, and lists and objects, each of which
    takes much more memory than two brackets, are not too many.
    """
    check_containers(text)
    try:
        return json.loads(
            text.decode("utf-8"),
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
            parse_int=_short_int,
        )
    except RecursionError:
        raise ValueError("its JSON is nested too deeply.") from None
    except ValueError as error:
        raise ValueError(f"its JSON cannot be read: {error}") from error


def check_containers(text: bytes) -> None:
    found = text.count(b"[") + text.count(b"{")
    most = _MOST_CONTAINERS + len(text) // _BYTES_PER_CONTAINER
    if found > most:
        raise ValueError(
            f"its JSON has {found} lists and objects in {len(text)} bytes; expected at "
            f"most {most}."
        )


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text:.40} is too large")
    return number


def _short_int(text: str) -> int:
    if len(text) > 20 or not -(2**63) <= int(text) < 2**63:
        raise ValueError(f"the integer {text:.40} has more than 64 bits")
    return int(text)
