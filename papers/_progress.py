"""What is shown while runs are carried out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Protocol, TextIO


class Progress(Protocol):
    """Is told what happens."""

    def started(self, name: str) -> None:
        """Hear that a run has begun."""

    def finished(self, name: str, outcome: str) -> None:
        """Hear that a run has ended; the outcome fits on a line."""


class PlainProgress:
    """One line per run that has ended.

    Parameters
    ----------
    total : int
        Runs to carry out.
    stream : text stream
    """

    def __init__(self, total: int, stream: TextIO) -> None:
        self._total = total
        self._done = 0
        self._stream = stream

    def started(self, name: str) -> None:
        """Show nothing: a line per run is enough."""

    def finished(self, name: str, outcome: str) -> None:
        """Write a line."""
        self._done += 1
        self._stream.write(f"[{self._done}/{self._total}] {name}: {outcome}\n")
        self._stream.flush()


class _BarProgress:
    """A bar with the time that is left."""

    def __init__(self, bar: Any, task: Any) -> None:
        self._bar = bar
        self._task = task

    def started(self, name: str) -> None:
        self._bar.update(self._task, description=name)

    def finished(self, name: str, outcome: str) -> None:
        self._bar.console.print(f"{name}: {outcome}", markup=False, highlight=False)
        self._bar.advance(self._task)


@contextmanager
def show_progress(total: int, stream: TextIO | None = None) -> Iterator[Progress]:
    """Show a bar on a terminal if rich is installed, else lines."""
    stream = sys.stderr if stream is None else stream
    if total == 0 or not stream.isatty() or find_spec("rich") is None:
        yield PlainProgress(total, stream)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(file=stream)) as bar:
        yield _BarProgress(bar, bar.add_task("", total=total))
