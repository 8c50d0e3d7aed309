"""Where arrays live between two passes over the blocks: in memory or in a folder.

A method writes what it needs of a block once, under a key, and reads it in every later
pass. It does not know which store it writes to: a fit in memory keeps arrays in a
:class:`MemoryStore`, one over files or a cluster in a :class:`FolderStore` that all
workers see. A key is written once; what changes gets a new key for each version,
so that a task can run twice (a worker may die after it wrote) and a fit be resumed.
"""

from __future__ import annotations

import os
import secrets
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm._record import pack_csr, unpack_csr

# A smaller file is read in less time than it takes to map it.
_MAPPED_BYTES = 2**18


class Store(ABC):
    """Arrays by key and name. Values are ndarrays or CSR matrices."""

    @abstractmethod
    def put(self, key: str, arrays: Mapping[str, Any]) -> None:
        """Keep arrays under a key, all of them or none. An existing key stays."""

    @abstractmethod
    def get(self, key: str, *, mapped: bool = False) -> Mapping[str, Any]:
        """Arrays of a key, each read when it is looked up.

        With ``mapped``, large dense arrays stay on the disk until their entries are
        read.
        """

    @abstractmethod
    def has(self, key: str) -> bool:
        """Whether the key has been written."""

    @abstractmethod
    def drop(self, key: str) -> None:
        """Remove a key, if it is there."""

    @abstractmethod
    def revising(
        self, key: str, new_key: str
    ) -> Any:  # a context manager; mypy cannot see through an abstract one
        """Context with a writable copy of the array ``"values"`` of a key.

        The copy becomes ``"values"`` of ``new_key`` if the context ends well.
        """

    @abstractmethod
    def creating(self, key: str, shape: tuple[int, ...]) -> Any:
        """Context with float64 zeros that become ``"values"`` of a new key."""


@dataclass(frozen=True)
class MemoryStore(Store):
    """Arrays in a dictionary, as they were given."""

    _kept: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def put(self, key: str, arrays: Mapping[str, Any]) -> None:
        """Keep the arrays themselves; they must not be changed afterwards."""
        self._kept.setdefault(key, dict(arrays))

    def get(self, key: str, *, mapped: bool = False) -> Mapping[str, Any]:
        """Arrays of a key."""
        del mapped
        return self._kept[key]

    def has(self, key: str) -> bool:
        """Whether the key is there."""
        return key in self._kept

    def drop(self, key: str) -> None:
        """Forget a key."""
        self._kept.pop(key, None)

    @contextmanager
    def revising(self, key: str, new_key: str) -> Iterator[NDArray[Any]]:
        """Give a copy, and keep it under the new key."""
        copy = np.array(self._kept[key]["values"])
        yield copy
        self._kept[new_key] = {"values": copy}

    @contextmanager
    def creating(self, key: str, shape: tuple[int, ...]) -> Iterator[NDArray[Any]]:
        """Give zeros, and keep them."""
        zeros = np.zeros(shape)
        yield zeros
        self._kept[key] = {"values": zeros}


@dataclass(frozen=True)
class FolderStore(Store):
    """Arrays in ``.npy`` files: a folder per key, which appears when it is complete.

    Attributes
    ----------
    folder : Path
        Exists, and all workers see it.
    """

    folder: Path

    def put(self, key: str, arrays: Mapping[str, Any]) -> None:
        """Write to a temporary folder, which then takes the name of the key."""
        if self.has(key):
            return
        with self._publishing(key) as folder:
            for name, value in arrays.items():
                for part, array in _flat(name, value).items():
                    np.save(folder / f"{part}.npy", array, allow_pickle=False)

    def get(self, key: str, *, mapped: bool = False) -> Mapping[str, Any]:
        """Arrays of a key, read when they are looked up."""
        return FolderArrays(self._path(key), mapped)

    def has(self, key: str) -> bool:
        """Whether the folder of the key is there."""
        return self._path(key).exists()

    def drop(self, key: str) -> None:
        """Remove the folder of the key."""
        shutil.rmtree(self._path(key), ignore_errors=True)

    @contextmanager
    def revising(self, key: str, new_key: str) -> Iterator[NDArray[Any]]:
        """Copy the file, map it, and publish it under the new key."""
        with self._publishing(new_key) as folder:
            shutil.copyfile(self._path(key) / "values.npy", folder / "values.npy")
            values = np.load(folder / "values.npy", mmap_mode="r+")
            yield values
            values.flush()

    @contextmanager
    def creating(self, key: str, shape: tuple[int, ...]) -> Iterator[NDArray[Any]]:
        """Map a new file of zeros, and publish it."""
        with self._publishing(key) as folder:
            path = folder / "values.npy"
            values = np.lib.format.open_memmap(path, "w+", np.float64, shape)
            yield values
            values.flush()

    def _path(self, key: str) -> Path:
        return self.folder / key

    @contextmanager
    def _publishing(self, key: str) -> Iterator[Path]:
        """Give a folder that takes the name of the key if the context ends well.

        If another task has published the key meanwhile, that one stays.
        """
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
        temporary.mkdir()
        try:
            yield temporary
            _sync(temporary)
            with suppress(OSError):
                temporary.rename(path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        if not path.exists():
            raise OSError(f"The folder {path} could not be written.")


class FolderArrays(Mapping[str, Any]):
    """Arrays of one folder, read from the disk when they are looked up."""

    def __init__(self, folder: Path, mapped: bool) -> None:
        self._folder = folder
        self._mapped = mapped

    def __getitem__(self, name: str) -> Any:
        path = self._folder / f"{name}.npy"
        with suppress(FileNotFoundError):
            mapped = self._mapped and path.stat().st_size > _MAPPED_BYTES
            found = np.load(path, "r" if mapped else None, allow_pickle=False)
            return np.asarray(found)
        pieces = {
            piece: np.load(self._folder / f"{name}.{piece}.npy", allow_pickle=False)
            for piece in ("data", "indices", "indptr", "shape")
        }
        return unpack_csr(pieces)

    def __iter__(self) -> Iterator[str]:
        names = {path.name.split(".")[0] for path in self._folder.glob("*.npy")}
        return iter(sorted(names))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _flat(name: str, value: Any) -> dict[str, NDArray[Any]]:
    if not sparse.issparse(value):
        return {name: np.asarray(value)}
    return {f"{name}.{piece}": array for piece, array in pack_csr(value).items()}


def _sync(folder: Path) -> None:
    """Flush the files to the disk, so that a name never stands for half a file."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
