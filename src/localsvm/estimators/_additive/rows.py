"""Rows by their bins: what the fit and the search for a penalty read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.estimators._additive.bins import ColumnBins
from localsvm.rows import Rows, distinct_rows, merge_weights


@dataclass(frozen=True)
class BinnedRows:
    """Bins, class and weight of rows.

    Attributes
    ----------
    codes : ndarray of shape (n_columns, n_rows), uint8 or uint16
    class_index : ndarray of shape (n_rows,), int32
    penalty_weight : ndarray of shape (n_rows,)
    n_classes : int
    """

    codes: NDArray[Any]
    class_index: NDArray[np.int32]
    penalty_weight: NDArray[np.float64]
    n_classes: int

    @property
    def n_outputs(self) -> int:
        """Decision values per row: one for two classes, otherwise one per class."""
        return 1 if self.n_classes == 2 else self.n_classes

    def take(self, index: NDArray[np.intp]) -> BinnedRows:
        """Take some of the rows."""
        return BinnedRows(
            np.take(self.codes, index, axis=1),
            self.class_index[index],
            self.penalty_weight[index],
            self.n_classes,
        )

    def arguments(
        self, bins: ColumnBins
    ) -> tuple[NDArray[Any], ColumnBins, NDArray[np.int32], NDArray[np.float64], int]:
        """First arguments of :func:`fit_additive`."""
        return (
            self.codes,
            bins,
            self.class_index,
            self.penalty_weight,
            self.n_classes,
        )


def bin_rows(
    rows: Rows, bins: ColumnBins, seed: int, n_jobs: int | None = None
) -> BinnedRows:
    """Find the bins of rows, and merge rows of one class that share all of them.

    The order of the result is random; it depends on the bins, so that an increasing map
    of a column does not change it, nor do order and copies of the rows.

    Parameters
    ----------
    rows : Rows
    bins : ColumnBins
    seed : int
    n_jobs : int or None, default=None
    """
    codes = bins.encode(rows.X, n_jobs)
    values = np.ascontiguousarray(codes.T, dtype=np.float32)
    first, kind = distinct_rows(values, rows.penalty_weight, seed, rows.class_index)
    return BinnedRows(
        np.take(codes, first, axis=1),
        rows.class_index[first],
        merge_weights(rows.penalty_weight, kind),
        rows.n_classes,
    )
