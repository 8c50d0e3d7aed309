"""A classifier of linear SVMs over regions whose rows can change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._clock import StageClock
from localsvm.cluster import RegionCodes
from localsvm.engine import Blocks
from localsvm.estimators._base import winning_labels
from localsvm.estimators._regional.base import BaseRegionalSVC
from localsvm.estimators._regional.model import RegionalFit
from localsvm.estimators._regional.solve import MAX_PASSES, FitOptions
from localsvm.estimators._regional.updates.kept import KeptRegional, keep_regional
from localsvm.estimators._regional.updates.repair import (
    polished,
    update_regional,
)
from localsvm.estimators._updates import UpdatableClassifier, Updated
from localsvm.exceptions import DataError
from localsvm.rows import GivenRows, KeptRows, RowChange, Rows


class UpdatableRegional(UpdatableClassifier, BaseRegionalSVC):
    """Keeps rows, codes and duals of a fit, and changes them."""

    @property
    def regions_drift_(self) -> float:
        """Share of the weight that changed its region since the regions were learned.

        Half the sum of the differences between the shares of the regions then and now:
        0 where the rows lie as they did, 1 where they lie in other regions altogether.
        """
        kept = self._kept_for_attribute()
        return float(0.5 * np.abs(kept.present_masses() - kept.masses).sum())

    @property
    def loo_decisions_(self) -> NDArray[np.float64]:
        """Decisions of the distinct rows without themselves, in the order of the model.

        Of shape (n_rows,) or (n_rows, n_classes); see :meth:`leave_one_out`.
        """
        kept = self._kept_for_attribute()
        found: NDArray[np.float64] = kept.unseen[kept.rows.weight > 0]
        return found.ravel() if found.shape[1] == 1 else found

    @property
    def loo_score_(self) -> float:
        """Accuracy of ``loo_decisions_``, by sample weight."""
        kept = self._kept_for_attribute()
        present = kept.rows.weight > 0
        predicted = winning_labels(self.classes_, self.loo_decisions_)
        right = predicted == self.classes_[kept.rows.class_index[present]]
        return float(np.average(right, weights=kept.rows.weight[present]))

    def _kept_for_attribute(self) -> KeptRegional:
        """Give what is kept; without it there is no such attribute."""
        kept: KeptRegional | None = vars(self).get("_kept")
        if kept is None:
            raise AttributeError("A model has this attribute if it is updatable.")
        return kept

    def leave_one_out(self, X: Any, y: Any, *, exact: bool = False) -> NDArray[Any]:
        """Decide rows of the model as if each of them had not been there.

        Needs ``updatable``. Regions and parameters stay as they are, and equal rows are
        taken away together.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows of the model.
        y : array-like of shape (n_samples,)
            Their labels.
        exact : bool, default=False
            Whether to remove each row in fact, which solves again and is exact to
            ``tol``. Otherwise the span rule estimates it for all rows at once, as
            :meth:`fit_leave_one_out` does.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            As those of ``decision_function``.
        """
        kept: KeptRegional = self._require_kept()
        given = self._given("X, y", (X, y))
        places = kept.rows.index.find(given.hashes)
        absent = (places < 0) | (kept.rows.weight[places] == 0)
        if absent.any():
            raise DataError(
                f"X has {absent.sum()} rows that are not in the model with that label, "
                f"the first is row {int(np.flatnonzero(absent)[0])}."
            )
        if exact:
            found = np.array([self._decide_without(kept, place) for place in places])
        else:
            found = kept.unseen[places]
        return found.ravel() if found.shape[1] == 1 else found

    def _decide_without(
        self, kept: KeptRegional, place: np.intp
    ) -> NDArray[np.float64]:
        """Decision of a row by the model that is left when it is removed."""
        rows, at = kept.rows, np.array([place])
        change = RowChange(at, np.zeros(1), GivenRows.none(rows.X.values), 0, 1)
        left = update_regional(kept, change, self._update_options()).kept
        codes = RegionCodes(kept.codes.regions[at], kept.codes.weights[at])
        decided = left.model(rows.X.values.dtype).decide(rows.X.values[at], codes, 1)
        return np.asarray(decided[0], dtype=np.float64)

    def _fit_options(self, blocks: Blocks) -> FitOptions:
        return replace(super()._fit_options(blocks), tol=self._tol_of_fit())

    def _keep(self, rows: Rows, fit: RegionalFit) -> None:
        """Keep what updates need, and count distinct rows as they do."""
        self.__dict__.pop("_kept", None)
        if not self.updatable:
            return
        self._kept = keep_regional(rows, fit)
        if self._kept.settings.loss != "hinge":
            # Newton's method proves the weights of its last step. Updates go on from
            # duals, so the model becomes that of the duals.
            options = replace(self._update_options(), tol=self._tol_of_fit())
            self._kept = polished(self._kept, options)
            self._model = self._kept.model(self._model.coef.dtype)
            self.duality_gap_ = float(self._kept.gaps.max())
        self.region_sizes_ = self._kept.region_sizes()
        self.n_support_ = self._kept.count_support()

    def _kept_rows(self) -> KeptRows:
        rows: KeptRows = self._kept.rows
        return rows

    def _update(self, kept: Any, change: RowChange) -> Updated:
        found = update_regional(kept, change, self._update_options())
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

    def _update_options(self) -> FitOptions:
        return FitOptions(
            seed=0,
            tol=self.tol,
            max_iter=self.max_iter or MAX_PASSES,
            n_jobs=self.n_jobs,
            clock=StageClock(self.max_time),
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
