"""Completion of a command's options, without importing the command.

``python -m localsvm.cli._completion`` writes ``_options.json``, from which shells get
them; a test compares it with the commands.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import typer
from typer.core import TyperCommand

_FILE = Path(__file__).with_name("_options.json")
_ANYTHING = {"ignore_unknown_options": True, "allow_extra_args": True}

Options = dict[str, dict[str, Any]]


class Completed(TyperCommand):
    """Stand-in for a command while a shell completes a line.

    Parameters
    ----------
    name : str
    options : dict
        Help and values of each option, by its names.
    """

    def __init__(self, name: str, options: Options) -> None:
        super().__init__(name, context_settings=_ANYTHING, add_help_option=False)
        self._options = options

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Options that begin so, or the values of the option before."""
        before = ctx.args[-1] if ctx.args else ""
        values = self._options.get(before, {}).get("values", [])
        found = [(value, None) for value in values]
        if not values and incomplete.startswith("-"):
            found = [(name, each["help"]) for name, each in self._options.items()]
        return [
            SimpleNamespace(value=value, type="plain", help=text)
            for value, text in found
            if value.startswith(incomplete)
        ]


def completed(path: Sequence[str]) -> Completed | None:
    """Stand-in of a command by the words that call it; None if it is not known."""
    options = _known().get(" ".join(path))
    return None if options is None else Completed(path[-1], options)


@cache
def _known() -> dict[str, Options]:
    known: dict[str, Options] = json.loads(_FILE.read_text("utf-8"))
    return known


def describe(command: Any) -> Options:
    """Help and values of the options of a command."""
    context = typer.Context(command, resilient_parsing=True)
    return {
        name: {"help": option.help or "", "values": list(_values(option, context))}
        for option in command.get_params(context)
        if option.param_type_name == "option"
        for name in (*option.opts, *option.secondary_opts)
    }


def _values(option: Any, context: typer.Context) -> Iterator[str]:
    for item in option.shell_complete(context, ""):
        if item.type == "plain":
            yield item.value


def describe_all(commands: Sequence[Any], path: tuple[str, ...] = ()) -> dict[str, Any]:
    """Options of all commands, by the words that call them."""
    found: dict[str, Any] = {}
    for each in commands:
        words = (*path, each.name)
        inner = getattr(each, "commands", None)
        if inner is None:
            found[" ".join(words)] = describe(each.load())
        else:
            found |= describe_all(inner, words)
    return found


def text() -> str:
    """Content of the file, as the commands are now."""
    from localsvm.cli._app import COMMANDS

    found = describe_all(COMMANDS)
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    _FILE.write_text(text(), "utf-8")
