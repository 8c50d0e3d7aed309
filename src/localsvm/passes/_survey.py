"""First pass over the blocks: classes, scale of the rows, a sample of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from localsvm.engine import Block, Blocks, Record
from localsvm.kernels import MEDIAN_ROWS, gamma_of_sample
from localsvm.passes._content import Content
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
    sample : RowSample or None
        Distinct rows, where a sample is wanted.
    """

    n_rows: int
    weight: float
    squares: float
    content: Content | None = None
    sample: RowSample | None = None

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


def sample_block(block: Block, seed: int, limit: int) -> RowSample:
    """Draw a sample of the rows of a block."""
    return RowSample.draw(block.X, block.sample_weight, seed, limit)


def find_median_gamma(blocks: Blocks) -> float:
    """``gamma="scale"`` of the Laplace kernel, in a pass that draws a sample."""
    return gamma_of_sample(
        blocks.reduce(sample_block, 0, MEDIAN_ROWS, stage="distances").rows
    )


def _merge_options(first: Any, second: Any) -> Any:
    if first is None or second is None:
        return second if first is None else first
    return first.merge(second)
