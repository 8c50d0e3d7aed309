"""Rows with decisions of a model that has not seen them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localsvm.engine import Block, Blocks
from localsvm.rows import MergedRows, Rows

# Enough for a probability map of some twenty numbers and for groups of a hundred, few
# enough that they cost little beside a fit.
MOST_HELD_OUT = 2000
# Whatever the seed of a fit: the sample depends on the content of the rows alone.
_SEED = 0


@dataclass(frozen=True)
class HeldOut:
    """Rows, and what a model says of them that was fitted without them.

    Attributes
    ----------
    rows : Rows
        Distinct, in an order of their own, as the model sees them: after a metric.
    decisions : ndarray of shape (n_rows, n_outputs), float64
        One output for two classes.
    region : ndarray of shape (n_rows,) or None, default=None
        Of rows that are gone; None asks the model.
    """

    rows: Rows
    decisions: NDArray[np.float64]
    region: NDArray[np.int64] | None = None

    def followed_by(self, other: HeldOut) -> HeldOut:
        """Rows of both."""
        region = None
        if self.region is not None and other.region is not None:
            region = np.concatenate([self.region, other.region])
        return HeldOut(
            Rows.joined([self.rows, other.rows]),
            np.concatenate([self.decisions, other.decisions]),
            region,
        )

    def last(self, n_rows: int) -> HeldOut:
        """Keep the last rows."""
        kept = slice(-n_rows, None)
        region = None if self.region is None else self.region[kept]
        return HeldOut(self.rows.take(kept), self.decisions[kept], region)


def rows_in_memory(blocks: Blocks, stage: str) -> Rows:
    """Rows of blocks that are in memory.

    Parameters
    ----------
    blocks : Blocks
    stage : str
        What they are taken for.
    """
    rows: Rows
    (rows,) = blocks.map(_known, stage=stage)
    return rows


def _known(block: Block) -> Rows:
    assert block.known is not None
    return block.known


def sample_rows(rows: Rows, limit: int = MOST_HELD_OUT) -> tuple[MergedRows, Rows]:
    """Draw distinct rows, whatever the order and the number of copies.

    Parameters
    ----------
    rows : Rows
    limit : int, default=2000
        Most rows to draw.

    Returns
    -------
    merged : MergedRows
        All distinct rows; those that were drawn come first.
    drawn : Rows
    """
    merged = rows.merged(_SEED)
    return merged, merged.rows.take(slice(limit))
