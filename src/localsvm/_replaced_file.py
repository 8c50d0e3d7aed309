"""Files that are replaced at once or not at all.

A new file is written beside the old one under the name ``.localsvm-<random>.tmp`` and
then takes its name. Its writer holds a lock on it, so what a killed process has left is
recognised by its name and by nobody holding its lock, and the next process that writes
to the folder removes it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

_TEMPORARY = re.compile(r"\.localsvm-[0-9a-f]{16}\.tmp")


def replace_file(path: str | os.PathLike[str], parts: Iterable[Any]) -> None:
    """Write bytes as :func:`replacing_file` does."""
    with replacing_file(path) as file:
        for part in parts:
            file.write(part)


@contextlib.contextmanager
def replacing_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that gets its name when the block ends, and vanishes if it fails.

    A file that is replaced hands its mode on, and its owner where that is allowed. A
    symbolic link stays, and the file it points to is replaced. What is not a regular
    file (a device, a FIFO, standard output) is written in place: it cannot be replaced
    at once, and whatever was written before a failure stays written.

    Parameters
    ----------
    path : path

    Yields
    ------
    file : binary file

    Raises
    ------
    OSError
        If it is a folder, lies in a folder that does not exist, or cannot be written.
    """
    name, old = os.fspath(path), _stat(path)
    if old is not None and stat.S_ISDIR(old.st_mode):
        words = "Is a folder; expected the name of a file to write"
        raise IsADirectoryError(errno.EISDIR, words, name)
    target = _end_of_links(name)
    if old is not None and (target is None or not stat.S_ISREG(old.st_mode)):
        with open(name, "wb") as stream:
            yield stream
        return
    target = Path(name) if target is None else target
    if not target.parent.is_dir():
        words = "There is no such folder"
        raise FileNotFoundError(errno.ENOENT, words, str(target.parent))
    _remove_abandoned(target.parent)
    # Named before it is there: an interrupt at any moment finds what to remove.
    temporary = target.parent / f".localsvm-{secrets.token_hex(8)}.tmp"
    try:
        with _open_temporary(temporary, old) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            # As long as it is open it is locked: nobody takes it for abandoned.
            os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise


def _stat(path: str | os.PathLike[str]) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _end_of_links(name: str) -> Path | None:
    """Where the last of the links points to; None for an open file such as stdout.

    A link of ``/proc`` is no name of the file that it leads to: whoever has opened that
    file would not see the one that replaces it.
    """
    while True:
        folder, last = os.path.split(name)
        name = os.path.join(os.path.realpath(folder), last)
        if name.startswith("/proc/"):
            return None
        if not os.path.islink(name):
            return Path(name)
        name = os.path.join(os.path.dirname(name), os.readlink(name))


def _open_temporary(path: Path, old: os.stat_result | None) -> BinaryIO:
    """Open and lock a new file that only those may read who could read the old one."""
    while True:
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC
        number = os.open(path, flags, 0o666 if old is None else 0o600)
        file = os.fdopen(number, "r+b")
        # File systems without locks have no abandoned files removed, either.
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(number).st_nlink:
            break
        file.close()  # another process found it before it was locked
    if old is not None:
        with contextlib.suppress(PermissionError):
            os.fchown(number, old.st_uid, old.st_gid)
        os.fchmod(number, stat.S_IMODE(old.st_mode) & 0o777)
    return file


@functools.lru_cache(maxsize=1024)
def _remove_abandoned(folder: Path) -> None:
    """Remove what killed processes have left in a folder; looks there once."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name) and entry.is_file(
                follow_symlinks=False
            ):
                with contextlib.suppress(OSError):
                    _remove_unless_locked(entry.path)


def _remove_unless_locked(path: str) -> None:
    number = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
    finally:
        os.close(number)
