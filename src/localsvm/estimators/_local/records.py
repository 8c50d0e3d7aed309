"""Cells of rows, and their models, in files that all workers see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._plain_file import read_plain_file, write_plain_file
from localsvm._replaced_file import replacing_file
from localsvm.engine import Statistics
from localsvm.solvers import LocalModels

_VERSION = 1
_ARRAYS = {
    "rows": ("class_index", "weight", "first"),
    "copies": ("kind", "sample_weight"),
}


@dataclass(frozen=True)
class MergedCell:
    """Distinct rows of a cell, in the order of their hashes.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    class_index : ndarray of shape (n_rows,), int32
    weight : ndarray of shape (n_rows,)
        Sums of the penalty weights of equal rows of one class.
    first : ndarray of shape (n_rows,), int64
        Where each stands in the data, or the first of its copies.
    kind : ndarray of shape (n_copies,), int64
        Which of them each row of the data is.
    sample_weight : ndarray of shape (n_copies,)
    """

    X: NDArray[Any]
    class_index: NDArray[np.int32]
    weight: NDArray[np.float64]
    first: NDArray[np.int64]
    kind: NDArray[np.int64]
    sample_weight: NDArray[np.float64]


@dataclass(frozen=True)
class SolvedCell:
    """Neighbourhoods whose centres are rows of a cell.

    Attributes
    ----------
    models : LocalModels
        ``support`` counts the distinct rows of all cells, in the order of the cells.
    centers : ndarray of shape (n_models,), int64
        Rows of the centres, counted likewise.
    first : ndarray of shape (n_models,), int64
        Where the centres stand in the data.
    labels : ndarray of shape (n_rows,), int32
        Neighbourhood that answers for each row of the cell.
    class_counts : ndarray of shape (n_models, n_classes)
        Sample weights of the rows that each answers for.
    """

    models: LocalModels
    centers: NDArray[np.int64]
    first: NDArray[np.int64]
    labels: NDArray[np.int32]
    class_counts: NDArray[np.float64]

    @classmethod
    def joined(cls, parts: Sequence[SolvedCell]) -> SolvedCell:
        """Put the models of several cells into one, in their order."""
        sizes = np.array([len(part.centers) for part in parts])
        before = (np.cumsum(sizes) - sizes).astype(np.int32)
        labels = [part.labels + n for part, n in zip(parts, before, strict=True)]
        return cls(
            LocalModels.joined([part.models for part in parts]),
            np.concatenate([part.centers for part in parts]),
            np.concatenate([part.first for part in parts]),
            np.concatenate(labels),
            np.concatenate([part.class_counts for part in parts]),
        )


@dataclass(frozen=True)
class CellFiles:
    """Files of cells. Each appears at once, with a content that does not change."""

    folder: Path

    def has_rows(self, cell: int) -> bool:
        """Whether the rows of a cell are there."""
        return self._path(cell, "box").exists()

    def write_rows(self, cell: int, merged: MergedCell | None) -> None:
        """Write the rows of a cell; None is a cell without rows."""
        if merged is None:
            self._write(cell, "box", {"n_rows": np.zeros(1, dtype=np.int64)})
            return
        with replacing_file(self._path(cell, "npy")) as file:
            np.save(file, merged.X)
        for kind, names in _ARRAYS.items():
            self._write(cell, kind, {name: getattr(merged, name) for name in names})
        box = {
            "n_rows": np.array([len(merged.X)]),
            "low": merged.X.min(axis=0).astype(np.float64),
            "high": merged.X.max(axis=0).astype(np.float64),
        }
        self._write(cell, "box", box)

    def read_box(self, cell: int) -> Statistics:
        """Read the number of rows and the smallest and largest entry of each column."""
        return self._read(cell, "box")

    def map_rows(self, cell: int) -> NDArray[Any]:
        """Rows of a cell as they lie on the disk."""
        return np.asanyarray(np.load(self._path(cell, "npy"), mmap_mode="r"))

    def read_labels(self, cell: int) -> Statistics:
        """``class_index``, ``weight`` and ``first`` of a cell."""
        return self._read(cell, "rows")

    def read_merged(self, cell: int) -> MergedCell:
        """Read what :meth:`write_rows` wrote."""
        return MergedCell(
            np.load(self._path(cell, "npy")),
            **self.read_labels(cell),
            **self._read(cell, "copies"),
        )

    def has_models(self, cell: int) -> bool:
        """Whether the models of a cell are there."""
        return self._path(cell, "models").exists()

    def write_models(self, cell: int, solved: SolvedCell) -> None:
        """Write the models of a cell."""
        arrays = {
            name: array for name, array in vars(solved).items() if name != "models"
        }
        models = {
            f"models_{name}": array for name, array in vars(solved.models).items()
        }
        self._write(cell, "models", arrays | models)

    def read_models(self, cell: int) -> SolvedCell:
        """Read what :meth:`write_models` wrote."""
        arrays = self._read(cell, "models")
        names = [field.name for field in fields(LocalModels)]
        models = LocalModels(**{name: arrays.pop(f"models_{name}") for name in names})
        return SolvedCell(models, **arrays)

    def _write(self, cell: int, kind: str, arrays: Statistics) -> None:
        write_plain_file(self._path(cell, kind), "cell", _VERSION, {}, arrays)

    def _read(self, cell: int, kind: str) -> Statistics:
        return read_plain_file(self._path(cell, kind), "cell", _VERSION)[1]

    def _path(self, cell: int, kind: str) -> Path:
        return self.folder / f"cell-{cell}.{kind}"
