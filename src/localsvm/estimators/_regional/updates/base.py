"""A classifier of linear SVMs over regions whose rows can change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._clock import StageClock
from localsvm.engine import Blocks
from localsvm.estimators._regional.base import BaseRegionalSVC
from localsvm.estimators._regional.model import RegionalFit
from localsvm.estimators._regional.solve import MAX_PASSES, FitOptions
from localsvm.estimators._regional.updates.kept import KeptRegional, keep_regional
from localsvm.estimators._regional.updates.repair import update_regional
from localsvm.estimators._updates import UpdatableClassifier, Updated
from localsvm.rows import KeptRows, RowChange, Rows


class UpdatableRegional(UpdatableClassifier, BaseRegionalSVC):
    """Keeps rows, codes and duals of a fit, and changes them."""

    def _fit_options(self, blocks: Blocks) -> FitOptions:
        return replace(super()._fit_options(blocks), tol=self._tol_of_fit())

    def _keep(self, rows: Rows, fit: RegionalFit) -> None:
        """Keep what updates need, and count distinct rows as they do."""
        self.__dict__.pop("_kept", None)
        if not self.updatable:
            return
        self._kept = keep_regional(rows, fit)
        self.region_sizes_ = self._kept.region_sizes()
        self.n_support_ = self._kept.count_support()

    def _kept_rows(self) -> KeptRows:
        rows: KeptRows = self._kept.rows
        return rows

    def _update(self, kept: Any, change: RowChange) -> Updated:
        options = FitOptions(
            seed=0,
            tol=self.tol,
            max_iter=self.max_iter or MAX_PASSES,
            n_jobs=self.n_jobs,
            clock=StageClock(self.max_time),
        )
        found = update_regional(kept, change, options)
        after, gap = found.kept, float(found.kept.gaps.max())
        attributes = {"duality_gap_": gap, **self._counts(kept, after, change)}
        n_duals = 0
        if not found.is_same_model:
            attributes["_model"] = after.model(self._model.coef.dtype)
            attributes["n_support_"] = after.count_support()
            n_duals = _count_changed(kept.duals, after.duals)
        return Updated(
            after,
            attributes,
            found if found.statuses else None,
            found.n_regions,
            n_duals,
            found.n_iter,
            gap,
        )

    def _counts(
        self, kept: KeptRegional, after: KeptRegional, change: RowChange
    ) -> dict[str, Any]:
        """Rows of the regions after a change."""
        places = np.concatenate(
            [change.places, np.arange(kept.rows.n_places, after.rows.n_places)]
        )
        region = after.nodes.values[places, 0]
        comings = np.ones(len(places), dtype=np.intp)
        comings[: len(change.places)] = kept.rows.comings(change)
        gained = after.rows.weight[places]
        gained[: len(change.places)] -= kept.rows.weight[change.places]
        sizes, counts = self.region_sizes_.copy(), self.region_class_counts_.copy()
        np.add.at(sizes, region, comings)
        np.add.at(counts, (region, after.rows.class_index[places]), gained)
        # Sums of weights round to less than nothing.
        counts[region] = np.maximum(counts[region], 0.0)
        return {"region_sizes_": sizes, "region_class_counts_": counts}


def _count_changed(before: NDArray[np.float64], after: NDArray[np.float64]) -> int:
    """Rows whose dual is another in any task; new rows had none."""
    n_before = before.shape[1]
    changed = (after[:, :n_before] != before).any(axis=0)
    return int(changed.sum() + (after[:, n_before:] != 0).any(axis=0).sum())
