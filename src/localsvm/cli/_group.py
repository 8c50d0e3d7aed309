"""The group of all commands: one line per error, and the exit code that fits."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from localsvm._printable import printable
from localsvm.cli._wording import as_option
from localsvm.exceptions import DataError, DataWarning, MissingExtraError

_INTERRUPTED = 130
_BROKEN_PIPE = 141
# What a file, its content or this machine can cause. Anything else is a bug, also a
# ValueError of another kind, and comes with its traceback.
_DATA_PROBLEMS = (OSError, DataError, MemoryError, MissingExtraError)


class Commands(TyperGroup):
    """Commands of which users see no traceback for what they can mend."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command of the arguments, and exit unless called by other code."""
        name = prog_name or "localsvm"  # also if Python was told to run the module
        extra |= {"prog_name": name, "complete_var": complete_var}
        extra |= {"windows_expand_args": windows_expand_args, "standalone_mode": False}
        if not standalone_mode:
            return super().main(args, **extra)
        with _warnings_in_a_line():
            sys.exit(self._run(args, extra))

    def invoke(self, ctx: Any) -> Any:
        """Run the command; who reads its output may stop at any time."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # What is still in the buffers cannot be written at exit, either.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            raise typer.Exit(_BROKEN_PIPE) from None

    def _run(self, args: Sequence[str] | None, extra: dict[str, Any]) -> int:
        try:
            code: int = super().main(args, **extra) or 0
        except typer.TyperException as error:
            _say("error", _words_of_misuse(error))
            return error.exit_code
        except typer.Abort:
            code = _INTERRUPTED
        except _DATA_PROBLEMS as error:
            _say("error", _words_of(error))
            return 1
        except ValueError as error:
            if not _is_of_a_parameter(error):
                raise
            _say("error", str(error))
            return 2
        if code == _INTERRUPTED:
            typer.echo("interrupted", err=True)
        return code


@dataclass(frozen=True)
class Command:
    """A command as the help lists it; its module is imported when it is run.

    Parameters
    ----------
    name : str
        Name of the command, of its function, and with ``_`` before it of its module.
    summary : str
        First line of the function's docstring.
    example : str
    """

    name: str
    summary: str
    example: str

    def load(self) -> Any:
        """Import the function and read its options."""
        module = import_module(f"localsvm.cli._{self.name}")
        app = typer.Typer(add_completion=False)
        settings = {"help_option_names": ["--help", "-h"]}
        app.command(
            self.name, epilog=f"Example: {self.example}", context_settings=settings
        )(getattr(module, self.name))
        return typer.main.get_command(app)

    def listing(self) -> TyperCommand:
        """Stand-in that knows what the list of commands shows."""
        return TyperCommand(self.name, help=self.summary)


class LazyCommands(Commands):
    """Commands that are listed and completed without being imported."""

    listed: ClassVar[tuple[Command, ...]] = ()

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {each.name: each.listing() for each in self.listed}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a command."""
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
def _load(listed: tuple[Command, ...], name: str) -> Any:
    return next((each.load() for each in listed if each.name == name), None)


def show_help_without_command(context: typer.Context) -> None:
    """Show the help of a group that was called without a command: that is misuse."""
    if context.invoked_subcommand is None:
        with redirect_stdout(sys.stderr):  # rich writes it itself
            typer.echo(context.get_help())
        raise typer.Exit(2)


def misuse(message: str) -> NoReturn:
    """Say that the command was called in a wrong way."""
    raise _UsageError(message)


class _UsageError(typer.TyperException):
    exit_code = 2


def _words_of_misuse(error: typer.TyperException) -> str:
    words = error.format_message().replace("Value error, ", "")
    context = getattr(error, "ctx", None)
    if context is None:
        return words
    stop = "" if words.endswith((".", "?")) else "."
    return f"{words}{stop} See: {context.command_path} --help"


def _is_of_a_parameter(error: ValueError) -> bool:
    """Whether an estimator refuses a parameter, which ``--set`` may have set."""
    module = sys.modules.get("sklearn.utils._param_validation")
    return module is not None and isinstance(error, module.InvalidParameterError)


def _words_of(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{os.fspath(error.filename)}: {error.strerror.lower()}."
    if isinstance(error, DataError):
        return error.phrased(as_option)
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}"
    return str(error)


def _say(kind: str, message: str) -> None:
    line = printable(" ".join(message.split()))
    typer.echo(f"{kind}: {line}", err=True)


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Show each warning once, without the place in our code where it was given."""
    shown: set[str] = set()

    def show(message: Warning | str, *place: Any, **more: Any) -> None:
        text = str(message)
        if isinstance(message, DataWarning):
            text = message.phrased(as_option)
        if text not in shown:
            shown.add(text)
            _say("warning", text)

    with warnings.catch_warnings():
        for category in (DeprecationWarning, FutureWarning, PendingDeprecationWarning):
            warnings.simplefilter("ignore", category)
        warnings.showwarning = show
        yield
