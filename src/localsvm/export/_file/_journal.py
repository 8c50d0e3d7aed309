"""The journal of a model file: changes of rows that the file itself does not have yet.

It stands beside the file as ``<name>.journal``, a sequence of

    <length, 8 bytes, little-endian> <that many bytes, as a plain file has them>

and each entry names the checksum of the model file that it follows. An entry that a
killed process did not finish is not there; entries that follow another file, since that
was replaced by a newer one, are not there either.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from localsvm._plain_file import PlainContent, parse_plain, plain_parts, prefix_errors
from localsvm.exceptions import DataError

FORMAT = "update"
VERSION = 1
_LENGTH_BYTES = 8


def journal_of(path: str | os.PathLike[str]) -> Path:
    """Where the journal of a model file is; of a link, beside the file it points to."""
    target = Path(os.path.realpath(path))
    return target.with_name(target.name + ".journal")


def read_entries(path: str | os.PathLike[str], base: str) -> list[PlainContent]:
    """Entries that follow the model file of a checksum, in their order."""
    try:
        file = open(journal_of(path), "rb")  # noqa: SIM115
    except FileNotFoundError:
        return []
    with file:
        return _entries(file, base)[0]


def _entries(file: BinaryIO, base: str) -> tuple[list[PlainContent], int]:
    """Entries of a journal, and where they end; none and 0 if they follow another."""
    found: list[PlainContent] = []
    end = 0
    with prefix_errors(file.name):
        for content, next_end, is_last in _frames(file):
            try:
                entry = parse_plain(content, FORMAT, VERSION)
            except ValueError:
                # What was not written to the end before the power failed.
                if is_last:
                    break
                raise
            if entry.header.get("base") != base:
                if found:
                    raise ValueError("has entries of several model files.")
                return [], 0
            found.append(entry)
            end = next_end
    return found, end


def _frames(file: BinaryIO) -> Iterator[tuple[bytes, int, bool]]:
    size, start = os.fstat(file.fileno()).st_size, 0
    while start + _LENGTH_BYTES <= size:
        file.seek(start)
        length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        end = start + _LENGTH_BYTES + length
        if end > size:
            return
        yield file.read(length), end, end == size
        start = end


class Journal:
    """A journal that is written; nobody else writes it meanwhile.

    Parameters
    ----------
    path : path
        Of the model file.
    base : str
        Checksum of that file.
    """

    def __init__(self, path: str | os.PathLike[str], base: str) -> None:
        self._path = journal_of(path)
        is_new = not self._path.exists()
        mode = os.stat(path).st_mode & 0o666
        number = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, mode)
        self._file = os.fdopen(number, "r+b", buffering=0)
        try:
            self._lock()
            if is_new:
                _sync_folder(self._path.parent)
            self._base = base
            self.entries, self._end = _entries(self._file, base)
        except BaseException:
            self._file.close()
            raise

    @property
    def n_bytes(self) -> int:
        """Length of the entries."""
        return self._end

    def append(
        self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[np.generic]]
    ) -> None:
        """Write an entry; when this returns it is there whatever happens."""
        parts = plain_parts(FORMAT, VERSION, {"base": self._base, **header}, arrays)
        content = b"".join(parts)
        self._file.seek(self._end)
        self._file.truncate(self._end)
        whole = len(content).to_bytes(_LENGTH_BYTES, "little") + content
        written = 0
        try:
            while written < len(whole):
                written += self._file.write(whole[written:])
            os.fsync(self._file.fileno())
        except BaseException:
            with contextlib.suppress(OSError):
                self._file.truncate(self._end)
            raise
        self._end += len(whole)

    def restart(self, base: str) -> None:
        """Begin anew, after the model file was replaced by one with all changes."""
        self._base, self._end = base, 0
        self._file.truncate(0)
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let others write; a journal without entries is removed."""
        if self._end == 0:
            self._path.unlink(missing_ok=True)
        self._file.close()

    def __enter__(self) -> Self:
        """Return the journal."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the journal."""
        self.close()

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataError(
                f"{self._path} is in use by another process that updates the model; "
                "wait until it is done."
            ) from None
        # Whoever held the lock may have removed the file that this one opened.
        if os.fstat(self._file.fileno()).st_nlink == 0:
            raise DataError(
                f"{self._path} was just finished by another process; try again."
            )


def _sync_folder(folder: Path) -> None:
    """Make a new name in a folder last."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
