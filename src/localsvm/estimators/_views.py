"""How a classifier describes itself to explanations and tables of regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


@dataclass(frozen=True)
class ColumnParts:
    """Decisions split by column: parts, base and what columns add only together.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_features, n_outputs)
    base : ndarray of shape (n_samples, n_outputs)
        Decision without any column.
    together : ndarray of shape (n_samples, n_outputs) or None
        Rest of the decision, which belongs to no single column; None where there can
        be none.
    is_exact : ndarray of shape (n_samples,)
        Whether the values are the terms of a sum that decides the row.
    """

    values: NDArray[np.float64]
    base: NDArray[np.float64]
    together: NDArray[np.float64] | None
    is_exact: NDArray[np.bool_]

    @classmethod
    def stacked(cls, blocks: list[ColumnParts]) -> ColumnParts:
        """Join blocks of rows of one model."""
        if len(blocks) == 1:
            return blocks[0]
        together = [each.together for each in blocks if each.together is not None]
        return cls(
            np.concatenate([each.values for each in blocks]),
            np.concatenate([each.base for each in blocks]),
            np.concatenate(together) if together else None,
            np.concatenate([each.is_exact for each in blocks]),
        )


class ViewMixin:
    """Answers for a classifier of linear SVMs; a method overrides what differs."""

    def _column_parts(self, X: Any) -> ColumnParts:
        """Split decisions by column: weights times values, and the intercept."""
        coef, intercept = self.local_coef(X)  # type: ignore[attr-defined]
        dense = X.toarray() if sparse.issparse(X) else X
        values = np.empty((X.shape[0], coef.shape[2], coef.shape[1]))
        # A missing value has no slope, and adds nothing.
        rows = np.nan_to_num(dense)[:, :, np.newaxis]
        np.multiply(np.moveaxis(coef, 1, 2), rows, out=values)
        return ColumnParts(
            values,
            np.asarray(intercept, dtype=np.float64),
            None,
            self._is_linear_at(X),
        )

    def _is_linear_at(self, X: Any) -> NDArray[np.bool_]:
        """Whether each row is decided by a linear function, not by its tangent."""
        return np.full(X.shape[0], not self._is_curved(None))

    def _splits_by(self) -> str:
        """How decisions that are no sums over columns are split by column."""
        return "gradient"

    def _is_curved(self, region: int | None) -> bool:
        """Whether decisions in a region are not linear."""
        return not hasattr(self, "coef_")

    def _has_votes(self, region: int | None) -> bool:
        """Whether scores of several classes are votes, not distances."""
        return False

    def _region_stages(self) -> NDArray[Any] | None:
        """Stage of each region; None where there is but one."""
        return None

    def _region_coef(self) -> NDArray[Any] | None:
        """Weights of the columns in the first regions, by task; None if unknown."""
        return getattr(self, "coef_", None)

    def _has_weights_of_columns(self) -> bool:
        """Whether these weights belong to the columns as the user gives them."""
        return True

    def _region_points(self) -> NDArray[Any] | None:
        """One point per region whose gradients stand for it; None if there is none."""
        return None

    def _region_centers(self) -> NDArray[Any] | None:
        """Centres of the regions in the user's columns; None if they have none."""
        if getattr(self, "metric_", None) is not None:
            return None
        return getattr(getattr(self, "regions_", None), "centers", None)

    def _n_rows_without_regions(self) -> int:
        """Return the number of training rows behind a prediction without a region."""
        return len(self.support_)  # type: ignore[attr-defined]

    def _class_counts(self, X: Any, region: int | None) -> NDArray[Any] | None:
        """Weighted training rows of each class that answer for one row, if known."""
        counts = getattr(self, "region_class_counts_", ())
        return counts[region] if region is not None and region < len(counts) else None
