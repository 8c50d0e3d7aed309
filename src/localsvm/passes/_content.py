"""Classes and columns of rows that were not checked before the fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm._checks import NO_WEIGHT, check_squares
from localsvm._ranges import column_range
from localsvm.engine import Block, Record
from localsvm.exceptions import DataError
from localsvm.kernels import entry_moments, gamma_of_moments


@dataclass(frozen=True)
class ClassTotals(Record):
    """Rows of some blocks, counted by class.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Sorted labels, with or without weight.
    mass, counts : ndarray of shape (n_classes,)
        Weight of each class, and its rows of positive weight.
    """

    classes: NDArray[Any]
    mass: NDArray[np.float64]
    counts: NDArray[np.float64]

    @classmethod
    def of(cls, y: NDArray[Any], weight: NDArray[np.float64]) -> ClassTotals:
        """Count labels with these weights."""
        classes, class_index = np.unique(y, return_inverse=True)
        mass, counts = (
            np.bincount(class_index, each, len(classes)).astype(np.float64)
            for each in (weight, weight > 0)
        )
        return ClassTotals(classes, mass, counts)

    def merge(self, other: ClassTotals) -> ClassTotals:
        """Add up by class."""
        classes = np.union1d(self.classes, other.classes)
        mass, counts = (
            self.among(classes, own) + other.among(classes, more)
            for own, more in ((self.mass, other.mass), (self.counts, other.counts))
        )
        return ClassTotals(classes, mass, counts)

    def among(self, classes: NDArray[Any], numbers: NDArray[Any]) -> NDArray[Any]:
        """Numbers of these classes, put among all classes."""
        whole = np.zeros(len(classes), dtype=numbers.dtype)
        whole[np.searchsorted(classes, self.classes)] = numbers
        return whole


@dataclass(frozen=True)
class Content(Record):
    """Classes and columns, which rows in memory are checked for before the fit.

    Attributes
    ----------
    totals : ClassTotals
    low, high : ndarray of shape (n_features,)
    is_sparse : bool
    moments : ndarray of shape (3,) or None
        Weight, mean and total of :func:`~localsvm.kernels.entry_moments`; None without
        weight, or where they are not wanted.
    """

    totals: ClassTotals
    low: NDArray[Any]
    high: NDArray[Any]
    is_sparse: bool
    moments: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        block: Block,
        weight: NDArray[np.float64] | None = None,
        *,
        moments: bool = True,
    ) -> Content:
        """Look at the labels and columns of a block.

        Parameters
        ----------
        block : Block
        weight : ndarray of shape (n_rows,) or None, default=None
            Weights to count the classes with; None takes the sample weights.
        moments : bool, default=True
        """
        check_squares(block.X)
        weight = block.sample_weight if weight is None else weight
        found = None
        if moments and weight.any():
            found = np.array([weight.sum(), *entry_moments(block.X, weight)])
        totals = ClassTotals.of(block.y, weight)
        low, high = column_range(block.X)
        return cls(totals, low, high, sparse.issparse(block.X), found)

    def merge(self, other: Content) -> Content:
        """Add up by class; widen the ranges."""
        return Content(
            self.totals.merge(other.totals),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.is_sparse or other.is_sparse,
            self._merged_moments(other),
        )

    def require_weight(self) -> None:
        """Raise if no row has a weight."""
        if not self.totals.counts.any():
            raise DataError(NO_WEIGHT)

    @property
    def ends(self) -> NDArray[Any]:
        """Smallest and largest value of each column, of shape (2, n_features)."""
        return np.stack([self.low, self.high])

    @property
    def scale_gamma(self) -> float:
        """``gamma="scale"`` of the rows."""
        assert self.moments is not None
        _, mean, total = self.moments.tolist()
        return gamma_of_moments(mean, total, len(self.low))

    def _merged_moments(self, other: Content) -> NDArray[np.float64] | None:
        if self.moments is None or other.moments is None:
            return self.moments if other.moments is None else other.moments
        return _merge_moments(self.moments, other.moments, len(self.low))


def _merge_moments(
    first: NDArray[np.float64], second: NDArray[np.float64], columns: int
) -> NDArray[np.float64]:
    """Weight, mean and total of ``entry_moments`` of two parts together."""
    weight = first[0] + second[0]
    share, step = second[0] / weight, second[1] - first[1]
    total = (1 - share) * first[2] + share * second[2]
    total += columns * share * (1 - share) * step**2
    return np.array([weight, first[1] + share * step, total])
