"""Functions of one block of rows: assign it to regions, and read it for the solver."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.cluster import LocalCoordinates, RegionCodes
from localsvm.engine import Block, Labels, Record, Store
from localsvm.estimators._regional.model import Regions, coded_squared_norms
from localsvm.rows import Rows, hash_labelled, stack, take_rows
from localsvm.solvers import CodedRows


@dataclass(frozen=True)
class Assignment(Record):
    """Where the rows of some blocks are, summed up.

    Attributes
    ----------
    number, n_rows : ndarray of shape (n_blocks,), int64
        Number of each block, and its rows in the store.
    weight : float
        Sum of the sample weights.
    distance : float
        Weighted sum of the squared distances to the nearest centre.
    squares : float
        Weighted sum of the squared norm of a row times that of its code; NaN for a
        code that is learned.
    sizes : ndarray of shape (n_found,), int64
        Rows of positive weight in each region, up to the last one found.
    counts : ndarray of shape (n_found, n_classes)
        Sample weights by region and class.
    """

    number: NDArray[np.int64]
    n_rows: NDArray[np.int64]
    weight: float
    distance: float
    squares: float
    sizes: NDArray[np.int64]
    counts: NDArray[np.float64]

    def merge(self, other: Assignment) -> Assignment:
        """Add up the sums; list the blocks of both."""
        n_found = max(len(self.sizes), len(other.sizes))
        sizes, counts = self.over(n_found)
        more_sizes, more_counts = other.over(n_found)
        return Assignment(
            np.concatenate([self.number, other.number]),
            np.concatenate([self.n_rows, other.n_rows]),
            self.weight + other.weight,
            self.distance + other.distance,
            self.squares + other.squares,
            sizes + more_sizes,
            counts + more_counts,
        )

    def over(self, n_regions: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Sizes and counts of this many regions; those not found are empty."""
        missing = n_regions - len(self.sizes)
        return (
            np.pad(self.sizes, (0, missing)),
            np.pad(self.counts, ((0, missing), (0, 0))),
        )

    def block_sizes(self, n_blocks: int) -> NDArray[np.int64]:
        """Rows in the store of every block; 0 for one that had none."""
        sizes = np.zeros(n_blocks, dtype=np.int64)
        sizes[self.number] = self.n_rows
        return sizes


def assign_block(
    block: Block, store: Store, regions: Regions, labels: Labels, n_jobs: int | None
) -> Assignment:
    """Find the regions of the rows, and put both into the store.

    A block that an earlier, interrupted fit stored is used as it is.
    """
    key = rows_key(block.number)
    if not store.has(key):
        store.put(key, _assigned(block, block.rows(labels), regions, n_jobs))
    stored = store.get(key)
    return Assignment.from_arrays(
        {field.name: stored[field.name] for field in fields(Assignment)}
    )


def _assigned(
    block: Block, rows: Rows, regions: Regions, n_jobs: int | None
) -> dict[str, Any]:
    """Make what the store keeps of a block: rows, codes and their assignment."""
    found, scores, distance = regions.search(rows.X, n_jobs)
    arrays = {
        "X": rows.X,
        "class_index": rows.class_index,
        "penalty_weight": rows.penalty_weight,
        "regions": found,
        "scores": scores,
    }
    kept = rows.penalty_weight > 0
    # Rows in memory stay where they are; of others those without weight are left out.
    if block.known is None and not kept.all():
        arrays = {name: array[kept] for name, array in arrays.items()}
    weight, nearest = rows.sample_weight, found[:, 0]
    n_found = int(nearest.max()) + 1
    sums = Assignment(
        np.array([block.number]),
        np.array([len(arrays["class_index"])]),
        float(weight.sum()),
        _weighted_sum(distance, weight),
        _coded_squares(rows, regions, RegionCodes(found, scores)),
        np.bincount(nearest[weight > 0], minlength=n_found),
        rows.class_counts(nearest, n_found),
    )
    return arrays | sums.as_arrays()


