"""Rows with class and weight: the one record that all layers share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.rows._distinct import (
    distinct_rows,
    hash_labelled,
    merge_weights,
    stack,
    take_rows,
)

IDENTITY_SEED = 0


def identify_rows(X: Any, class_index: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Hash each row with its class; by that it is found again.

    Equal hashes are taken for equal rows: of a million rows, two that differ share one
    with a probability of 3e-8.
    """
    return hash_labelled(X, class_index, IDENTITY_SEED)


@dataclass(frozen=True)
class RowIdentity:
    """What rows were like when they were given.

    Attributes
    ----------
    hashes : ndarray of shape (n_rows,), uint64
        As :func:`identify_rows` gives them.
    dtype : dtype
        Of the rows; the hashes are those of their numbers in it.
    """

    hashes: NDArray[np.uint64]
    dtype: np.dtype[Any]

    def take(self, index: Any) -> RowIdentity:
        """Take some of the rows."""
        return RowIdentity(self.hashes[index], self.dtype)


@dataclass(frozen=True)
class Rows:
    """Validated rows of known classes.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_rows, n_features), float32 or float64
    class_index : ndarray of shape (n_rows,), int32
        Position of each row's label among the classes.
    sample_weight : ndarray of shape (n_rows,)
    penalty_weight : ndarray of shape (n_rows,)
        Sample weight times class weight. The penalty of a row is C times that; 0 leaves
        it out.
    n_classes : int
    prior : ndarray of shape (n_rows, n_outputs), float64, or None, default=None
        Decisions known beforehand, to which those of an SVM are added. Of several
        classes a pair gets half the difference of its two.
    identity : RowIdentity or None, default=None
        By which rows that are kept are found again.
    """

    X: Any
    class_index: NDArray[np.int32]
    sample_weight: NDArray[np.float64]
    penalty_weight: NDArray[np.float64]
    n_classes: int
    prior: NDArray[np.float64] | None = None
    identity: RowIdentity | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.class_index)

    @property
    def n_outputs(self) -> int:
        """Decision values per row: one for two classes, otherwise one per class."""
        return 1 if self.n_classes == 2 else self.n_classes

    @classmethod
    def weighted(
        cls,
        X: Any,
        class_index: NDArray[np.int32],
        weight: NDArray[np.float64],
        n_classes: int,
        prior: NDArray[np.float64] | None = None,
    ) -> Rows:
        """Rows whose penalty weight is their sample weight."""
        return cls(X, class_index, weight, weight, n_classes, prior)

    def class_counts(
        self, regions: NDArray[np.integer], n_regions: int
    ) -> NDArray[np.float64]:
        """Sample weights of each class in each region.

        Parameters
        ----------
        regions : ndarray of shape (n_rows,)
            Region of each row, -1 for none.
        n_regions : int

        Returns
        -------
        ndarray of shape (n_regions, n_classes)
        """
        placed = regions >= 0
        place = regions[placed].astype(np.intp) * self.n_classes
        place += self.class_index[placed]
        counts = np.bincount(
            place, self.sample_weight[placed], n_regions * self.n_classes
        )
        return counts.astype(np.float64).reshape(n_regions, self.n_classes)

    def identified(self, as_given: Rows) -> Rows:
        """Rows that are found again by what they were before they were mapped."""
        return replace(self, identity=as_given.identify())

    def identify(self) -> RowIdentity:
        """By what rows are found again: what is known, or their own content."""
        if self.identity is not None:
            return self.identity
        hashes = identify_rows(self.X, self.class_index)
        return RowIdentity(hashes, self.X.dtype)

    def class_weights(self) -> NDArray[np.float64]:
        """Weight of each class, which the penalties of the rows tell."""
        weight = np.ones(self.n_classes)
        counted = np.flatnonzero(self.sample_weight > 0)
        classes, first = np.unique(self.class_index[counted], return_index=True)
        row = counted[first]
        weight[classes] = self.penalty_weight[row] / self.sample_weight[row]
        return weight

    def take(self, index: Any) -> Rows:
        """Take some of the rows, by an index array, a mask or a slice."""
        return Rows(
            self.X[index],
            self.class_index[index],
            self.sample_weight[index],
            self.penalty_weight[index],
            self.n_classes,
            None if self.prior is None else self.prior[index],
            None if self.identity is None else self.identity.take(index),
        )

    @staticmethod
    def joined(rows: Sequence[Rows]) -> Rows:
        """Rows one after the other; without a prior."""
        if len(rows) == 1:
            return rows[0]
        return Rows(
            stack([each.X for each in rows]),
            np.concatenate([each.class_index for each in rows]),
            np.concatenate([each.sample_weight for each in rows]),
            np.concatenate([each.penalty_weight for each in rows]),
            rows[0].n_classes,
        )

    def merged(self, seed: int) -> MergedRows:
        """Merge equal rows of one class, so that weight two is the row twice.

        Rows of penalty weight zero are left out. The order of the others is random and
        depends on their content and on ``seed``, not on their order or copies.
        """
        first, kind = distinct_rows(self.X, self.penalty_weight, seed, self.class_index)
        merged = Rows(
            take_rows(self.X, first),
            self.class_index[first],
            merge_weights(self.sample_weight, kind),
            merge_weights(self.penalty_weight, kind),
            self.n_classes,
            identity=None if self.identity is None else self.identity.take(first),
        )
        return MergedRows(merged, first, kind)


@dataclass(frozen=True)
class MergedRows:
    """Distinct rows, and where they stand among all.

    Attributes
    ----------
    rows : Rows
        Weights of equal rows of one class are added up.
    first : ndarray of shape (n_distinct,)
        Where each stands among all rows, or the first of its copies.
    kind : ndarray of shape (n_rows,)
        Which of the distinct rows each row is; -1 for rows of weight zero.
    """

    rows: Rows
    first: NDArray[np.intp]
    kind: NDArray[np.intp]
