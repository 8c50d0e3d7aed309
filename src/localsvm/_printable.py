"""Text of strangers, safe to print."""

from __future__ import annotations

import re

# Control characters but for tab and newline, marks that turn the direction of writing,
# separators of lines, and halves of characters.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    "\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Write characters that a terminal would obey as ``\u001b`` and the like.

    In JSON these stand for the same characters.
    """
    return _HARMFUL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
