"""What the library says of its parameters, in the words of the command line."""

from __future__ import annotations

import re

_WORDS = (
    (r"[Pp]ass header=False", "Give --read header=no"),
    (r"\bpass ((?:delimiter|encoding|kinds|missing_labels)=)", r"give \1"),
    (
        r"\b(?<!--read )(delimiter|decimal|encoding|missing_labels)=('[^']*')",
        r"--read \1=\2",
    ),
    (r"\bkinds=\{'([^']*)': 'drop'\}", r"--drop '\1'"),
    (r"\bkinds=\{'([^']*)': '([^']*)'\}", r"--kind '\1=\2'"),
    (r"The 'kinds' parameter of TableEncoder", "--kind"),
    (r"expected target=None, got", "expected no --target, got"),
    (r"expected no 'where' or 'drop'", "expected no --where or --drop"),
    (r"\bwhere='(\w+=\w+)'", r"--where \1"),
    (r"\bcannot be read with (format|delimiter)=", r"cannot be read with --read \1="),
)
_PATTERNS = tuple((re.compile(python), option) for python, option in _WORDS)


def in_options(message: str) -> str:
    """Name options where a message of the library names parameters."""
    for pattern, option in _PATTERNS:
        message = pattern.sub(option, message)
    return message
