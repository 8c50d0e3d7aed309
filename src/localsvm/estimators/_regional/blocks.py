"""What ClusteredSVC does with one partition, and how it is read later."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.cluster import HardRegions, RegionCodes, SoftRegions
from localsvm.engine import (
    Block,
    Statistics,
    read_array,
    read_rows,
    write_folder,
    write_rows,
)
from localsvm.estimators._regional.fit import with_global_node
from localsvm.solvers import CodedRows


@dataclass(frozen=True)
class Coding:
    """How rows of the files are read as rows of the solver.

    Attributes
    ----------
    folder : Path
        Of the files of all partitions.
    regions : HardRegions or SoftRegions
    global_weight : float
        Of the global node in the code of every row; 0 without one.
    C : float
    """

    folder: Path
    regions: HardRegions | SoftRegions
    global_weight: float
    C: float

    @property
    def n_nodes(self) -> int:
        """Regions, and the global node if there is one."""
        return self.regions.n_regions + int(self.global_weight > 0)

    def read(self, number: int) -> CodedRows:
        """Rows of a partition as the solver takes them."""
        own = part_folder(self.folder, number)
        codes = RegionCodes(read_array(own, "regions"), self._weights(own))
        nodes, weights = with_global_node(
            codes, self.regions.n_regions, self.global_weight
        )
        return CodedRows(
            read_rows(own),
            read_array(own, "class"),
            self.C * read_array(own, "weight"),
            nodes,
            weights,
        )

    def _weights(self, own: Path) -> NDArray[Any]:
        scores = read_array(own, "scores")
        if isinstance(self.regions, SoftRegions):
            return self.regions.soften(scores)
        return scores


def part_folder(folder: Path, number: int) -> Path:
    """Folder of the files of a partition."""
    return folder / f"part-{number}"


def assign_part(
    block: Block,
    folder: Path,
    regions: HardRegions | SoftRegions,
    classes: NDArray[Any],
    class_weight: NDArray[np.float64],
) -> Statistics:
    """Find the regions of the rows and write both to files.

    Rows without weight are left out. Files that an earlier, interrupted fit wrote are
    taken as they are.

    Returns
    -------
    dict
        Number of the partition, rows written, sum of the squared distances to the
        nearest centre, rows and weights of each region and class.
    """
    own = part_folder(folder, block.number)
    if not own.exists():
        _write_part(own, block, regions, classes, class_weight)
    return {
        name: read_array(own, name)
        for name in ("number", "n_rows", "distance", "pairs", "sizes", "counts")
    }


def merge_assignments(first: Statistics, second: Statistics) -> Statistics:
    """Add up the sums of two partitions; put their numbers side by side."""
    pairs, kind = np.unique(
        np.concatenate([first["pairs"], second["pairs"]]), axis=0, return_inverse=True
    )
    sums = {
        name: np.bincount(kind, np.concatenate([first[name], second[name]]), len(pairs))
        for name in ("sizes", "counts")
    }
    return {
        "number": np.concatenate([first["number"], second["number"]]),
        "n_rows": np.concatenate([first["n_rows"], second["n_rows"]]),
        "distance": first["distance"] + second["distance"],
        "pairs": pairs,
        **sums,
    }


def _write_part(
    own: Path,
    block: Block,
    regions: HardRegions | SoftRegions,
    classes: NDArray[Any],
    class_weight: NDArray[np.float64],
) -> None:
    class_index = np.searchsorted(classes, block.y).astype(np.int32)
    found, scores, distance = _search(regions, block.X)
    present = block.sample_weight > 0
    pairs, kind = np.unique(
        np.stack([found[present, 0], class_index[present]], axis=1),
        axis=0,
        return_inverse=True,
    )
    weight = block.sample_weight * class_weight[class_index]
    kept = weight > 0
    with write_folder(own) as folder:
        write_rows(folder, block.X if kept.all() else block.X[kept])
        arrays: Statistics = {
            "class": class_index[kept],
            "weight": weight[kept],
            "regions": found[kept],
            "scores": scores[kept],
            "number": np.array([block.number]),
            "n_rows": np.array([np.count_nonzero(kept)]),
            "distance": np.array(block.sample_weight @ distance),
            "pairs": pairs,
            "sizes": np.bincount(kind, minlength=len(pairs)).astype(np.float64),
            "counts": np.bincount(
                kind, block.sample_weight[present], len(pairs)
            ).astype(np.float64),
        }
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)


def _search(
    regions: HardRegions | SoftRegions, X: Any
) -> tuple[NDArray[np.int32], NDArray[Any], NDArray[np.float64]]:
    if isinstance(regions, SoftRegions):
        return regions.search(X)
    codes = regions.code(X)
    return codes.regions, codes.weights, np.zeros(X.shape[0])
