"""The state of a fit in a folder, so that it can go on after an interruption."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from localsvm._plain_file import read_plain_file, write_plain_file
from localsvm._record import Arrays

_FORMAT, _VERSION = "checkpoint", 1
_STORED = ("<f8", "<f4", "<i8", "<i4", "|u1")
# None has two bytes: those are widened.
_SAME_SIZE = {1: "|u1", 2: "", 4: "<i4", 8: "<i8"}


class Checkpoint:
    """Named states of one fit, each replaced at once or not at all.

    Parameters
    ----------
    folder : Path
        Made if it is not there. All is kept in a folder of its own inside.
    description : dict of str
        What the fit is of. A folder that holds the state of another fit is refused.
    seconds : float
        Least time between two states of one name, unless one is written with ``now``.
    """

    def __init__(
        self, folder: Path, description: dict[str, str], seconds: float
    ) -> None:
        self.folder = folder / "localsvm-fit"
        self._seconds = seconds
        self._written = time.monotonic()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._check(description)

    def load(self, name: str) -> Arrays | None:
        """State of that name, or None."""
        path = self._path(name)
        if not path.exists():
            return None
        header, arrays = read_plain_file(path, _FORMAT, _VERSION)
        state: Arrays = {}
        for key, kind in header["arrays"].items():
            if isinstance(kind, list):
                state[key] = np.array(kind, dtype=str)
            elif np.dtype(kind).itemsize == 2:
                state[key] = arrays[key].astype(kind)
            else:
                state[key] = arrays[key].view(kind)
        return state

    @property
    def is_due(self) -> bool:
        """Whether the last state is old enough for another one."""
        return time.monotonic() - self._written >= self._seconds

    @property
    def is_bare(self) -> bool:
        """Whether nothing is kept that a fit could be resumed from."""
        kept = {path.name for path in self.folder.glob("*")}
        return kept <= {self._path(name).name for name in ("description", "seed")}

    def save(self, name: str, state: Arrays, *, now: bool = False) -> bool:
        """Replace the state of that name, unless the last one is young."""
        if not now and not self.is_due:
            return False
        kinds: dict[str, Any] = {}
        stored: Arrays = {}
        for key, array in state.items():
            if array.dtype.kind == "U":
                kinds[key] = array.tolist()
                continue
            kinds[key] = array.dtype.newbyteorder("<").str
            stored[key] = _storable(array)
        write_plain_file(self._path(name), _FORMAT, _VERSION, {"arrays": kinds}, stored)
        self._written = time.monotonic()
        return True

    def clear(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.state"

    def refuse(self, reason: str) -> NoReturn:
        """Raise, with the reason why the states are of no use for this fit."""
        raise ValueError(
            f"The checkpoint in {self.folder.parent} is that of another fit: {reason}. "
            "Remove the folder to begin anew, or give another one: "
            "localsvm.engine.options(checkpoint=...)."
        )

    def _check(self, description: dict[str, str]) -> None:
        known = self.load("description")
        if known is None:
            words = {key: np.array([text]) for key, text in description.items()}
            self.save("description", words, now=True)
            return
        before = {key: str(words[0]) for key, words in known.items()}
        for key in {**description, **before}:
            was, now = before.get(key), description.get(key)
            if was != now:
                self.refuse(f"its {key} was {_quoted(was)}, now it is {_quoted(now)}")


def _quoted(text: str | None) -> str:
    return "not there" if text is None else repr(text)


def _storable(array: NDArray[Any]) -> NDArray[Any]:
    """Another view of the same bytes, or a wider type, where the file has no such."""
    dtype = array.dtype.newbyteorder("<")
    array = np.asarray(array, dtype=dtype, order="C")
    if dtype.str in _STORED:
        return array
    if dtype.kind not in "biufmM" or dtype.itemsize not in _SAME_SIZE:
        raise TypeError(f"A state cannot hold the type {dtype}.")
    if dtype.itemsize == 2:
        return array.astype(np.float32 if dtype.kind == "f" else np.int32)
    return array.view(_SAME_SIZE[dtype.itemsize])
