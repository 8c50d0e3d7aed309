"""First pass over the blocks: classes, scale of the rows, a sample of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm._checks import check_squares
from localsvm._ranges import column_range
from localsvm.engine import Block, Blocks, Record
from localsvm.kernels import (
    MEDIAN_ROWS,
    entry_moments,
    gamma_of_moments,
    gamma_of_sample,
)
from localsvm.rows import RowSample, squared_norms


@dataclass(frozen=True)
class Count(Record):
    """Number of rows."""

    n_rows: int

    def merge(self, other: Count) -> Count:
        """Rows of both."""
        return Count(self.n_rows + other.n_rows)


def count_block(block: Block) -> Count:
    """Rows of a block."""
    return Count(block.n_rows)


def count_rows(blocks: Blocks) -> int:
    """Count the rows, in a pass of its own if the source does not know it."""
    if blocks.n_rows is not None:
        return blocks.n_rows
    return blocks.reduce(count_block, stage="count").n_rows


@dataclass(frozen=True)
class Content(Record):
    """Classes and columns, which rows in memory are checked for before the fit.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Sorted.
    mass, counts : ndarray of shape (n_classes,)
        Weight of each class, and its rows of positive weight.
    low, high : ndarray of shape (n_features,)
    is_sparse : bool
    moments : ndarray of shape (3,) or None
        Weight, mean and total of :func:`~localsvm.kernels.entry_moments`; None without
        weight.
    """

    classes: NDArray[Any]
    mass: NDArray[np.float64]
    counts: NDArray[np.float64]
    low: NDArray[Any]
    high: NDArray[Any]
    is_sparse: bool
    moments: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, block: Block) -> Content:
        """Look at the labels and columns of a block."""
        check_squares(block.X)
        weight = block.sample_weight
        classes, class_index = np.unique(block.y, return_inverse=True)
        mass, counts = (
            np.bincount(class_index, each, len(classes)).astype(np.float64)
            for each in (weight, weight > 0)
        )
        moments = None
        if weight.any():
            moments = np.array([weight.sum(), *entry_moments(block.X, weight)])
        is_sparse = sparse.issparse(block.X)
        return cls(classes, mass, counts, *column_range(block.X), is_sparse, moments)

    def merge(self, other: Content) -> Content:
        """Add up by class; widen the ranges."""
        classes = np.union1d(self.classes, other.classes)
        return Content(
            classes,
            self._among(classes, self.mass) + other._among(classes, other.mass),
            self._among(classes, self.counts) + other._among(classes, other.counts),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.is_sparse or other.is_sparse,
            self._merged_moments(other),
        )

    @property
    def scale_gamma(self) -> float:
        """``gamma="scale"`` of the rows."""
        assert self.moments is not None
        _, mean, total = self.moments.tolist()
        return gamma_of_moments(mean, total, len(self.low))

    def _among(
        self, classes: NDArray[Any], numbers: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        whole = np.zeros(len(classes))
        whole[np.searchsorted(classes, self.classes)] = numbers
        return whole

    def _merged_moments(self, other: Content) -> NDArray[np.float64] | None:
        if self.moments is None or other.moments is None:
            return self.moments if other.moments is None else other.moments
        return merge_moments(self.moments, other.moments, len(self.low))


@dataclass(frozen=True)
class Sample(Record):
    """A :class:`~localsvm.rows.RowSample` that can be merged and saved.

    Attributes
    ----------
    rows : ndarray or CSR of shape (n_sampled, n_features)
    weight : ndarray of shape (n_sampled,)
    hashes : ndarray of shape (n_sampled,), uint64
    limit : int
    """

    rows: Any
    weight: NDArray[np.float64]
    hashes: NDArray[np.uint64]
    limit: int

    @classmethod
    def of(cls, drawn: RowSample) -> Sample:
        """Record of a sample."""
        return cls(drawn.rows, drawn.weight, drawn.hashes, drawn.limit)

    @property
    def drawn(self) -> RowSample:
        """The sample."""
        return RowSample(self.rows, self.weight, self.hashes, self.limit)

    def merge(self, other: Sample) -> Sample:
        """Sample of the rows of both."""
        return Sample.of(self.drawn.merged(other.drawn))


@dataclass(frozen=True)
class Survey(Record):
    """What the first pass finds.

    Attributes
    ----------
    n_rows : int
    weight : float
        Sum of the sample weights.
    squares : float
        Weighted sum of the squared norms.
    content : Content or None
        None for rows in memory, which are checked before the fit.
    sample : Sample or None
        Distinct rows, where a sample is wanted.
    """

    n_rows: int
    weight: float
    squares: float
    content: Content | None = None
    sample: Sample | None = None

    def merge(self, other: Survey) -> Survey:
        """Survey of the rows of both."""
        return Survey(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            self.squares + other.squares,
            _merge_options(self.content, other.content),
            _merge_options(self.sample, other.sample),
        )

    @property
    def mean_squared_norm(self) -> float:
        """Weighted mean of the squared norms; 1 if that is zero or overflows."""
        mean = self.squares / self.weight
        return mean if 0 < mean < np.inf else 1.0


def survey_block(block: Block, seed: int = 0, limit: int = 0) -> Survey:
    """Survey a block, and draw a sample of its rows.

    Parameters
    ----------
    block : Block
    seed : int, default=0
        Of the hashes that choose the sample.
    limit : int, default=0
        Rows of the sample, at most; 0 draws none.
    """
    weight = block.sample_weight
    content = Content.of(block) if block.known is None else None
    sample = None
    if limit:
        sample = sample_block(block, seed, limit)
    # Summed as np.average does it: one block has the mean of rows in memory.
    squares = np.multiply(squared_norms(block.X), weight).sum()
    return Survey(block.n_rows, float(weight.sum()), float(squares), content, sample)


def sample_block(block: Block, seed: int, limit: int) -> Sample:
    """Draw a sample of the rows of a block."""
    return Sample.of(RowSample.draw(block.X, block.sample_weight, seed, limit))


def find_median_gamma(blocks: Blocks) -> float:
    """``gamma="scale"`` of the Laplace kernel, in a pass that draws a sample."""
    return gamma_of_sample(
        blocks.reduce(sample_block, 0, MEDIAN_ROWS, stage="distances").rows
    )


def _merge_options(first: Any, second: Any) -> Any:
    if first is None or second is None:
        return second if first is None else first
    return first.merge(second)


def merge_moments(
    first: NDArray[np.float64], second: NDArray[np.float64], columns: int
) -> NDArray[np.float64]:
    """Weight, mean and total of ``entry_moments`` of two parts together."""
    weight = first[0] + second[0]
    share, step = second[0] / weight, second[1] - first[1]
    total = (1 - share) * first[2] + share * second[2]
    total += columns * share * (1 - share) * step**2
    return np.array([weight, first[1] + share * step, total])
