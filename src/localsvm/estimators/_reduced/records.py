"""Files of an exact SVM on partitions: their rows, what has travelled, its duals."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.rows import distinct_rows, merge_weights, take_rows

Floats = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class PartRows:
    """Distinct rows of a partition that count.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_rows, n_features)
    class_index : ndarray of shape (n_rows,), int32
    weight : ndarray of shape (n_rows,)
        Sample weight times class weight.
    place : ndarray of shape (n_rows,)
        Which row of the partition it is, or the first of its copies.
    """

    X: Any
    class_index: NDArray[np.int32]
    weight: Floats
    place: NDArray[np.intp]


@dataclass(frozen=True)
class PartState:
    """Where the rows of a partition are before a pass.

    Attributes
    ----------
    left : ndarray of shape (n_rows,), bool
        Rows that have not travelled.
    group : ndarray of shape (n_tasks, n_rows) or (1, n_rows), int32
        Which group of the partition each of them is in, in the problem of each task or
        of all.
    """

    left: NDArray[np.bool_]
    group: NDArray[np.int32]


@dataclass(frozen=True)
class Travelled:
    """Rows that have left their partitions.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_rows, n_features)
    class_index : ndarray of shape (n_rows,), int32
    weight : ndarray of shape (n_rows,)
    number : ndarray of shape (n_rows,), int64
        Which of the rows of all partitions it is; in the file of one partition, which
        of its rows.
    duals : ndarray of shape (n_tasks, n_rows)
        Signed duals before the solve.
    """

    X: Any
    class_index: NDArray[np.int32]
    weight: Floats
    number: NDArray[np.int64]
    duals: Floats

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.weight)

    def as_arrays(self) -> Arrays:
        """Give it as plain arrays."""
        names = ("class_index", "weight", "number", "duals")
        return rows_as_arrays(self.X) | {name: getattr(self, name) for name in names}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Undo :meth:`as_arrays`."""
        names = ("class_index", "weight", "number", "duals")
        return cls(rows_from_arrays(arrays), *(arrays[name] for name in names))

    @classmethod
    def joined(cls, pieces: list[Self], seed: int) -> Self:
        """Put rows together; equal rows of a class become one.

        The number is that of the first of them, the dual the sum of theirs. The order
        depends on content alone.
        """
        X = stack([piece.X for piece in pieces])
        class_index = np.concatenate([piece.class_index for piece in pieces])
        weight = np.concatenate([piece.weight for piece in pieces])
        number = np.concatenate([piece.number for piece in pieces])
        duals = np.concatenate([piece.duals for piece in pieces], axis=1)
        if not len(weight):
            return cls(X, class_index, weight, number, duals)
        first, kind = distinct_rows(X, weight, seed, class_index)
        return cls(
            take_rows(X, first),
            class_index[first],
            merge_weights(weight, kind),
            number[first],
            np.array([np.bincount(kind, own, len(first)) for own in duals]),
        )


