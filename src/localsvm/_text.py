"""Text to print: tables with aligned columns, and no characters that do harm."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
