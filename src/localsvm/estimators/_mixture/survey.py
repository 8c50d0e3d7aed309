"""First look at rows: which are set aside, their classes and scale, a sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._checks import check_squares
from localsvm._ranges import column_range
from localsvm.engine import Block, Record
from localsvm.estimators._mixture.settings import MixtureSettings
from localsvm.exceptions import DataError
from localsvm.passes import Sample
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
class Survey(Record):
    """Classes, weights and scale of rows; those set aside count for the classes only.

    Attributes
    ----------
    n_rows : int
    classes : ndarray of shape (n_classes,)
        Sorted labels.
    mass, aside_mass : ndarray of shape (n_classes,)
        Weights of the rows that EM sees, and of those set aside.
    counts, aside_counts : ndarray of shape (n_classes,)
        Such rows of positive weight.
    weight : float
        Of the rows that EM sees.
    squares : float
        Weighted sum of their squared norms.
    sums : ndarray of shape (n_features,)
        Their weighted sum.
    spread : float
        Weighted sum of their squared distances to their mean.
    low, high : ndarray of shape (n_features,)
    sample : Sample or None
        Distinct rows to cluster, if they were wanted.
    """

    n_rows: int
    classes: NDArray[Any]
    mass: Matrix
    counts: Matrix
    aside_mass: Matrix
    aside_counts: Matrix
    weight: float
    squares: float
    sums: Matrix
    spread: float
    low: NDArray[Any]
    high: NDArray[Any]
    sample: Sample | None = None

    def merge(self, other: Survey) -> Survey:
        """Survey of the rows of both."""
        classes = np.union1d(self.classes, other.classes)
        by_class = {
            name: _spread_over(classes, self, name) + _spread_over(classes, other, name)
            for name in ("mass", "counts", "aside_mass", "aside_counts")
        }
        sample = self.sample
        if sample is not None and other.sample is not None:
            sample = sample.merge(other.sample)
        return Survey(
            n_rows=self.n_rows + other.n_rows,
            classes=classes,
            weight=self.weight + other.weight,
            squares=self.squares + other.squares,
            sums=self.sums + other.sums,
            spread=self.spread + other.spread + self._spread_between(other),
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            sample=sample,
            **by_class,
        )

    @property
    def class_mass(self) -> Matrix:
        """Weights of all rows by class."""
        return self.mass + self.aside_mass

    @property
    def mean_squared_norm(self) -> float:
        """Of the rows that EM sees."""
        return self.squares / self.weight

    @property
    def origin(self) -> Matrix:
        """Mean of the rows that EM sees."""
        return np.asarray(self.sums / self.weight)

    @property
    def scale(self) -> float:
        """Root mean squared distance to that mean, 1 if all rows are equal."""
        return float(np.sqrt(self.spread / self.weight)) or 1.0

    def _spread_between(self, other: Survey) -> float:
        """Spread of two blocks whose rows stand at their means."""
        if not (self.weight and other.weight):
            return 0.0
        step = self.origin - other.origin
        share = self.weight * other.weight / (self.weight + other.weight)
        return float(share * (step @ step))


def _spread_over(classes: NDArray[Any], survey: Survey, name: str) -> Matrix:
    """Numbers of a survey's classes, among all classes."""
    whole = np.zeros(len(classes))
    whole[np.searchsorted(classes, survey.classes)] = getattr(survey, name)
    return whole


def survey_block(block: Block, hold_out: HoldOut, seed: int, limit: int) -> Survey:
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
    check_squares(block.X)
    classes, class_index = np.unique(block.y, return_inverse=True)
    aside, weight = hold_out.rows(block.X), block.sample_weight
    X, training = block.X, weight
    if hold_out.fraction:
        seen = np.flatnonzero(~aside & (weight > 0))
        X, training = X[seen], weight[seen]
    total = float(training.sum())
    sums = np.asarray(training @ X, dtype=np.float64).ravel()

    def by_class(values: NDArray[Any]) -> Matrix:
        return np.bincount(class_index, values, len(classes)).astype(np.float64)

    sample = None
    if limit:
        sample = Sample.of(RowSample.draw(X, training, seed, limit))
    low, high = column_range(block.X)
    return Survey(
        n_rows=block.n_rows,
        classes=classes,
        mass=by_class(np.where(aside, 0.0, weight)),
        counts=by_class(~aside & (weight > 0)),
        aside_mass=by_class(weight * aside),
        aside_counts=by_class(aside & (weight > 0)),
        weight=total,
        squares=float(np.multiply(squared_norms(X), training).sum()),
        sums=sums,
        spread=spread_around(X, training, sums / total) if total else 0.0,
        low=low,
        high=high,
        sample=sample,
    )


def training_weight(block: Block, hold_out: HoldOut) -> Matrix:
    """Weights of rows, zero for those set aside."""
    return np.where(hold_out.rows(block.X), 0.0, block.sample_weight)
