"""Blocks of rows on the disk, as plain NumPy files."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.engine._sources._block import Block
from localsvm.engine._sources._source import BatchForm, Part, Source


@contextmanager
def write_folder(path: Path) -> Iterator[Path]:
    """Give a folder to write to that gets its name when it is complete.

    Parameters
    ----------
    path : Path
        If another task has made it meanwhile, that one stays.

    Yields
    ------
    Path
        Where to write.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    temporary.mkdir()
    try:
        yield temporary
        with suppress(FileExistsError, OSError):
            temporary.rename(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    if not path.exists():
        raise OSError(f"The folder {path} could not be written.")


def write_rows(folder: Path, X: Any) -> None:
    """Write dense or CSR rows to files of a folder.

    Parameters
    ----------
    folder : Path
    X : ndarray or CSR
    """
    if not sparse.issparse(X):
        np.save(folder / "X.npy", X)
        return
    np.save(folder / "X_data.npy", X.data)
    np.save(folder / "X_indices.npy", X.indices)
    np.save(folder / "X_indptr.npy", X.indptr)
    np.save(folder / "X_shape.npy", np.array(X.shape))


def read_rows(folder: Path, *, mapped: bool = False) -> Any:
    """Read what :func:`write_rows` wrote.

    Parameters
    ----------
    folder : Path
    mapped : bool, default=False
        Whether dense rows are read from the disk as they are looked at.

    Returns
    -------
    ndarray or CSR
    """
    if (folder / "X.npy").exists():
        return read_array(folder, "X", mapped=mapped)
    data, indices, indptr, shape = (
        read_array(folder, f"X_{name}")
        for name in ("data", "indices", "indptr", "shape")
    )
    return sparse.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))


def read_array(folder: Path, name: str, *, mapped: bool = False) -> NDArray[Any]:
    """Read one array of plain numbers or strings.

    Parameters
    ----------
    folder : Path
    name : str
        Of the file, without its ending.
    mapped : bool, default=False
        Whether it is read from the disk as it is looked at.

    Returns
    -------
    ndarray
    """
    path = folder / f"{name}.npy"
    return np.asarray(np.load(path, "r" if mapped else None, allow_pickle=False))


def save_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array under another name first, so that it is there whole or not.

    Parameters
    ----------
    path : Path
    array : ndarray
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    with temporary.open("wb") as file:
        np.save(file, array)
    temporary.replace(path)


@dataclass(frozen=True)
class _SpooledPart(Part):
    folder: Path
    place: str
    n_rows: int

    def read(self) -> Block:
        return Block(
            read_rows(self.folder),
            read_array(self.folder, "y"),
            read_array(self.folder, "weight"),
        )


def spool(batches: Iterable[Any], folder: Path) -> Source:
    """Write batches to a folder, one after the other, and give them as partitions.

    Parameters
    ----------
    batches : iterable of (X, y) or (X, y, sample_weight)
    folder : Path
        Exists already; what is written there is for the caller to remove.
    """
    parts: list[Part] = []
    form: BatchForm | None = None
    for number, batch in enumerate(batches):
        form = form or BatchForm.of(batch)
        place = f"batch {number}"
        block = form.block(batch, place)
        own = folder / f"batch-{number}"
        own.mkdir()
        write_rows(own, block.X)
        np.save(own / "y.npy", block.y)
        np.save(own / "weight.npy", block.sample_weight)
        parts.append(_SpooledPart(own, place, block.n_rows))
    if form is None:
        raise ValueError("The iterator of batches gave none; expected at least one.")
    return form.source(parts)
