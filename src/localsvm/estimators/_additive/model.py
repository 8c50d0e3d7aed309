"""One table of effects per column: what is kept, and how it predicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm import _core
from localsvm._threads import effective_n_jobs, threads_for
from localsvm.estimators._additive.bins import ColumnBins, dense_rows


@dataclass(frozen=True)
class AdditiveModel:
    """A sum of table entries, one per column.

    Attributes
    ----------
    bins : ColumnBins
    tables : ndarray of shape (n_outputs, sum of bins.n_bins)
        Effect of each bin, column after column; their mean over the training rows is
        zero in each column.
    bias : ndarray of shape (n_outputs,)
    """

    bins: ColumnBins
    tables: NDArray[np.float64]
    bias: NDArray[np.float64]

    def decide(self, X: NDArray[Any], n_jobs: int | None = None) -> NDArray[np.float64]:
        """Decision values of shape (n_rows, n_outputs)."""
        out = np.empty((X.shape[0], len(self.bias)))
        n_threads = threads_for(len(X), n_jobs)
        _core.decide_binned(
            dense_rows(X), self.bins.for_core, self.tables, self.bias, out, n_threads
        )
        return out

    def decide_codes(
        self, codes: NDArray[Any], n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Decision values of rows whose bins are known, bit for bit as ``decide``."""
        out = np.empty((len(self.bias), codes.shape[1]))
        n_threads = effective_n_jobs(n_jobs)
        _core.look_up_bins(
            np.ascontiguousarray(codes),
            self.bins.start,
            self.tables,
            self.bias,
            out,
            n_threads,
        )
        return np.ascontiguousarray(out.T)

    def contributions(
        self, X: NDArray[Any], n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Return what each column adds to the decision of each row.

        Returns
        -------
        ndarray of shape (n_rows, n_columns) or (n_rows, n_columns, n_classes)
            With the bias they sum to the decision.
        """
        codes = self.bins.encode(X, n_jobs)
        place = codes.T + self.bins.start[:-1]
        entries = np.moveaxis(self.tables[:, place], 0, -1)
        return entries[..., 0] if len(self.bias) == 1 else entries

    @property
    def importances(self) -> NDArray[np.float64]:
        """Weighted mean size of each column's effect, of shape (n_columns,)."""
        sizes = np.abs(self.tables).mean(axis=0) * self.bins.weight
        return _sum_columns(sizes, self.bins) / _sum_columns(
            self.bins.weight, self.bins
        )


def centred(
    bins: ColumnBins, raw: NDArray[np.float64], bias: NDArray[np.float64]
) -> AdditiveModel:
    """Move the mean effect of each column into the bias.

    Parameters
    ----------
    bins : ColumnBins
    raw : ndarray of shape (n_outputs, sum of bins.n_bins)
        Tables as they were fitted; a bin without order and rows is zero there, and has
        no effect afterwards.
    bias : ndarray of shape (n_outputs,)
    """
    tables, moved = [], []
    for own in raw:
        mean = _sum_columns(own * bins.weight, bins) / _sum_columns(bins.weight, bins)
        effect = own - np.repeat(mean, bins.n_bins)
        effect[(own == 0) & ~bins.is_ordered] = 0.0
        tables.append(effect)
        moved.append(mean.sum())
    return AdditiveModel(bins, np.array(tables), bias + moved)


def _sum_columns(entries: NDArray[np.float64], bins: ColumnBins) -> NDArray[np.float64]:
    """Sum over the bins of each column."""
    return np.add.reduceat(entries, bins.start[:-1])
