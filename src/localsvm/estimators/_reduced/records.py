"""Records of a fit to blocks: what they report, and what they store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.engine import Record, Store
from localsvm.rows import distinct_rows, merge_weights, take_rows

Floats = NDArray[np.float64]
Stored = TypeVar("Stored")


@dataclass(frozen=True)
class BlockRows:
    """Distinct rows of a block that count.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_rows, n_features)
    class_index : ndarray of shape (n_rows,), int32
    weight : ndarray of shape (n_rows,)
        Sample weight times class weight.
    place : ndarray of shape (n_rows,)
        Which row of the block it is, or the first of its copies.
    """

    X: Any
    class_index: NDArray[np.int32]
    weight: Floats
    place: NDArray[np.intp]


@dataclass(frozen=True)
class BlockState:
    """Where the rows of a block are before a pass.

    Attributes
    ----------
    left : ndarray of shape (n_rows,), bool
        Rows that are not active.
    group : ndarray of shape (n_tasks, n_rows) or (1, n_rows), int32
        Which group of the block each of them is in, in the problem of each task or of
        all.
    """

    left: NDArray[np.bool_]
    group: NDArray[np.int32]


@dataclass(frozen=True)
class ActiveRows:
    """Rows that have entered the master problem.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_rows, n_features)
    class_index : ndarray of shape (n_rows,), int32
    weight : ndarray of shape (n_rows,)
    number : ndarray of shape (n_rows,), int64
        Which of the rows of all blocks it is; as a block gives them, which of its own.
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

    @classmethod
    def joined(cls, pieces: list[Self], seed: int) -> Self:
        """Put rows together; equal rows of a class become one.

        The number is that of the first of them, the dual the sum of theirs. The order
        depends only on content.
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

    @classmethod
    def joined(cls, pieces: list[Self]) -> Self:
        """Put groups of several blocks together."""
        return cls(
            stack([piece.X for piece in pieces]),
            np.concatenate([piece.sign for piece in pieces]),
            np.concatenate([piece.bounds for piece in pieces]),
            np.concatenate([piece.duals for piece in pieces]),
        )


@dataclass(frozen=True)
class Offer(Record):
    """What blocks give to the next master problem.

    Attributes
    ----------
    number : ndarray of shape (n_blocks,)
        Which blocks they are.
    n_new, n_left : ndarray of shape (n_blocks,)
        Rows that enter the problem, and those that stay in groups.
    n_groups : ndarray of shape (n_blocks, n_tasks)
    """

    number: NDArray[np.int64]
    n_new: NDArray[np.int64]
    n_left: NDArray[np.int64]
    n_groups: NDArray[np.int64]

    @classmethod
    def of(cls, number: int, n_new: int, n_left: int, n_groups: Sequence[int]) -> Offer:
        """Offer of one block."""
        counts = [np.array([value]) for value in (number, n_new, n_left)]
        return cls(counts[0], counts[1], counts[2], np.array([n_groups]))

    def merge(self, other: Offer) -> Offer:
        """Offers of the blocks of both."""
        return Offer(
            *(
                np.concatenate([getattr(self, each.name), getattr(other, each.name)])
                for each in fields(self)
            )
        )


@dataclass(frozen=True)
class Summary(Record):
    """Blocks whose rows have been merged, clustered and stored.

    Attributes
    ----------
    n_rows, n_kept : ndarray of shape (n_blocks,)
        All rows, and the distinct ones that count.
    offer : Offer
    """

    n_rows: NDArray[np.int64]
    n_kept: NDArray[np.int64]
    offer: Offer

    def merge(self, other: Summary) -> Summary:
        """Summary of the blocks of both."""
        return Summary(
            np.concatenate([self.n_rows, other.n_rows]),
            np.concatenate([self.n_kept, other.n_kept]),
            self.offer.merge(other.offer),
        )


@dataclass(frozen=True)
class Check(Record):
    """Optimality of the rows that are not active.

    Attributes
    ----------
    violation : ndarray of shape (n_tasks,)
        Largest violation of the optimality conditions.
    loss : ndarray of shape (n_tasks,)
        Sum of the margin errors, each times the bound of its row.
    offer : Offer
    """

    violation: Floats
    loss: Floats
    offer: Offer

    def merge(self, other: Check) -> Check:
        """Check of the blocks of both."""
        return Check(
            np.maximum(self.violation, other.violation),
            self.loss + other.loss,
            self.offer.merge(other.offer),
        )


@dataclass(frozen=True)
class PassState(Record):
    """What is known before a pass.

    Attributes
    ----------
    version : int
        Passes that were made.
    n_active, n_new : int
        Rows that entered before the last pass, and after it.
    n_left : int
        Rows that are in groups.
    n_groups : ndarray of shape (n_blocks, n_tasks)
    used : ndarray of shape (n_passes, n_tasks)
        Rows and groups in the problems so far.
    """

    version: int
    n_active: int
    n_new: int
    n_left: int
    n_groups: NDArray[np.int64]
    used: NDArray[np.int64]


@dataclass(frozen=True)
class ReducedStore:
    """What blocks keep from pass to pass. A pass reads its version, writes the next.

    Attributes
    ----------
    store : Store
        One that all workers see.
    """

    store: Store

    def read_rows(self, number: int) -> BlockRows:
        """Rows of a block."""
        return self._get(f"rows-{number}", BlockRows)

    def write_rows(self, number: int, rows: BlockRows) -> None:
        """Store the rows of a block."""
        self.store.put(f"rows-{number}", vars(rows))

    def read_state(self, number: int, version: int) -> BlockState:
        """Where the rows of a block are before a pass."""
        return self._get(f"state-{number}-{version}", BlockState)

    def write_state(
        self,
        number: int,
        version: int,
        state: BlockState,
        new: ActiveRows,
        groups: list[Groups],
    ) -> None:
        """Store what a block gives to a pass."""
        arrays = vars(state) | _units_as_arrays(new, groups)
        self.store.put(f"state-{number}-{version}", arrays)

    def read_given(
        self, number: int, version: int, n_tasks: int
    ) -> tuple[ActiveRows, list[Groups]]:
        """Read what a block gives to a pass: new rows, and groups of each task."""
        key = f"state-{number}-{version}"
        groups = [self._get(key, Groups, f"-{task}") for task in range(n_tasks)]
        return self._get(key, ActiveRows), groups

    def read_active(self, version: int) -> ActiveRows:
        """Rows that have entered before a pass."""
        return self._get(f"units-{version}", ActiveRows)

    def read_groups(self, version: int, task: int) -> Groups:
        """Read the groups of all blocks in the problem of a task."""
        return self._get(f"units-{version}", Groups, f"-{task}")

    def write_units(
        self, version: int, active: ActiveRows, groups: list[Groups]
    ) -> None:
        """Store the units of the problems of a pass."""
        self.store.put(f"units-{version}", _units_as_arrays(active, groups))

    def read_duals(self, n_tasks: int, version: int) -> list[Floats]:
        """Duals after a pass, of active rows and then of groups, by task."""
        keys = (f"duals-{task}-{version}" for task in range(n_tasks))
        return [self.store.get(key)["duals"] for key in keys]

    def write_duals(self, task: int, version: int, duals: Floats) -> None:
        """Store the duals of a task."""
        self.store.put(f"duals-{task}-{version}", {"duals": duals})

    def drop_before(self, version: int, numbers: list[int], n_tasks: int) -> None:
        """Remove what a pass and those after it do not read."""
        for number in numbers:
            self.store.drop(f"state-{number}-{version - 1}")
        self.store.drop(f"units-{version - 2}")
        for task in range(n_tasks):
            self.store.drop(f"duals-{task}-{version - 2}")

    def drop_results(self, version: int, numbers: list[int], n_tasks: int) -> None:
        """Remove what an interrupted pass has left: a time limit may have cut it."""
        self.store.drop(f"units-{version}")
        for task in range(n_tasks):
            self.store.drop(f"duals-{task}-{version}")
        for number in numbers:
            self.store.drop(f"state-{number}-{version + 1}")

    def _get(self, key: str, cls: type[Stored], suffix: str = "") -> Stored:
        arrays = self.store.get(key)
        names = (each.name for each in fields(cls))  # type: ignore[arg-type]
        return cls(*(arrays[name + suffix] for name in names))


def _units_as_arrays(rows: ActiveRows, groups: list[Groups]) -> dict[str, Any]:
    arrays = dict(vars(rows))
    for task, each in enumerate(groups):
        arrays |= {f"{name}-{task}": array for name, array in vars(each).items()}
    return arrays


def stack(pieces: list[Any]) -> Any:
    """Put rows below each other; CSR if any of them are."""
    if not any(sparse.issparse(piece) for piece in pieces):
        return np.concatenate(pieces)
    joined = sparse.csr_array(sparse.vstack([sparse.csr_array(p) for p in pieces]))
    return take_rows(joined, np.arange(joined.shape[0]))
