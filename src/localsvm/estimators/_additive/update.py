"""Rows in and out of an additive SVM whose bins stay as they are.

The duals that belong to any tables are feasible, so the certificate of the present
tables holds for other rows too, once sums over the rows are changed: the losses, and
the histogram of their slopes in each column. Only if the gap is then beyond ``tol``,
Newton's method goes on from the present point.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._additive.bins import ColumnBins
from localsvm.estimators._additive.fit import (
    AdditiveFit,
    AdditiveSettings,
    fit_additive,
)
from localsvm.estimators._additive.model import AdditiveModel
from localsvm.rows import DistinctRows, KeptRows, RowChange, Rows
from localsvm.solvers import RunLimits

Floats = NDArray[np.float64]

# Their bins are summed up in one go.
_FEW_ROWS = 256
# Penalty of the bias, as in the core.
_BIAS_PENALTY = 1e-3


@dataclass(frozen=True)
class RowSums:
    """Sums over the rows that the certificates are made of.

    Attributes
    ----------
    loss : ndarray of shape (n_tasks,)
        Losses times penalties.
    linear : ndarray of shape (n_tasks,)
        What the duals add to the dual objective.
    slopes : ndarray of shape (n_tasks, sum of n_bins)
        Slopes of the losses in each bin, column after column.
    mass : ndarray of shape (sum of n_bins,)
        Penalties in each bin.
    support : ndarray of shape (n_classes,)
        Distinct rows with a dual in any task.
    """

    loss: Floats
    linear: Floats
    slopes: Floats
    mass: Floats
    support: NDArray[np.intp]

    def plus(self, other: RowSums, sign: int = 1) -> RowSums:
        """Add the sums of other rows, or take them away."""
        return RowSums(
            *(
                getattr(self, name) + sign * getattr(other, name)
                for name in self.__dataclass_fields__
            )
        )


@dataclass(frozen=True)
class KeptAdditive:
    """Rows by their bins, and the solution for them.

    Attributes
    ----------
    settings : AdditiveSettings
    bins : ColumnBins
    class_weight : ndarray of shape (n_classes,)
    rows : KeptRows
        In place of each row its bins, of shape (n_places, n_columns).
    coef : ndarray of shape (n_tasks, n_weights + 1)
        Weights of the code, and the bias.
    model : AdditiveModel
    sums : RowSums
    """

    settings: AdditiveSettings
    bins: ColumnBins
    class_weight: Floats
    rows: KeptRows
    coef: Floats
    model: AdditiveModel
    sums: RowSums

    @property
    def primal(self) -> Floats:
        """Primal objective of each task."""
        w, b = self.coef[:, :-1], self.coef[:, -1]
        penalty = np.square(w).sum(axis=1) + _BIAS_PENALTY * b**2
        return np.asarray(0.5 * penalty + self.sums.loss)

    @property
    def dual(self) -> Floats:
        """Dual objective of each task."""
        slopes, bins = self.sums.slopes, self.bins
        gathered = gather_code(slopes, bins, count_varying(self.sums.mass, bins))
        total = slopes[:, : bins.n_bins[0]].sum(axis=1)
        squares = np.square(gathered).sum(axis=1) + total**2 / _BIAS_PENALTY
        return np.asarray(self.sums.linear - 0.5 * squares)

    @property
    def gaps(self) -> Floats:
        """Relative duality gap of each task."""
        primal = self.primal
        return np.asarray(np.maximum(primal - self.dual, 0.0) / primal)

    def penalties(self, places: NDArray[np.intp]) -> Floats:
        """Penalty of the rows in some places."""
        own = self.class_weight[self.rows.class_index[places]]
        return np.asarray(self.settings.C * own * self.rows.weight[places])

    def sum_rows(self, places: NDArray[np.intp]) -> RowSums:
        """Sum up the rows in some places, at the present tables."""
        codes = self.rows.X.values[places]
        classes, penalty = self.rows.class_index[places], self.penalties(places)
        decisions = self.model.decide_codes(np.ascontiguousarray(codes.T))
        n_tasks = decisions.shape[1]
        positive = np.ones(1) if n_tasks == 1 else np.arange(n_tasks)
        sign = np.where(classes[:, np.newaxis] == positive, 1.0, -1.0)
        margin = sign * decisions
        value, slope = loss_terms(margin, self.settings.loss)
        pull = (sign * slope * penalty[:, np.newaxis]).T
        # As is the fit's, with the logistic loss each row has a dual.
        has_dual = (slope != 0).any(axis=1) & (penalty > 0)
        return RowSums(
            penalty @ value,
            penalty @ (value - slope * margin),
            np.array([sum_by_bin(own, codes, self.bins) for own in pull]),
            sum_by_bin(penalty, codes, self.bins),
            np.bincount(classes[has_dual], minlength=len(self.class_weight)),
        )

    def measured(self) -> KeptAdditive:
        """Compute all sums anew."""
        return replace(self, sums=self.sum_rows(np.arange(self.rows.n_places)))

    def compacted(self) -> KeptAdditive:
        """Leave nothing of removed rows behind."""
        return replace(self, rows=self.rows.compacted()[0])


@dataclass(frozen=True)
class AdditiveUpdate:
    """Result of an update.

    Attributes
    ----------
    kept : KeptAdditive
    fit : AdditiveFit or None
        What Newton's method found; None if the tables stayed as they were.
    """

    kept: KeptAdditive
    fit: AdditiveFit | None


def keep_additive(
    rows: Rows, fit: AdditiveFit, n_jobs: int | None = None
) -> KeptAdditive:
    """Keep what an update of a fit needs.

    Parameters
    ----------
    rows : Rows
        Those of the fit, with their values.
    fit : AdditiveFit
    n_jobs : int or None, default=None
    """
    distinct, bins = DistinctRows.of(rows), fit.model.bins
    codes = np.ascontiguousarray(bins.encode(distinct.rows.X, n_jobs).T)
    return restore_additive(
        fit.settings, rows.class_weights(), distinct.kept(codes), fit.coef, fit.model
    )


def restore_additive(
    settings: AdditiveSettings,
    class_weight: Floats,
    rows: KeptRows,
    coef: Floats,
    model: AdditiveModel,
) -> KeptAdditive:
    """Build what is kept from its parts, with certificates of its own."""
    nothing = np.empty(0)
    none = RowSums(nothing, nothing, nothing, nothing, np.empty(0, dtype=np.intp))
    kept = KeptAdditive(settings, model.bins, class_weight, rows, coef, model, none)
    return kept.measured()


def update_additive(
    kept: KeptAdditive, change: RowChange, limits: RunLimits, tol: float
) -> AdditiveUpdate:
    """Change the rows, and solve again if the gap asks for it.

    Parameters
    ----------
    kept : KeptAdditive
    change : RowChange
        Planned for its rows.
    limits : RunLimits
        Of Newton's method, if there is need of it.
    tol : float
        Relative gap that is enough.
    """
    before = kept.sum_rows(change.places)
    moved = replace(kept, rows=kept.rows.changed(change))
    new = np.arange(kept.rows.n_places, moved.rows.n_places)
    after = moved.sum_rows(np.concatenate([change.places, new]))
    moved = replace(moved, sums=kept.sums.plus(before, -1).plus(after))
    # Another number of varying columns scales the code in another way.
    as_scaled = count_varying(kept.sums.mass, kept.bins) == count_varying(
        moved.sums.mass, kept.bins
    )
    if as_scaled and (moved.gaps <= tol).all():
        return AdditiveUpdate(moved, None)
    return _solve(moved, limits)


def _solve(kept: KeptAdditive, limits: RunLimits) -> AdditiveUpdate:
    rows = kept.rows
    weight = kept.class_weight[rows.class_index] * rows.weight
    fit = fit_additive(
        np.ascontiguousarray(rows.X.values.T),
        kept.bins,
        rows.class_index,
        weight,
        len(kept.class_weight),
        kept.settings,
        limits,
        AdditiveFit(kept.settings, kept.model, kept.coef, []),
    )
    found = replace(kept, coef=fit.coef, model=fit.model)
    return AdditiveUpdate(found.measured(), fit)


def sum_by_bin(values: Floats, codes: NDArray[Any], bins: ColumnBins) -> Floats:
    """Sum of a value of rows in each bin of each column."""
    if len(codes) <= _FEW_ROWS:
        place = (codes + bins.start[:-1]).ravel()
        spread = np.repeat(values, bins.n_columns)
        return np.bincount(place, spread, bins.start[-1]).astype(np.float64)
    return np.concatenate(
        [
            np.bincount(own, values, size)
            for own, size in zip(codes.T, bins.n_bins, strict=True)
        ]
    )


def loss_terms(margin: Floats, loss: str) -> tuple[Floats, Floats]:
    """Loss at margins, and its slope."""
    if loss == "squared_hinge":
        lack = np.maximum(0.0, 1.0 - margin)
        return lack**2, -2.0 * lack
    small = np.exp(-np.abs(margin))
    other = np.where(margin > 0, small, 1.0) / (1.0 + small)
    return np.log1p(small) + np.maximum(0.0, -margin), -other


def count_varying(mass: Floats, bins: ColumnBins) -> int:
    """Columns that have more than one bin of positive weight."""
    # What is left of sums of weights by rounding is nothing.
    enough = mass > 1e-9 * mass[: bins.n_bins[0]].sum()
    return int((np.add.reduceat(enough.astype(np.intp), bins.start[:-1]) > 1).sum())


def gather_code(histograms: Floats, bins: ColumnBins, n_varying: int) -> Floats:
    """Turn sums by bin into sums of the code of the rows (``step_code.hpp``).

    Parameters
    ----------
    histograms : ndarray of shape (n_tasks, sum of n_bins)
    bins : ColumnBins
    n_varying : int

    Returns
    -------
    ndarray of shape (n_tasks, sum of n_bins)
        An entry is a step after a bin, or an indicator; after the last of the ordered
        bins of a column there is no step, and zero.
    """
    starts, ordered = bins.start[:-1], bins.is_ordered
    of_ordered = np.where(ordered, histograms, 0.0)
    below = np.cumsum(of_ordered, axis=1)
    base = below[:, starts] - of_ordered[:, starts]
    total = np.add.reduceat(of_ordered, starts, axis=1)
    steps = np.repeat(total + 2 * base, bins.n_bins, axis=1) - 2 * below
    n_steps = np.maximum(bins.n_ordered - 1, 0)
    indicator = 1.0 / np.sqrt(max(1, n_varying))
    size = np.repeat(indicator / np.sqrt(np.maximum(n_steps, 1)), bins.n_bins)
    place = np.arange(bins.start[-1]) - np.repeat(starts, bins.n_bins)
    is_step = ordered & (place < np.repeat(n_steps, bins.n_bins))
    return np.asarray(
        np.where(is_step, size * steps, np.where(ordered, 0.0, indicator * histograms))
    )