def _coded_squares(rows: Rows, regions: Regions, codes: RegionCodes) -> float:
    if not isinstance(regions, LocalCoordinates):
        return np.nan
    norms = coded_squared_norms(rows.X, codes, np.inf, 0.0)
    return _weighted_sum(norms, rows.sample_weight)


def _weighted_sum(values: NDArray[Any], weight: NDArray[np.float64]) -> float:
    """Sum as np.average does it, so that one block has the mean of rows in memory."""
    return float(np.multiply(values, weight).sum())


@dataclass(frozen=True)
class SampledRows(Record):
    """Distinct rows of some blocks: those with the smallest hashes, in their order.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_rows, n_features)
    class_index : ndarray of shape (n_rows,), int32
    sample_weight, penalty_weight : ndarray of shape (n_rows,)
        Added up over equal rows of one class.
    hashes : ndarray of shape (n_rows,), uint64
    limit : int
        Rows, at most.
    """

    X: Any
    class_index: NDArray[np.int32]
    sample_weight: NDArray[np.float64]
    penalty_weight: NDArray[np.float64]
    hashes: NDArray[np.uint64]
    limit: int

    def merge(self, other: SampledRows) -> SampledRows:
        """Sample of the rows of both."""
        hashes, first, kind = np.unique(
            np.concatenate([self.hashes, other.hashes]),
            return_index=True,
            return_inverse=True,
        )
        kept = slice(self.limit)
        sample_weight, penalty_weight = (
            np.bincount(kind, np.concatenate(both)).astype(np.float64)[kept]
            for both in (
                (self.sample_weight, other.sample_weight),
                (self.penalty_weight, other.penalty_weight),
            )
        )
        class_index = np.concatenate([self.class_index, other.class_index])
        return SampledRows(
            take_rows(stack([self.X, other.X]), first[kept]),
            class_index[first[kept]],
            sample_weight,
            penalty_weight,
            hashes[kept],
            self.limit,
        )

    def rows(self, n_classes: int) -> Rows:
        """Rows of this many classes."""
        return Rows(
            self.X, self.class_index, self.sample_weight, self.penalty_weight, n_classes
        )


def sample_block(block: Block, labels: Labels, seed: int, limit: int) -> SampledRows:
    """Sample the rows of positive weight by their content."""
    rows = block.rows(labels).merged(seed).rows.take(slice(limit))
    return SampledRows(
        rows.X,
        rows.class_index,
        rows.sample_weight,
        rows.penalty_weight,
        hash_labelled(rows.X, rows.class_index, seed),
        limit,
    )


@dataclass(frozen=True)
class StoredRows:
    """Reads the rows of a block as the solver takes them.

    Attributes
    ----------
    store : Store
    regions : HardRegions, SoftRegions or LocalCoordinates
    global_weight : float
        Of the global node in the code of every row; 0 without one.
    C : float
    """

    store: Store
    regions: Regions
    global_weight: float
    C: float

    def __call__(self, number: int) -> CodedRows:
        """Rows of a block."""
        stored = self.store.get(rows_key(number))
        codes = RegionCodes(stored["regions"], self.regions.weights(stored["scores"]))
        nodes, weights = with_global_node(
            codes, self.regions.n_regions, self.global_weight
        )
        bounds = self.C * stored["penalty_weight"]
        return CodedRows(stored["X"], stored["class_index"], bounds, nodes, weights)


def rows_key(number: int) -> str:
    """Key of the assigned rows of a block."""
    return f"rows-{number}"


def with_global_node(
    codes: RegionCodes, n_regions: int, global_weight: float
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Append the global node, if it has any weight."""
    if global_weight == 0:
        return codes.regions, codes.weights
    shape = (codes.regions.shape[0], 1)
    node = np.full(shape, n_regions, dtype=np.int32)
    weight = np.full(shape, global_weight, dtype=codes.weights.dtype)
    return (
        np.concatenate([codes.regions, node], axis=1),
        np.concatenate([codes.weights, weight], axis=1),
    )
