"""How rows lie to the training rows: p-values of the distance to the nearest one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin_min

from localsvm._threads import single_threaded_libraries
from localsvm.estimators._held_out.groups import Groups
from localsvm.rows import Rows, take_rows

Floats = NDArray[np.float64]

_MOST_REFERENCES = 512
# Of distances, whose unit is the spread of a column.
_DECIMALS = 5
# Weight that a region needs for p-values of its own: the smallest is one over it.
FEWEST_ROWS = 200.0


@dataclass(frozen=True)
class Familiarity:
    """Distances of training rows to the nearest others, and how new ones compare.

    Attributes
    ----------
    references : ndarray or CSR of shape (n_references, n_features)
        Training rows, with zeros for what is missing.
    missing : ndarray of shape (n_references, n_features), bool, or None
        What is missing of them; None if nothing is.
    scale : ndarray of shape (n_features,)
        Unit of each column.
    middle : ndarray of shape (n_features,)
        Mean of each column, which stands for missing values.
    distance : ndarray of shape (n_rows,)
        Of training rows to the nearest reference that is another row.
    region, weight : ndarray of shape (n_rows,)
        Region and weight of these rows; one region for all where there are none.
    """

    references: Any
    missing: NDArray[np.bool_] | None
    scale: Floats
    middle: Floats
    distance: Floats
    region: NDArray[np.int64]
    weight: Floats

    @classmethod
    def learn(cls, rows: Rows, region: NDArray[np.int64]) -> Self:
        """Measure rows against the first of them.

        Parameters
        ----------
        rows : Rows
            Distinct, in random order.
        region : ndarray of shape (n_rows,)
        """
        middle, scale = _columns(rows.X, rows.sample_weight)
        n_references = min(_MOST_REFERENCES, rows.n_rows)
        references = take_rows(rows.X, np.arange(n_references))
        empty = np.zeros(rows.n_rows)
        missing = None
        if not sparse.issparse(references) and np.isnan(references).any():
            missing = np.isnan(references)
            references = np.where(missing, 0, references)
        own = cls(references, missing, scale, middle, empty, region, rows.sample_weight)
        with single_threaded_libraries():
            return replace(own, distance=own._of_training_rows(rows))

    def p_values(self, X: Any, region: NDArray[np.int64]) -> Floats:
        """Share of the rows of a region that lie as far from the others, or farther.

        Parameters
        ----------
        X : ndarray or CSR of shape (n_samples, n_features)
        region : ndarray of shape (n_samples,)
        """
        with single_threaded_libraries():
            distance = self._nearest(X)
        found = np.empty(len(distance))
        for own, members in Groups.of(self.region, self.weight, FEWEST_ROWS).pairs(
            region
        ):
            order = np.argsort(self.distance[members], kind="stable")
            known, weight = self.distance[members][order], self.weight[members][order]
            below = np.concatenate([[0.0], np.cumsum(weight)])
            nearer = below[np.searchsorted(known, distance[own], side="left")]
            found[own] = (below[-1] - nearer + 1.0) / (below[-1] + 1.0)
        return found

    def _of_training_rows(self, rows: Rows) -> Floats:
        """Distances; a reference of weight two has another row where it lies."""
        n_own = self.references.shape[0]
        rest = self._nearest(rows.X[n_own:])
        among = self._nearest(rows.X[:n_own], itself=False)
        several = rows.sample_weight[:n_own] > 1
        return np.concatenate([np.where(several, 0.0, among), rest])

    def _nearest(self, X: Any, *, itself: bool = True) -> Floats:
        """Distance of each row to the nearest reference, itself or not."""
        if not X.shape[0] or not (itself or X.shape[0] > 1):
            return np.zeros(X.shape[0])
        references = self.references
        if self.missing is not None:
            references = np.where(self.missing, np.nan, references)
        rows, others = self._coordinates(X, references)
        if itself:
            _, distance = pairwise_distances_argmin_min(rows, others)
        else:
            apart = pairwise_distances(rows)
            np.fill_diagonal(apart, np.inf)
            distance = apart.min(axis=1)
        # Equal distances are to stay equal, however they were computed.
        return np.asarray(np.round(distance, _DECIMALS), dtype=np.float64)

    def _coordinates(self, *several: Any) -> list[Any]:
        """Columns in their units; a missing value is a unit away from any number."""
        if sparse.issparse(several[0]):
            return [_scaled(X, self.scale) for X in several]
        numbers = [np.asarray(X, dtype=np.float64) for X in several]
        absent = [np.isnan(X) for X in numbers]
        scaled = [
            np.where(lack, self.middle, X) / self.scale
            for X, lack in zip(numbers, absent, strict=True)
        ]
        if not any(lack.any() for lack in absent):
            return scaled
        return [
            np.concatenate(both, axis=1) for both in zip(scaled, absent, strict=True)
        ]


def _scaled(X: Any, scale: Floats) -> Any:
    return sparse.csr_array(sparse.csr_array(X).multiply(1.0 / scale))


def _columns(X: Any, weight: Floats) -> tuple[Floats, Floats]:
    """Mean and unit of each column.

    The unit is the standard deviation, or a tenth of the range if that is more, so
    that a rare level is no distance of its own. A column that never varies has that of
    the middle column.
    """
    share = weight / weight.sum()
    if sparse.issparse(X):
        X = sparse.csr_array(X, dtype=np.float64)
        mean = share @ X
        variance = share @ X.multiply(X) - mean**2
        span = (X.max(axis=0) - X.min(axis=0)).toarray().ravel()
    else:
        X = np.asarray(X, dtype=np.float64)
        known = ~np.isnan(X)
        total = share @ known
        some = np.where(total > 0, total, 1.0)
        filled = np.where(known, X, 0.0)
        mean = share @ filled / some
        variance = share @ np.where(known, (filled - mean) ** 2, 0.0) / some
        low = np.where(known, X, np.inf).min(axis=0)
        high = np.where(known, X, -np.inf).max(axis=0)
        span = np.where(total > 0, high - low, 0.0)
    # Rounding gives a column without a range a variance.
    deviation = np.sqrt(np.maximum(variance, 0.0)) * (span > 0)
    unit = np.maximum(deviation, span / 10)
    middle = np.median(unit[unit > 0]) if unit.any() else 1.0
    return np.asarray(mean), np.where(unit > 0, unit, middle)
