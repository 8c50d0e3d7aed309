"""What a command shows: a result on standard output, messages on standard error."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer

from localsvm._text import aligned, printable
from localsvm.cli._group import header


@dataclass(frozen=True)
class Screen:
    """Where a command's result and messages go.

    Parameters
    ----------
    command : str
        Name of the command, which a JSON document has.
    as_json : bool
        Whether the result is one JSON document.
    quiet : bool
        Whether messages and progress are left out.
    """

    command: str
    as_json: bool
    quiet: bool

    def show(self, document: Mapping[str, Any], text: str) -> None:
        """Write the result, for programs or for people."""
        if self.as_json:
            whole = header() | {"command": self.command} | to_plain(document)
            text = json.dumps(whole, indent=1, ensure_ascii=False)
        typer.echo(printable(text))

    def say(self, message: str) -> None:
        """Write a message."""
        if not self.quiet:
            typer.echo(printable(message), err=True)


def to_plain(value: Any) -> Any:
    """Turn a value into what JSON can hold; numbers that are not finite become null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {
            each.name: getattr(value, each.name) for each in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {str(to_plain(key)): to_plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return to_plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [to_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON.")


def pairs(entries: Mapping[str, Any]) -> list[str]:
    """Lines of names and values."""
    return aligned([[name, str(value)] for name, value in entries.items()])
