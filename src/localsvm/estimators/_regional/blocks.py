"""Functions of one block of rows: assign it to regions, and read it for the solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.cluster import HardRegions, RegionCodes, SoftRegions
from localsvm.engine import Block, Labels, Record, Store
from localsvm.estimators._regional.fit import with_global_node
from localsvm.solvers import CodedRows


@dataclass(frozen=True)
class Assignment(Record):
    """Where the rows of some blocks are, summed up.

    Attributes
    ----------
    number, n_rows : ndarray of shape (n_blocks,), int64
        Number of each block, and its rows in the store.
    distance : float
        Weighted sum of the squared distances to the nearest centre.
    pairs : ndarray of shape (n_pairs, 2)
        Region and class that have rows.
    sizes, counts : ndarray of shape (n_pairs,)
        Rows of each pair, and their weights.
    """

    number: NDArray[np.int64]
    n_rows: NDArray[np.int64]
    distance: float
    pairs: NDArray[np.int64]
    sizes: NDArray[np.float64]
    counts: NDArray[np.float64]

    def merge(self, other: Assignment) -> Assignment:
        """Add up the sums; list the blocks of both."""
        pairs, kind = np.unique(
            np.concatenate([self.pairs, other.pairs]), axis=0, return_inverse=True
        )
        sizes, counts = (
            np.bincount(kind, np.concatenate(both), len(pairs))
            for both in ((self.sizes, other.sizes), (self.counts, other.counts))
        )
        return Assignment(
            np.concatenate([self.number, other.number]),
            np.concatenate([self.n_rows, other.n_rows]),
            self.distance + other.distance,
            pairs,
            sizes,
            counts,
        )

    def block_sizes(self, n_blocks: int) -> NDArray[np.int64]:
        """Rows in the store of every block; 0 for one that had none."""
        sizes = np.zeros(n_blocks, dtype=np.int64)
        sizes[self.number] = self.n_rows
        return sizes

    def region_sizes(self, n_regions: int) -> NDArray[np.intp]:
        """Rows by region."""
        return np.bincount(self.pairs[:, 0], self.sizes, n_regions).astype(np.intp)

    def class_counts(self, n_regions: int, n_classes: int) -> NDArray[np.float64]:
        """Weights by region and class."""
        counts = np.zeros((n_regions, n_classes))
        counts[self.pairs[:, 0], self.pairs[:, 1]] = self.counts
        return counts


def assign_block(
    block: Block, store: Store, regions: HardRegions | SoftRegions, labels: Labels
) -> Assignment:
    """Find the regions of the rows, and put both into the store.

    Rows without weight are left out. A block that an earlier, interrupted fit stored is
    used as it is.
    """
    key = _key(block.number)
    if not store.has(key):
        store.put(key, _assigned(block, regions, labels))
    stored = store.get(key)
    names = ("number", "n_rows", "distance", "pairs", "sizes", "counts")
    return Assignment.from_arrays({name: stored[name] for name in names})


def _assigned(
    block: Block, regions: HardRegions | SoftRegions, labels: Labels
) -> dict[str, Any]:
    rows = block.rows(labels)
    found, scores, distance = regions.search(rows.X)
    present = rows.sample_weight > 0
    pairs, kind = np.unique(
        np.stack([found[present, 0], rows.class_index[present]], axis=1),
        axis=0,
        return_inverse=True,
    )
    kept = rows.penalty_weight > 0
    return {
        "X": rows.X if kept.all() else rows.X[kept],
        "class_index": rows.class_index[kept],
        "penalty_weight": rows.penalty_weight[kept],
        "regions": found[kept],
        "scores": scores[kept],
        "number": np.array([block.number]),
        "n_rows": np.array([np.count_nonzero(kept)]),
        "distance": np.array(rows.sample_weight @ distance),
        "pairs": pairs,
        "sizes": np.bincount(kind, minlength=len(pairs)).astype(np.float64),
        "counts": np.bincount(kind, rows.sample_weight[present], len(pairs)).astype(
            np.float64
        ),
    }


@dataclass(frozen=True)
class StoredRows:
    """Reads the rows of a block as the solver takes them.

    Attributes
    ----------
    store : Store
    regions : HardRegions or SoftRegions
    global_weight : float
        Of the global node in the code of every row; 0 without one.
    C : float
    """

    store: Store
    regions: HardRegions | SoftRegions
    global_weight: float
    C: float

    @property
    def n_nodes(self) -> int:
        """Regions, and the global node if there is one."""
        return self.regions.n_regions + int(self.global_weight > 0)

    def __call__(self, number: int) -> CodedRows:
        """Rows of a block."""
        stored = self.store.get(_key(number))
        codes = RegionCodes(stored["regions"], self.regions.weights(stored["scores"]))
        nodes, weights = with_global_node(
            codes, self.regions.n_regions, self.global_weight
        )
        bounds = self.C * stored["penalty_weight"]
        return CodedRows(stored["X"], stored["class_index"], bounds, nodes, weights)


def _key(number: int) -> str:
    return f"rows-{number}"
