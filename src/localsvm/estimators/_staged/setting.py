"""What the search of the staged SVM decides, how a fit runs, which rows are hard."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from localsvm._clock import StageClock
from localsvm.estimators._staged.sum.weights import SumWeights

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
_SEARCH_TOL = 0.1
_PASSES = 100
_LEAST_TIME = 1e-3


@dataclass(frozen=True)
class StagedSetting:
    """What is fitted; the search decides what the user has left open.

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
    additive_C, laplace_C : float or None
        Penalties of the additive term and of the Laplace kernel; None where there is no
        such term.
    join : SumWeights or None
        Weights of the terms of a sum; None where the threshold switches between the two
        stages.
    """

    scaling: str
    n_components: int | None
    gradient_metric: str | None
    C: float
    cell_size: int | Literal["auto"] | None
    gamma_factor: float
    kernel_C: float
    threshold: float
    additive_C: float | None = None
    laplace_C: float | None = None
    join: SumWeights | None = None


@dataclass(frozen=True)
class KernelTerm:
    """Kernel SVMs of prepared rows.

    Attributes
    ----------
    kernel : {"rbf", "laplace"}
    gamma_factor : float
        Factor of the width that the rows suggest.
    C : float
    cell_size : int or None
        Rows of a cell; None is one model.
    """

    kernel: str
    gamma_factor: float
    C: float
    cell_size: int | None


@dataclass(frozen=True)
class SecondGrid:
    """Kernel SVMs that are tried on the same rows and cells."""

    cell_size: int | None
    gamma_factors: Sequence[float]
    penalties: Sequence[float]
    kernel: str = "rbf"


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


@dataclass(frozen=True)
class StageOptions:
    """How a fit runs, whatever its setting.

    Attributes
    ----------
    seed : int
    n_regions : int or "auto"
    tol : float
        As in :class:`~localsvm.StagedSVC`.
    max_iter : int or None
        Passes of the first stage's solver; None is 100.
    n_jobs : int or None
    categorical : ndarray of shape (n_features,), bool, or None
        Columns that hold categories.
    clock : StageClock
    sizes : StageSizes
    cancel : threading.Event or None
        Ends what runs on another thread when it is set; a fit that keeps what it has
        on Ctrl-C sets it then.
    """

    seed: int
    n_regions: int | str = "auto"
    tol: float = 0.05
    max_iter: int | None = None
    n_jobs: int | None = None
    categorical: NDArray[np.bool_] | None = None
    clock: StageClock = field(default_factory=StageClock)
    sizes: StageSizes = field(default_factory=StageSizes)
    cancel: threading.Event | None = None

    @property
    def n_passes(self) -> int:
        """Limit of the first stage's solver."""
        return _PASSES if self.max_iter is None else self.max_iter

    @property
    def max_time(self) -> float | None:
        """Time limit of the fit in seconds."""
        return self.clock.max_time

    @property
    def is_late(self) -> bool:
        """Whether the time is over, or nobody waits for the result."""
        cancelled = self.cancel is not None and self.cancel.is_set()
        return cancelled or self.clock.remaining() == 0

    @property
    def time_left(self) -> float | None:
        """Seconds left, and more than none, as a parameter has to be."""
        limit = self.clock.remaining()
        return None if limit is None else max(limit, _LEAST_TIME)

    def for_search(self) -> StageOptions:
        """Options of the search: half of the time, and a looser tolerance."""
        limit = None if self.max_time is None else 0.5 * self.max_time
        return replace(self, clock=StageClock(limit), tol=max(self.tol, _SEARCH_TOL))

    def for_share(self, share: float) -> StageOptions:
        """Options for a share of the rows."""
        return replace(self, sizes=self.sizes.shrunk(share))