@dataclass(frozen=True)
class Groups:
    """Groups of rows in the problem of a task.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_groups, n_features)
        Their means or pseudo-centres.
    sign, bounds, duals : ndarray of shape (n_groups,)
        Side, sum of the bounds, and dual before the solve.
    """

    X: Any
    sign: Floats
    bounds: Floats
    duals: Floats

    def as_arrays(self) -> Arrays:
        """Give it as plain arrays."""
        names = ("sign", "bounds", "duals")
        return rows_as_arrays(self.X) | {name: getattr(self, name) for name in names}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Undo :meth:`as_arrays`."""
        names = ("sign", "bounds", "duals")
        return cls(rows_from_arrays(arrays), *(arrays[name] for name in names))

    @classmethod
    def joined(cls, pieces: list[Self]) -> Self:
        """Put groups of several partitions together."""
        return cls(
            stack([piece.X for piece in pieces]),
            np.concatenate([piece.sign for piece in pieces]),
            np.concatenate([piece.bounds for piece in pieces]),
            np.concatenate([piece.duals for piece in pieces]),
        )


@dataclass(frozen=True)
class ReducedFiles:
    """Where everything is. A pass reads its own files and writes those of the next.

    Parameters
    ----------
    folder : Path
        One that all workers see.
    """

    folder: Path

    def read_part(self, number: int) -> PartRows:
        """Rows of a partition."""
        with np.load(self._part(number)) as file:
            names = ("class_index", "weight", "place")
            return PartRows(rows_from_arrays(file), *(file[name] for name in names))

    def write_part(self, number: int, rows: PartRows) -> None:
        """Write the rows of a partition."""
        arrays = {
            name: getattr(rows, name) for name in ("class_index", "weight", "place")
        }
        _save(self._part(number), rows_as_arrays(rows.X) | arrays)

    def read_state(self, number: int, version: int) -> PartState:
        """Where the rows of a partition are before a pass."""
        with np.load(self._state(number, version)) as file:
            return PartState(file["left"], file["group"])

    def write_state(
        self,
        number: int,
        version: int,
        state: PartState,
        new: Travelled,
        groups: list[Groups],
    ) -> None:
        """Write what a partition gives to a pass."""
        place = {"left": state.left, "group": state.group}
        _save(self._state(number, version), place | _units_as_arrays(new, groups))

    def read_given(
        self, number: int, version: int, n_tasks: int
    ) -> tuple[Travelled, list[Groups]]:
        """Read what a partition gives to a pass: new rows, and groups of each task."""
        with np.load(self._state(number, version)) as file:
            groups = [_groups_of(file, task) for task in range(n_tasks)]
            return Travelled.from_arrays(_Named(file, "rows")), groups

    def read_travelled(self, version: int) -> Travelled:
        """Rows that have travelled before a pass."""
        with np.load(self._units(version)) as file:
            return Travelled.from_arrays(_Named(file, "rows"))

    def read_groups(self, version: int, task: int) -> Groups:
        """Read the groups of all partitions in the problem of a task."""
        with np.load(self._units(version)) as file:
            return _groups_of(file, task)

    def write_units(
        self, version: int, travelled: Travelled, groups: list[Groups]
    ) -> None:
        """Write what the problems of a pass consist of."""
        _save(self._units(version), _units_as_arrays(travelled, groups))

    def read_duals(self, n_tasks: int, version: int) -> list[Floats]:
        """Duals after a pass, of what has travelled and then of groups, by task."""
        found = []
        for task in range(n_tasks):
            with np.load(self._duals(task, version)) as file:
                found.append(file["duals"])
        return found

    def write_duals(self, task: int, version: int, duals: Floats) -> None:
        """Write the duals of a task."""
        _save(self._duals(task, version), {"duals": duals})

    def remove_before(self, version: int, numbers: list[int], n_tasks: int) -> None:
        """Remove what a pass and those after it do not read."""
        old = [self._state(number, version - 1) for number in numbers]
        old.append(self._units(version - 2))
        old += [self._duals(task, version - 2) for task in range(n_tasks)]
        for path in old:
            path.unlink(missing_ok=True)

    def _part(self, number: int) -> Path:
        return self.folder / f"part-{number}.npz"

    def _state(self, number: int, version: int) -> Path:
        return self.folder / f"state-{number}-{version}.npz"

    def _units(self, version: int) -> Path:
        return self.folder / f"units-{version}.npz"

    def _duals(self, task: int, version: int) -> Path:
        return self.folder / f"duals-{task}-{version}.npz"


def rows_as_arrays(X: Any) -> Arrays:
    """Dense or CSR rows as plain arrays."""
    if not sparse.issparse(X):
        return {"X": X}
    names = ("data", "indices", "indptr", "shape")
    return {f"X_{name}": np.asarray(getattr(X, name)) for name in names}


def rows_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Undo :func:`rows_as_arrays`."""
    if "X" in arrays:
        return arrays["X"]
    data, indices, indptr, shape = (
        arrays[f"X_{name}"] for name in ("data", "indices", "indptr", "shape")
    )
    return sparse.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))


class _Named(Mapping[str, NDArray[Any]]):
    """Arrays of a file whose names begin alike."""

    def __init__(self, file: Mapping[str, NDArray[Any]], name: str) -> None:
        self._file = file
        self._prefix = f"{name}:"

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._file[self._prefix + name]

    def __iter__(self) -> Iterator[str]:
        own = (name for name in self._file if name.startswith(self._prefix))
        return (name.removeprefix(self._prefix) for name in own)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _groups_of(file: Mapping[str, NDArray[Any]], task: int) -> Groups:
    return Groups.from_arrays(_Named(file, f"groups-{task}"))


def _units_as_arrays(rows: Travelled, groups: list[Groups]) -> Arrays:
    arrays = {f"rows:{name}": array for name, array in rows.as_arrays().items()}
    for task, each in enumerate(groups):
        for name, array in each.as_arrays().items():
            arrays[f"groups-{task}:{name}"] = array
    return arrays


def _save(path: Path, arrays: Arrays) -> None:
    """Write a file under another name first: a task may run twice."""
    temporary = path.with_name(f".{secrets.token_hex(8)}.npz")
    plain: dict[str, Any] = dict(arrays)
    np.savez(temporary, **plain)
    os.replace(temporary, path)


def stack(pieces: list[Any]) -> Any:
    """Put rows below each other; CSR if any of them are."""
    if not any(sparse.issparse(piece) for piece in pieces):
        return np.concatenate(pieces)
    joined = sparse.csr_array(sparse.vstack([sparse.csr_array(p) for p in pieces]))
    return take_rows(joined, np.arange(joined.shape[0]))
