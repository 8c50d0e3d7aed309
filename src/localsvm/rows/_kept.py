"""Rows of a fit that are kept: found again by content and class, added and removed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.exceptions import DataError
from localsvm.rows._distinct import merge_weights, take_rows
from localsvm.rows._growing import GrowingRows
from localsvm.rows._records import RowIdentity, Rows

Hashes = NDArray[np.uint64]

# What is left of a weight by rounding is nothing.
_ROUNDING = 1e-9
_MOST_RECENT = 1024
_SHOWN = 5


@dataclass(frozen=True)
class RowIndex:
    """Where rows stand, by their hashes.

    Attributes
    ----------
    hashes : ndarray of shape (n_sorted,), uint64
        Ascending.
    places : ndarray of shape (n_sorted,)
    recent : mapping of int to int
        Places of the rows that came last.
    """

    hashes: Hashes
    places: NDArray[np.intp]
    recent: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, hashes: Hashes) -> RowIndex:
        """Index of rows in places 0, 1, ..."""
        places = np.argsort(hashes, kind="stable")
        return cls(hashes[places], places)

    def find(self, hashes: Hashes) -> NDArray[np.intp]:
        """Place of each row; -1 for a row that is not there."""
        if not len(hashes):
            return np.empty(0, dtype=np.intp)
        found = np.full(len(hashes), -1, dtype=np.intp)
        if len(self.hashes):
            at = np.searchsorted(self.hashes, hashes).clip(max=len(self.hashes) - 1)
            known = self.hashes[at] == hashes
            found[known] = self.places[at[known]]
        if self.recent:
            for i in np.flatnonzero(found < 0):
                found[i] = self.recent.get(int(hashes[i]), -1)
        return found

    def appended(self, hashes: Hashes, first_place: int) -> RowIndex:
        """Index of these and of new rows in the next places."""
        places = range(first_place, first_place + len(hashes))
        recent = {**self.recent, **dict(zip(hashes.tolist(), places, strict=True))}
        if len(recent) <= _MOST_RECENT:
            return replace(self, recent=recent)
        every = [self.hashes, np.fromiter(recent, np.uint64, len(recent))]
        place = [self.places, np.fromiter(recent.values(), np.intp, len(recent))]
        joined, at = np.concatenate(every), np.concatenate(place)
        order = np.argsort(joined, kind="stable")
        return RowIndex(joined[order], at[order])


@dataclass(frozen=True)
class DistinctRows:
    """Distinct rows of a fit, and which of them each row is.

    Attributes
    ----------
    rows : Rows
        With their identity; weights of equal rows of one class are added up.
    present : ndarray of shape (n_present,)
        Rows of positive weight.
    kind : ndarray of shape (n_present,)
        Which of the distinct rows each of these is.
    place : ndarray of shape (n_distinct,)
        Where each distinct row stands among all, or one of its copies.
    """

    rows: Rows
    present: NDArray[np.intp]
    kind: NDArray[np.intp]
    place: NDArray[np.intp]

    @classmethod
    def of(cls, rows: Rows) -> DistinctRows:
        """Merge equal rows; their order depends on their content alone."""
        identity = rows.identify()
        present = np.flatnonzero(rows.sample_weight > 0)
        _, first, kind = np.unique(
            identity.hashes[present], return_index=True, return_inverse=True
        )
        place = present[first]
        merged = Rows(
            take_rows(rows.X, place),
            rows.class_index[place],
            merge_weights(rows.sample_weight[present], kind),
            merge_weights(rows.penalty_weight[present], kind),
            rows.n_classes,
            identity=identity.take(place),
        )
        return cls(merged, present, kind, place)

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of a value of all rows over each distinct one."""
        return merge_weights(values[self.present], self.kind)

    def kept(self, X: Any = None) -> KeptRows:
        """Keep them; ``X`` is what stands for the rows, if not they themselves."""
        rows = self.rows
        assert rows.identity is not None
        return KeptRows.of(
            rows.X if X is None else X,
            rows.class_index,
            rows.identity,
            rows.sample_weight,
            rows.n_classes,
        )


@dataclass(frozen=True)
class GivenRows:
    """Rows that a user wants to add or remove.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_given, n_features)
        As the solver sees them.
    class_index : ndarray of shape (n_given,), int32
    weight : ndarray of shape (n_given,)
    hashes : ndarray of shape (n_given,), uint64
        As :func:`identify_rows` gave them, of the rows as the user has them.
    """

    X: Any
    class_index: NDArray[np.int32]
    weight: NDArray[np.float64]
    hashes: Hashes

    @classmethod
    def none(cls, X: Any) -> GivenRows:
        """No rows, of the kind of others."""
        empty = np.empty(0)
        classes, hashes = empty.astype(np.int32), empty.astype(np.uint64)
        return cls(X[:0], classes, empty, hashes)

    @property
    def n_rows(self) -> int:
        """Number of rows, equal ones counted."""
        return len(self.weight)

    def merged(self) -> GivenRows:
        """Merge equal rows; leave out those of weight zero."""
        present = np.flatnonzero(self.weight > 0)
        hashes, first, kind = np.unique(
            self.hashes[present], return_index=True, return_inverse=True
        )
        place = present[first]
        weight = merge_weights(self.weight[present], kind)
        return GivenRows(self.X[place], self.class_index[place], weight, hashes)


