"""Tables as lines of text, with their columns aligned."""

from __future__ import annotations

from collections.abc import Sequence


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
