"""The group of all commands: one line per error, and the exit code that fits."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

import localsvm
from localsvm._text import printable
from localsvm.cli._wording import as_option
from localsvm.exceptions import DataError, DataWarning, MissingExtraError

_INTERRUPTED = 130
_BROKEN_PIPE = 141
_SCHEMA = 1
# What a file, its content or this machine can cause. Anything else is a bug, also a
# ValueError of another kind, and comes with its traceback.
_DATA_PROBLEMS = (OSError, DataError, MemoryError, MissingExtraError)


class Commands(TyperGroup):
    """Commands that show no traceback for what users can fix."""

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
        given = sys.argv[1:] if args is None else args
        words, renamed = self.in_new_names(given)
        if not standalone_mode:
            return super().main(words, **extra)
        with _warnings_in_a_line():
            for message in renamed:
                _say("warning", message)
            sys.exit(self._run(words, extra))

    def invoke(self, ctx: Any) -> Any:
        """Run the command; who reads its output may stop at any time."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # What is still in the buffers cannot be written at exit, either.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            raise typer.Exit(_BROKEN_PIPE) from None

    def in_new_names(self, args: Sequence[str]) -> tuple[list[str], list[str]]:
        """Arguments without names that are no longer used, and a warning for each."""
        return list(args), []

    def _run(self, args: Sequence[str], extra: dict[str, Any]) -> int:
        def fail(message: str, code: int) -> int:
            if "--json" in args:
                _say_as_json(message, code)
            else:
                _say("error", message)
            return code

        try:
            code: int = super().main(args, **extra) or 0
        except typer.TyperException as error:
            return fail(_words_of_misuse(error), error.exit_code)
        except typer.Abort:
            code = _INTERRUPTED
        except _DATA_PROBLEMS as error:
            return fail(_words_of(error), 1)
        except ValueError as error:
            if not _is_of_a_parameter(error):
                raise
            return fail(str(error), 2)
        if code == _INTERRUPTED:
            typer.echo("interrupted", err=True)
        return code


def header() -> dict[str, Any]:
    """Return the entries that each JSON document begins with.

    Entries may be added under the same schema; one that vanishes, or means something
    else, raises it.
    """
    return {"schema": _SCHEMA, "localsvm": localsvm.__version__}


def misuse(message: str) -> NoReturn:
    """End the command, because it was called in a wrong way."""
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
    """Whether an estimator refuses a parameter, which ``--param`` may have set."""
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


def _say_as_json(message: str, code: int) -> None:
    """Report an error as an object in a line, for programs."""
    document = header() | {"error": " ".join(message.split()), "exit_code": code}
    typer.echo(printable(json.dumps(document, ensure_ascii=False)), err=True)


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