@dataclass(frozen=True)
class RowChange:
    """What a change does to rows that are kept.

    Attributes
    ----------
    places : ndarray of shape (n_changed,)
        Rows that were there and get another weight.
    weight : ndarray of shape (n_changed,)
        The weight they get; 0 removes them.
    new : GivenRows
        Rows that were not there.
    n_added, n_removed : int
        Rows that were given.
    """

    places: NDArray[np.intp]
    weight: NDArray[np.float64]
    new: GivenRows
    n_added: int
    n_removed: int


@dataclass(frozen=True)
class KeptRows:
    """Distinct rows in places that stay theirs, with their weights.

    Attributes
    ----------
    X : GrowingRows
        Rows of shape (n_places, n_columns), as the solver needs them.
    class_index : ndarray of shape (n_places,), int32
    identity : RowIdentity
    weight : ndarray of shape (n_places,)
        Sample weight; 0 where a row was removed.
    counts : ndarray of shape (n_classes,)
        Distinct rows of each class that are present.
    index : RowIndex
    """

    X: GrowingRows
    class_index: NDArray[np.int32]
    identity: RowIdentity
    weight: NDArray[np.float64]
    counts: NDArray[np.intp]
    index: RowIndex

    @classmethod
    def of(
        cls,
        X: Any,
        class_index: NDArray[np.int32],
        identity: RowIdentity,
        weight: NDArray[np.float64],
        n_classes: int,
    ) -> KeptRows:
        """Keep rows that are distinct."""
        counts = np.bincount(class_index[weight > 0], minlength=n_classes)
        index = RowIndex.of(identity.hashes)
        return cls(GrowingRows(X), class_index, identity, weight, counts, index)

    @property
    def n_places(self) -> int:
        """Places of rows, those of removed ones among them."""
        return len(self.weight)

    @property
    def n_rows(self) -> int:
        """Distinct rows that are present."""
        return int(self.counts.sum())

    def plan(self, add: GivenRows, remove: GivenRows) -> RowChange:
        """Work out a change; nothing is changed by it.

        Rows are removed first. Raises a :class:`DataError` if a row to remove is not
        there, or not with that weight.
        """
        leaving, coming = remove.merged(), add.merged()
        out = self.index.find(leaving.hashes)
        self._check_present(out, leaving, remove)
        into = self.index.find(coming.hashes)
        places = np.union1d(out, into[into >= 0]).astype(np.intp)
        weight = self.weight[places]
        at = np.searchsorted(places, out)
        rest = weight[at] - leaving.weight
        rest[rest <= _ROUNDING * weight[at]] = 0.0
        weight[at] = rest
        known = into >= 0
        weight[np.searchsorted(places, into[known])] += coming.weight[known]
        fresh = np.flatnonzero(~known)
        new = GivenRows(
            coming.X[fresh],
            coming.class_index[fresh],
            coming.weight[fresh],
            coming.hashes[fresh],
        )
        moved = weight != self.weight[places]
        return RowChange(places[moved], weight[moved], new, add.n_rows, remove.n_rows)

    def changed(self, change: RowChange) -> KeptRows:
        """Rows after a change that was planned for these."""
        weight, new = self.weight.copy(), change.new
        weight[change.places] = change.weight
        counts = self.counts + self._count_moves(change)
        if not new.n_rows:
            return replace(self, weight=weight, counts=counts)
        return KeptRows(
            self.X.appended(new.X),
            np.concatenate([self.class_index, new.class_index]),
            RowIdentity(
                np.concatenate([self.identity.hashes, new.hashes]), self.identity.dtype
            ),
            np.concatenate([weight, new.weight]),
            counts,
            self.index.appended(new.hashes, self.n_places),
        )

    def compacted(self) -> tuple[KeptRows, NDArray[np.intp]]:
        """Rows that are present, without trace of others, and where they stood."""
        place = np.flatnonzero(self.weight)
        kept = KeptRows.of(
            self.X.values[place],
            self.class_index[place],
            self.identity.take(place),
            self.weight[place],
            len(self.counts),
        )
        return kept, place

    def comings(self, change: RowChange) -> NDArray[np.intp]:
        """Distinct rows that a change brings to each of its places, or takes: 1, -1."""
        before = self.weight[change.places] > 0
        return (change.weight > 0).astype(np.intp) - before

    def _count_moves(self, change: RowChange) -> NDArray[np.intp]:
        moves = np.bincount(change.new.class_index, minlength=len(self.counts))
        np.add.at(moves, self.class_index[change.places], self.comings(change))
        return moves

    def _check_present(
        self, places: NDArray[np.intp], leaving: GivenRows, remove: GivenRows
    ) -> None:
        """Raise unless each row is there with the weight that is to be removed."""
        there = np.where(places >= 0, self.weight[places] if self.n_places else 0, 0.0)
        lacking = leaving.weight - there > _ROUNDING * leaving.weight
        if not lacking.any():
            return
        absent = np.isin(remove.hashes, leaving.hashes[lacking & (there == 0)])
        if absent.any():
            rows = np.flatnonzero(absent)
            shown = ", ".join(map(str, rows[:_SHOWN])) + (
                ", ..." if len(rows) > _SHOWN else ""
            )
            raise DataError(
                f"remove has {len(rows)} rows that are not in the model with that "
                f"label (rows {shown} of remove); expected rows of the fit or of a "
                "later add, value for value. Nothing was changed."
            )
        first = int(np.flatnonzero(lacking)[0])
        row = int(np.flatnonzero(remove.hashes == leaving.hashes[first])[0])
        raise DataError(
            f"remove takes the weight {leaving.weight[first]:g} of row {row} of "
            f"remove; the model has it with the weight {there[first]:g}. Nothing was "
            "changed."
        )
