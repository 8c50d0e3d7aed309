"""The table of a column in the user's terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._additive.model import AdditiveModel


@dataclass(frozen=True)
class ColumnEffect:
    """What a column adds to the decision, by the value in it.

    Attributes
    ----------
    name : str
        Name of the column; "x0", "x1" and so on if columns have no names.
    kind : {"number", "category"}
    edges : ndarray of shape (n_bins - 1,)
        Of a number: bin j holds the values above ``edges[j - 1]``, up to ``edges[j]``.
        Empty for a category.
    levels : ndarray of shape (n_bins,)
        Of a category: the level of each bin. Empty for a number.
    effect : ndarray of shape (n_bins,) or (n_bins, n_classes)
        Added to the decision; the mean over the training rows is zero.
    weight : ndarray of shape (n_bins,)
        Training rows in each bin, by sample weight.
    missing_effect : float or ndarray of shape (n_classes,)
        Effect of NaN; zero if there was none in the training rows.
    missing_weight : float
        Training rows with NaN.
    rare_effect : float or ndarray of shape (n_classes,)
        Effect of all levels that are not listed; zero if there were none.
    rare_weight : float
        Training rows with such a level.
    importance : float
        Mean size of the effect over the training rows.
    """

    name: str
    kind: str
    edges: NDArray[np.float64]
    levels: NDArray[np.float64]
    effect: NDArray[np.float64]
    weight: NDArray[np.float64]
    missing_effect: Any
    missing_weight: float
    rare_effect: Any
    rare_weight: float
    importance: float

    def at(self, value: float) -> Any:
        """Effect of one value.

        Parameters
        ----------
        value : float
            Of the column.

        Returns
        -------
        float or ndarray of shape (n_classes,)
        """
        if np.isnan(value):
            return self.missing_effect
        if self.kind == "number":
            return self.effect[np.searchsorted(self.edges, value)]
        known = np.flatnonzero(self.levels == value)
        return self.effect[known[0]] if len(known) else self.rare_effect


def column_effects(model: AdditiveModel, names: Any = None) -> list[ColumnEffect]:
    """Tables of a model by column.

    Parameters
    ----------
    model : AdditiveModel
    names : sequence of str or None, default=None
    """
    n_columns = model.bins.n_columns
    shown = [f"x{k}" for k in range(n_columns)] if names is None else names
    return [
        _effect_of(model, k, str(shown[k]), float(size))
        for k, size in enumerate(model.importances)
    ]


def _effect_of(
    model: AdditiveModel, k: int, name: str, importance: float
) -> ColumnEffect:
    bins = model.bins
    place = slice(bins.start[k], bins.start[k + 1])
    table = model.tables[:, place]
    effect, weight = (table[0] if len(table) == 1 else table.T), bins.weight[place]
    own = slice(bins.cut_start[k], bins.cut_start[k + 1])
    cuts, nothing = bins.cuts[own], np.empty(0)
    is_category = bool(bins.is_category[k])
    n_special = 2 if is_category else 1
    levels = cuts[np.argsort(bins.cut_bin[own])] if is_category else nothing
    return ColumnEffect(
        name,
        "category" if is_category else "number",
        nothing if is_category else cuts,
        levels,
        effect[:-n_special],
        weight[:-n_special],
        effect[-1],
        float(weight[-1]),
        effect[-2] if is_category else 0.0 * effect[-1],
        float(weight[-2]) if is_category else 0.0,
        importance,
    )
