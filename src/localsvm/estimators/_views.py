"""How a classifier describes itself to explanations and tables of regions."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray


class ViewMixin:
    """Answers for a classifier of linear SVMs; a method overrides what differs."""

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
