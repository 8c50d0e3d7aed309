"""Probabilities of clusters: rows that leave them, and rows before they are learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from localsvm.engine import Block, Blocks
from localsvm.estimators._held_out import HeldOut, HeldOutMixin, rows_in_memory
from localsvm.estimators._support_cluster.fit import (
    FitOptions,
    SupportClusterFit,
    SupportClusterSettings,
    hold_out,
)
from localsvm.rows import Rows

# Latest rows of a stream whose decisions are kept.
_MOST_TESTED = 500


class TestedMixin(HeldOutMixin):
    """What clusters know from rows that they have not seen."""

    # Clusters may leave where rows may not.
    _keeps_rows = False
    _decide: Any
    _tested: HeldOut

    def _forget_held_out(self) -> None:
        super()._forget_held_out()
        self.__dict__.pop("_tested", None)

    def _calibrate(
        self,
        blocks: Blocks,
        fit: SupportClusterFit,
        settings: SupportClusterSettings,
        options: FitOptions,
    ) -> None:
        """Learn probabilities from rows in memory that leave their clusters."""
        rows = rows_in_memory(blocks, "calibrate")
        with options.clock.stage("calibrate"):
            held_out = hold_out(rows, fit, settings, options)
            if held_out is not None:
                self._keep_held_out(held_out)

    def _test_before(self, batch: Block) -> HeldOut | None:
        """Decide rows of a stream before they are learned, with those before them."""
        before: HeldOut | None = getattr(self, "_tested", None)
        if getattr(self, "_machine", None) is None:
            return None
        own = np.isin(batch.y, self.classes_) & (batch.sample_weight > 0)
        kept = np.flatnonzero(own)[-_MOST_TESTED:]
        if not len(kept):
            return before
        X, weight = batch.X[kept], batch.sample_weight[kept]
        place = np.searchsorted(self.classes_, batch.y[kept]).astype(np.int32)
        decisions = np.asarray(self._decide(X), dtype=np.float64)
        # The rows themselves are not kept.
        nothing = np.empty((len(kept), 0))
        rows = Rows.weighted(nothing, place, weight, len(self.classes_))
        tested = HeldOut(rows, decisions, self._held_out_regions(X))
        whole = tested if before is None else before.followed_by(tested)
        return whole.last(_MOST_TESTED)

    def _go_on_calibrating(self, tested: HeldOut | None) -> None:
        """Learn probabilities from the latest rows of a stream that were tested."""
        if tested is not None and tested.rows.n_classes != len(self.classes_):
            tested = None
        self._forget_held_out()
        if tested is not None:
            self._tested = tested
            self._keep_held_out(tested)
