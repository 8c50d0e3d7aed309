"""What a long computation is busy with, for whoever shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[tuple[str, ...]], None]

_watched: ContextVar[tuple[Listener, tuple[str, ...]] | None] = ContextVar(
    "localsvm_progress", default=None
)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell ``listener`` the open stages, the outermost first, whenever they change.

    Stages that begin on other threads are not told.
    """
    token = _watched.set((listener, ()))
    try:
        yield
    finally:
        _watched.reset(token)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Tell the listener, if there is one, that the block is the stage ``name``."""
    watched = _watched.get()
    if watched is None:
        yield
        return
    listener, outer = watched
    token = _watched.set((listener, (*outer, name)))
    listener((*outer, name))
    try:
        yield
    finally:
        _watched.reset(token)
        listener(outer)
