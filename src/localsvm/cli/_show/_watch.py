"""Progress on standard error while something takes long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from localsvm._progress import listening
from localsvm.cli._show._screen import Screen


class Watch:
    """A line that says what is being done and for how long.

    Parameters
    ----------
    bar : rich.progress.Progress
    title : str
    total : float or None
        Amount of all work, if it is known.
    """

    def __init__(self, bar: Any, title: str, total: float | None) -> None:
        self._bar = bar
        self._title = title
        self._task = bar.add_task(title, total=total)

    def say(self, what: str) -> None:
        """Show what is being done now."""
        text = f"{self._title}: {what}" if what else self._title
        self._bar.update(self._task, description=text)

    def advance(self, amount: float) -> None:
        """Show that more of the work is done."""
        self._bar.advance(self._task, amount)

    def _hear(self, stages: tuple[str, ...]) -> None:
        self.say(", ".join(stages))


@contextmanager
def watching(screen: Screen, title: str, total: float | None = None) -> Iterator[Watch]:
    """Show what is done in the block, and the stages of fits; only on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = [TextColumn("{task.description}", markup=False), BarColumn(bar_width=20)]
    with Progress(
        *columns,
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=screen.quiet or not console.is_terminal,
    ) as bar:
        watch = Watch(bar, title, total)
        with listening(watch._hear):
            yield watch
