"""Remedies in the words of the command line."""

from __future__ import annotations

from shlex import quote
from typing import Any

TAB = "\\t"  # as --delimiter takes it


def as_option(parameter: str, value: Any) -> str:
    """Phrase the remedy of a DataError or DataWarning as an option."""
    if parameter == "kinds":
        return " ".join(_of_column(*each) for each in value.items())
    name = parameter.replace("_", "-")
    if value is None or value is False:
        return f"no --{name}" if value is None else f"--no-{name}"
    text = quote(value.replace("\t", TAB))
    return f"--{name} {text}"


def _of_column(name: str, kind: str) -> str:
    if kind == "drop":
        return f"--drop {quote(name)}"
    return f"--column-type {quote(f'{name}={kind}')}"
