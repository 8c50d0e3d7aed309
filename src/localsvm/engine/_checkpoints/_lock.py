"""One fit at a time in a folder."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from localsvm._checks import level_of_caller
from localsvm.exceptions import FolderInUseError

# A process that was forked meanwhile has the lock as well, as long as it lives.
_held: set[BinaryIO] = set()


def _let_go() -> None:
    for file in _held:
        file.close()
    _held.clear()


os.register_at_fork(after_in_child=_let_go)


@contextmanager
def locked_folder(folder: Path, what: str) -> Iterator[None]:
    """Keep other fits out of a folder while the block runs.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    what : str
        What works in the folder, for the message that others get.

    Raises
    ------
    FolderInUseError
        If another process, or another thread of this one, is inside.

    Notes
    -----
    The system takes the lock from a process that dies, so that a file that is left
    behind locks nobody out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "localsvm-fit.lock"
    with _open_locked(path) as file:
        file.truncate(0)
        file.write(_own_words(what))
        file.flush()
        _held.add(file)
        try:
            yield
        finally:
            if file in _held:
                _held.remove(file)
                # Before the lock is released: then it may be another fit's file.
                with suppress(FileNotFoundError):
                    path.unlink()


def _open_locked(path: Path) -> BinaryIO:
    while True:
        with ExitStack() as stack:
            file = stack.enter_context(open(path, "a+b"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                message = _refusal(path.parent, _holder(file))
                raise FolderInUseError(message) from None
            except OSError as error:
                warnings.warn(
                    f"The folder {path.parent} cannot be locked ({error}). Let no "
                    "other fit use it as its checkpoint.",
                    stacklevel=level_of_caller(),
                )
            if _is_at(path, file):
                stack.pop_all()
                return file


def _is_at(path: Path, file: BinaryIO) -> bool:
    """Whether the name is still that of the file, which its last owner may remove."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _own_words(what: str) -> bytes:
    return json.dumps(
        {
            "what": what,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
        }
    ).encode()


def _holder(file: BinaryIO) -> str:
    file.seek(0)
    try:
        known = json.loads(file.read())
        words = "process {pid} on {host}, which fits {what} since {since}".format(
            **known
        )
    except (ValueError, LookupError, TypeError):
        return "another process, which has just begun"
    here = known["pid"] == os.getpid() and known["host"] == socket.gethostname()
    return f"{words}: another thread of this process" if here else words


def _refusal(folder: Path, holder: str) -> str:
    return (
        f"The checkpoint in {folder} is in use by {holder}. Wait until that fit has "
        "ended, or give this one a folder of its own: "
        "localsvm.engine.options(checkpoint=...)."
    )
