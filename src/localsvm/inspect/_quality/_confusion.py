"""Confusion of classes, and the scores that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.inspect._labels import LabelCoding
from localsvm.inspect._quality._intervals import (
    Estimate,
    effective_size,
    mean_of_shares,
    share_estimate,
)

_N_DRAWS = 1000


@dataclass(frozen=True)
class ClassScore:
    """How well one class is found.

    Parameters
    ----------
    label : label
    n_rows : float
        Rows of the class, by their weight.
    precision : Estimate or None
        Share of the rows predicted to be of the class that are; None if none is.
    recall : Estimate or None
        Share of the rows of the class that are found; None if there is none.
    f1 : float
    """

    label: Any
    n_rows: float
    precision: Estimate | None
    recall: Estimate | None
    f1: float


@dataclass(frozen=True, eq=False)
class Confusion:
    """Sums of weights, and of squared weights, by true and predicted label."""

    labels: list[Any]
    weight: NDArray[np.float64]
    squares: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        coding: LabelCoding,
        predicted: NDArray[np.intp],
        weight: NDArray[np.float64],
    ) -> Confusion:
        use = weight > 0
        true, predicted, weight = coding.true[use], predicted[use], weight[use]
        places = np.union1d(true, predicted)
        n_classes = len(places)
        cell = np.searchsorted(places, true) * n_classes
        cell += np.searchsorted(places, predicted)
        sums, squares = (
            np.bincount(cell, w, n_classes**2).reshape(n_classes, -1).astype(np.float64)
            for w in (weight, weight**2)
        )
        return cls([coding.labels[place] for place in places], sums, squares)

    def accuracy(self, z: float) -> Estimate:
        share = np.trace(self.weight) / self.weight.sum()
        size = effective_size(self.weight.sum(), self.squares.sum())
        return share_estimate(float(share), float(size), z)

    def balanced_accuracy(self, z: float) -> Estimate:
        shares, sizes = self._recalls()
        there = sizes > 0
        return mean_of_shares(shares[there], sizes[there], z)

    def macro_f1(
        self, balanced_accuracy: Estimate, confidence_level: float, seed: int
    ) -> Estimate:
        value = float(_f1(self.weight).mean())
        if np.trace(self.weight) == self.weight.sum():
            # No draw of faultless counts has a fault.
            return Estimate(value, balanced_accuracy.low, balanced_accuracy.high)
        tail = (1 - confidence_level) / 2
        low, high = np.quantile(self._draw_macro_f1(seed), [tail, 1 - tail])
        return Estimate(value, min(value, float(low)), max(value, float(high)))

    def class_scores(self, z: float) -> list[ClassScore]:
        recalls = zip(*self._recalls(), strict=True)
        precisions = zip(*self._precisions(), strict=True)
        return [
            ClassScore(label, float(n_rows), precision, recall, float(f1))
            for label, n_rows, precision, recall, f1 in zip(
                self.labels,
                self.weight.sum(axis=1),
                (share_estimate(*each, z) if each[1] else None for each in precisions),
                (share_estimate(*each, z) if each[1] else None for each in recalls),
                _f1(self.weight),
                strict=True,
            )
        ]

    def _recalls(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self._shares_of_diagonal(axis=1)

    def _precisions(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self._shares_of_diagonal(axis=0)

    def _shares_of_diagonal(
        self, axis: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        total = self.weight.sum(axis=axis)
        right = np.diagonal(self.weight)
        shares = np.divide(right, total, out=np.zeros_like(total), where=total > 0)
        return shares, effective_size(total, self.squares.sum(axis=axis))

    def _draw_macro_f1(self, seed: int) -> NDArray[np.float64]:
        """Macro F1 of confusion counts that are drawn again, class by class."""
        rng = np.random.default_rng(seed)
        n_classes = len(self.labels)
        total = self.weight.sum(axis=1)
        sizes = effective_size(total, self.squares.sum(axis=1))
        right = np.zeros((_N_DRAWS, n_classes))
        predicted = np.zeros((_N_DRAWS, n_classes))
        for place in np.flatnonzero(total):
            n_rows = max(1, round(sizes[place]))
            cells = np.flatnonzero(self.weight[place])
            shares = self.weight[place, cells] / total[place]
            drawn = rng.multinomial(n_rows, shares, _N_DRAWS) * total[place] / n_rows
            right[:, place] = drawn[:, cells == place].sum(axis=1)
            predicted[:, cells] += drawn
        scores = 2 * right / np.where(total + predicted > 0, total + predicted, 1.0)
        return np.asarray(scores.mean(axis=1))


def _f1(confusion: NDArray[np.float64]) -> NDArray[np.float64]:
    both = confusion.sum(axis=0) + confusion.sum(axis=1)
    return np.asarray(2 * np.diagonal(confusion) / both)
