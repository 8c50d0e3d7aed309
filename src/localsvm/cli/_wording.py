"""Parameters that messages of the library name, in the words of the command line."""

from __future__ import annotations

import re
from typing import Any

# Warnings, and errors of the encoder, which name parameters in their text.
_WORDS = (
    (r"[Pp]ass header=False", "Give --read header=no"),
    (r"\bpass (--)", r"give \1"),
    (r"\bdecimal=('[^']*')", r"--read decimal=\1"),
    (r"\bkinds=\{'([^']*)': 'drop'\}", r"--drop '\1'"),
    (r"\bkinds=\{'([^']*)': '([^']*)'\}", r"--kind '\1=\2'"),
    (r"The 'kinds' parameter of TableEncoder", "--kind"),
    (r"expected no 'where' or 'drop'", "expected no --where or --drop"),
)
_PATTERNS = tuple((re.compile(python), option) for python, option in _WORDS)


def as_option(parameter: str, value: Any) -> str:
    """Phrase the remedy of a :class:`~localsvm.exceptions.DataError` as an option."""
    if parameter == "target" and value is None:
        return "no --target"
    if parameter == "kinds":
        return " ".join(f"--kind '{name}={kind}'" for name, kind in value.items())
    if parameter == "where":
        return f"--where {value}"
    return f"--read {parameter}={value!r}"


def in_options(message: str) -> str:
    """Name options where a message of the library names parameters."""
    for pattern, option in _PATTERNS:
        message = pattern.sub(option, message)
    return message
