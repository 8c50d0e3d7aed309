"""Remedies in the words of the command line."""

from __future__ import annotations

from shlex import quote
from typing import Any


def as_option(parameter: str, value: Any) -> str:
    """Phrase the remedy of a DataError or DataWarning as an option."""
    if value is None:
        return f"no --{parameter}"
    if parameter == "kinds":
        return " ".join(_of_column(*each) for each in value.items())
    if parameter in ("where", "immutable"):
        return f"--{parameter} {quote(value)}"
    if value is False:
        value = "no"
    return f"--read {quote(f'{parameter}={value}')}"


def _of_column(name: str, kind: str) -> str:
    if kind == "drop":
        return f"--drop {quote(name)}"
    return f"--kind {quote(f'{name}={kind}')}"
