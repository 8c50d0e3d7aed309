"""What the choice phase of the staged SVM decides, and which rows are hard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

# A margin of one is what the hinge asks of a row.
HARD_MARGIN = 1.0
# Above this share of hard rows, all rows are.
LARGEST_HARD_SHARE = 0.4
# Rows of a cell, the cheapest first.
CELL_SIZES = (200, 1000)
# Above this there is no second stage: kernel SVMs of the pairs of classes would take
# memory and time by the square of their number.
MOST_PAIRED_CLASSES = 50

_FEWEST_TRIAL_ROWS = 2000


@dataclass(frozen=True)
class StagedSetting:
    """What the choice phase decides.

    Attributes
    ----------
    scaling, n_components, gradient_metric
        How rows are prepared.
    C : float
        Penalty of the first stage.
    cell_size : int, None or "auto"
        Rows of a cell of the second stage; None is one model. "auto", until it is
        decided, is one model of up to ``StageSizes.largest_model`` rows, else cells of
        the smallest size.
    gamma_factor, kernel_C : float
        Width and penalty of the second stage.
    threshold : float
        Confidence up to which the second stage answers; 0 is never, inf always.
    """

    scaling: str
    n_components: int | None
    gradient_metric: str | None
    C: float
    cell_size: int | Literal["auto"] | None
    gamma_factor: float
    kernel_C: float
    threshold: float


@dataclass(frozen=True)
class SecondGrid:
    """Settings of the second stage that are tried on the same rows and cells."""

    cell_size: int | None
    gamma_factors: Sequence[float]
    penalties: Sequence[float]


@dataclass(frozen=True)
class HardRows:
    """Rows of the second stage, and how they are cut.

    Attributes
    ----------
    index : ndarray of shape (n_hard,)
        Ascending.
    cell_size : int or None
        Rows of a cell; None is one model.
    """

    index: NDArray[np.intp]
    cell_size: int | None


@dataclass(frozen=True)
class StageSizes:
    """How many rows the second stage takes.

    Attributes
    ----------
    fewest_hard : int
        Fewer hard rows are topped up with the next smallest margins: extra rows never
        hurt, missing ones do.
    largest_model : int
        More rows than this are cut into cells, unless the user decides.
    """

    fewest_hard: int = 8000
    largest_model: int = 20_000

    def shrunk(self, share: float) -> StageSizes:
        """Sizes that treat a share of the rows as these treat all of them."""
        return StageSizes(
            max(_FEWEST_TRIAL_ROWS, int(share * self.fewest_hard)),
            max(_FEWEST_TRIAL_ROWS, int(share * self.largest_model)),
        )

    def hard_rows(
        self, margin: NDArray[np.float64], cell_size: int | Literal["auto"] | None
    ) -> HardRows:
        """Rows that a kernel SVM may need: those inside the margin when left out.

        If they are few, those of the smallest margins; if they are many, all rows,
        unless one model was chosen and all rows would be too many for it. The set is
        never cut from above: the rows of the very smallest margins are the mislabelled
        ones, and a model of only those is worse than none.
        """
        n_rows = len(margin)
        n_hard = int(np.count_nonzero(margin < HARD_MARGIN))
        too_large = cell_size is None and n_rows > self.largest_model
        if n_hard > LARGEST_HARD_SHARE * n_rows and not too_large:
            index = np.arange(n_rows)
        else:
            n_kept = min(n_rows, max(n_hard, self.fewest_hard))
            index = np.sort(np.argsort(margin, kind="stable")[:n_kept])
        return HardRows(index, self._cut(len(index), cell_size))

    def _cut(self, n_hard: int, cell_size: int | Literal["auto"] | None) -> int | None:
        """Rows of a cell, or None where one model takes all hard rows."""
        if cell_size == "auto":
            cell_size = CELL_SIZES[0] if n_hard > self.largest_model else None
        return None if cell_size is None or n_hard <= cell_size else cell_size
