"""Commands that are listed and completed without being imported."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from localsvm.cli._completion import completed
from localsvm.cli._group import Commands
from localsvm.cli._records import spread

SETTINGS: dict[str, Any] = {"context_settings": {"help_option_names": ["--help", "-h"]}}


@dataclass(frozen=True)
class Command:
    """A command as the help lists it; its module is imported when it is run.

    Parameters
    ----------
    name : str
        Name of the command and of its function.
    summary : str
        First line of the function's docstring.
    example : str
    module : str, default=None
        Where the function is; by default ``localsvm.cli._commands.`` and the name.
    """

    name: str
    summary: str
    example: str
    module: str | None = None

    def load(self) -> Any:
        """Import the function and read its options."""
        module = import_module(self.module or f"localsvm.cli._commands.{self.name}")
        app = typer.Typer(add_completion=False)
        app.command(self.name, epilog=f"Example: {self.example}", **SETTINGS)(
            spread(getattr(module, self.name))
        )
        return typer.main.get_command(app)

    def listing(self) -> TyperCommand:
        """Stand-in that knows what the list of commands shows."""
        return TyperCommand(self.name, help=self.summary)


@dataclass(frozen=True)
class Group:
    """Commands under a name of their own.

    Parameters
    ----------
    name, summary : str
    commands : tuple of Command
    """

    name: str
    summary: str
    commands: tuple[Command, ...]

    def load(self) -> Any:
        """Make the group, without importing its commands."""
        named = type("Named", (LazyCommands,), {"listed": self.commands})
        app = typer.Typer(
            cls=named, name=self.name, help=self.summary, add_completion=False
        )
        app.callback(invoke_without_command=True, **SETTINGS)(show_help_without_command)
        return typer.main.get_command(app)

    def listing(self) -> TyperCommand:
        """Stand-in that knows what the list of commands shows."""
        return TyperCommand(self.name, help=self.summary)


class LazyCommands(Commands):
    """Commands that are listed and completed without being imported."""

    listed: ClassVar[tuple[Command | Group, ...]] = ()

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {each.name: each.listing() for each in self.listed}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a command; while a shell completes a line, only list its options."""
        if ctx is not None and ctx.resilient_parsing:
            above = [] if ctx.parent is None else [ctx.info_name]
            known = completed([*above, cmd_name])
            if known is not None:
                return known
        return _load(self.listed, cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """List the commands by their summaries."""
        self._as_listed().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Complete the name of a command or an option."""
        listing = self._as_listed()
        return listing.shell_complete(typer.Context(listing), incomplete)

    def _as_listed(self) -> TyperGroup:
        return TyperGroup(
            name=self.name,
            help=self.help,
            epilog=self.epilog,
            params=self.params,
            commands=dict(self.commands),
            rich_markup_mode=self.rich_markup_mode,
        )


@cache
def _load(listed: tuple[Command | Group, ...], name: str) -> Any:
    return next((each.load() for each in listed if each.name == name), None)


def show_help_without_command(context: typer.Context) -> None:
    """Show the help of a group that was called without a command; that is misuse."""
    if context.invoked_subcommand is None:
        with redirect_stdout(sys.stderr):  # rich writes it itself
            typer.echo(context.get_help())
        raise typer.Exit(2)
