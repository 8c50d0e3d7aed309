"""First look at rows: which are set aside, their classes and scale, a sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.engine import Block, Record
from localsvm.estimators._mixture.settings import MixtureSettings
from localsvm.exceptions import DataError
from localsvm.passes import ClassTotals, Content, Survey
from localsvm.rows import (
    RowSample,
    held_out_by_content,
    spread_around,
    squared_norms,
)

Matrix = NDArray[np.float64]

# Rows above which early_stopping="auto" sets some aside.
_EARLY_STOPPING_ROWS = 10_000


@dataclass(frozen=True)
class HoldOut:
    """Which rows are set aside, by their content: copies stay together.

    Attributes
    ----------
    fraction : float
        0 sets no row aside.
    seed : int
    n_rows : int
        Rows that were given.
    is_asked : bool, default=True
        Whether the user wants rows to be set aside, whatever they are.
    """

    fraction: float
    seed: int
    n_rows: int
    is_asked: bool = True

    @classmethod
    def of(cls, settings: MixtureSettings, n_rows: int, seed: int) -> HoldOut:
        """Set aside what the settings ask for."""
        wanted, is_asked = settings.early_stopping, settings.early_stopping != "auto"
        if not is_asked:
            wanted = n_rows > _EARLY_STOPPING_ROWS
        fraction = settings.validation_fraction if wanted else 0.0
        return cls(fraction, seed, n_rows, is_asked)

    def rows(self, X: Any) -> NDArray[np.bool_]:
        """Whether each row is set aside."""
        return held_out_by_content(X, self.fraction, self.seed)

    def accepts(
        self, training_counts: NDArray[Any], validation_counts: NDArray[Any]
    ) -> bool:
        """Whether a split has rows to validate, and rows of each class to train on.

        Few different rows may leave none of either: copies stay together. Raises where
        the user has asked for the split.

        Parameters
        ----------
        training_counts, validation_counts : ndarray of shape (n_classes,)
            Rows with a weight.
        """
        lost = (training_counts == 0) & (validation_counts > 0)
        if self.fraction == 0 or (validation_counts.any() and not lost.any()):
            return True
        if self.is_asked:
            raise DataError(
                f"early_stopping with validation_fraction={self.fraction} leaves "
                f"{int(training_counts.sum())} of {self.n_rows} rows for training and "
                f"{int(validation_counts.sum())} for validation; expected rows of "
                "every class to train on and at least one to validate. Set "
                "early_stopping=False."
            )
        return False


@dataclass(frozen=True)
class MixtureSurvey(Record):
    """Classes, weights and scale of rows; those set aside count for the classes only.

    Attributes
    ----------
    seen : Survey
        Of the rows that EM sees. The classes and columns are those of all rows, and so
        is ``n_rows``.
    aside : ClassTotals
        Of the rows set aside.
    sums : ndarray of shape (n_features,)
        Weighted sum of the rows that EM sees.
    spread : float
        Weighted sum of their squared distances to their mean.
    """

    seen: Survey
    aside: ClassTotals
    sums: Matrix
    spread: float

    def merge(self, other: MixtureSurvey) -> MixtureSurvey:
        """Survey of the rows of both."""
        return MixtureSurvey(
            self.seen.merge(other.seen),
            self.aside.merge(other.aside),
            self.sums + other.sums,
            self.spread + other.spread + self._spread_between(other),
        )

    @property
    def training(self) -> ClassTotals:
        """Totals of the rows that EM sees."""
        assert self.seen.content is not None
        return self.seen.content.totals

    @property
    def all_rows(self) -> Content:
        """Classes and columns of all rows, with all weights."""
        assert self.seen.content is not None
        return replace(self.seen.content, totals=self.training.merge(self.aside))

    @property
    def origin(self) -> Matrix:
        """Mean of the rows that EM sees."""
        return np.asarray(self.sums / self.seen.weight)

    @property
    def scale(self) -> float:
        """Root mean squared distance to that mean, 1 if all rows are equal."""
        return float(np.sqrt(self.spread / self.seen.weight)) or 1.0

    def _spread_between(self, other: MixtureSurvey) -> float:
        """Spread of two blocks whose rows stand at their means."""
        weight, more = self.seen.weight, other.seen.weight
        if not (weight and more):
            return 0.0
        step = self.origin - other.origin
        return float(weight * more / (weight + more) * (step @ step))


def survey_mixture(
    block: Block, hold_out: HoldOut, seed: int, limit: int
) -> MixtureSurvey:
    """Survey a block.

    Parameters
    ----------
    block : Block
    hold_out : HoldOut
    seed : int
        Of the sample.
    limit : int
        Rows of the sample at most; 0 draws none.
    """
    aside, weight = hold_out.rows(block.X), block.sample_weight
    content = Content.of(block, np.where(aside, 0.0, weight), moments=False)
    X, training = block.X, weight
    if hold_out.fraction:
        kept = np.flatnonzero(~aside & (weight > 0))
        X, training = X[kept], weight[kept]
    total = float(training.sum())
    sums = np.asarray(training @ X, dtype=np.float64).ravel()
    squares = float(np.multiply(squared_norms(X), training).sum())
    sample = RowSample.draw(X, training, seed, limit) if limit else None
    return MixtureSurvey(
        Survey(block.n_rows, total, squares, content, sample),
        ClassTotals.of(block.y, weight * aside),
        sums,
        spread_around(X, training, sums / total) if total else 0.0,
    )


def training_weight(block: Block, hold_out: HoldOut) -> Matrix:
    """Weights of rows, zero for those set aside."""
    return np.where(hold_out.rows(block.X), 0.0, block.sample_weight)
