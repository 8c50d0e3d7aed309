r"""Statistical disclosure control: no small clusters, no exact counts, no rare values.

Clusters are joined until each has at least 2k rows, values that few of its rows carry
are hidden (:mod:`._rare_values` says what that gives), and what is left is rounded:

- counts to multiples of ``round_to``,
- standard deviations to powers of two,
- means to multiples of 8 times the rounded standard deviation over the rounded count,
- correlations, where they are told, to multiples of 1/8.

So a mean moves by at most 4 deviations over the count, about its standard error for 16
rows and less for more. If all rows of a cluster but one were known, and that no value
was hidden, the mean would still leave an interval of 8 deviations for the last. Whole
numbers are what rounding is for: without it, sum and sum of squares of a few whole
numbers often have one solution. With it and ``round_to=5``, a search of all columns of
2k to 2k + 2 whole numbers from 0 to 6, for k from 2 to 5, finds no release from which
it follows that some rows, but fewer than k, carry a value. With ``round_to=1`` there
are a few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.cluster import GaussianSummary, summarize_rows
from localsvm.exceptions import DataError
from localsvm.federated._protection._levels import MinimumSize
from localsvm.federated._protection._rare_values import hide_rare_values

_DEVIATIONS_PER_STEP = 8
_CORRELATION_STEPS = 8


@dataclass(frozen=True)
class CoarseClusters:
    """Clusters of enough rows each, rounded, and what was left out.

    Attributes
    ----------
    summary : GaussianSummary
    cells : ndarray of shape (n_clusters,) or None
        A joined cluster has the cell of the one that the others were added to.
    dropped : dict
        Rounded count of the rows of each class that was left out.
    """

    summary: GaussianSummary
    cells: NDArray[np.int64] | None
    dropped: dict[Any, float]


@dataclass(frozen=True)
class CoarseClass:
    """Coarse clusters of a class; without a summary if it has too few rows."""

    label: Any
    rows: float
    summary: GaussianSummary | None
    cells: NDArray[np.int64] | None


@dataclass(frozen=True)
class Coarsening:
    """How clusters of rows become coarse.

    Attributes
    ----------
    level : MinimumSize
    covariance : {"diag", "full", "none"}
    n_features : int
    groups : list of ndarray
        Indicator columns of one category column each.
    """

    level: MinimumSize
    covariance: str
    n_features: int
    groups: list[NDArray[np.intp]]

    @property
    def least_rows(self) -> int:
        """Fewest rows of a cluster: mean and covariance of d rows span these rows."""
        least = 2 * self.level.k
        return max(least, 2 * self.n_features) if self.covariance == "full" else least

    def joined(self, classes: Sequence[CoarseClass]) -> CoarseClusters:
        """Concatenate the clusters of all classes."""
        kept = [each.summary for each in classes if each.summary is not None]
        cells = [each.cells for each in classes if each.cells is not None]
        if not kept:
            raise DataError(
                f"Each class has fewer than {self.least_rows} rows, the fewest that "
                "may be shared."
            )
        return CoarseClusters(
            GaussianSummary.concatenated(kept),
            np.concatenate(cells) if cells else None,
            {
                each.label.item(): self._rounded_count(each.rows)
                for each in classes
                if each.summary is None
            },
        )

    def apply(
        self,
        label: Any,
        X: Any,
        clusters: Any,
        weight: NDArray[np.float64],
        cells: NDArray[np.int64] | None = None,
    ) -> CoarseClass:
        """Make coarse clusters of the rows of a class.

        Parameters
        ----------
        label : NumPy scalar
            The class.
        X : ndarray or CSR of shape (n_samples, n_features)
        clusters : ndarray of shape (n_samples,) or (n_samples, n_clusters)
            Number of each row's cluster, or its share in every cluster.
        weight : ndarray of shape (n_samples,)
            How often each row counts.
        cells : ndarray of shape (n_clusters,) or None, default=None
            Cell of each cluster.

        Returns
        -------
        CoarseClass
            O(n d log n), and O(K² d) for K clusters.
        """
        total = float(weight.sum())
        if total < self.least_rows:
            return CoarseClass(label, total, None, None)
        share = _shares(clusters, weight)
        target = join_small(share.sum(axis=1), _means(share, X), self.least_rows)
        survivors, joined = np.unique(target, return_inverse=True)
        member = sparse.csr_array(
            (np.ones(len(joined)), (joined, np.arange(len(joined))))
        )
        share = sparse.csr_array(member @ share)
        summaries = [
            self._summarize(label, *_members(share, X, cluster))
            for cluster in range(len(survivors))
        ]
        return CoarseClass(
            label,
            total,
            GaussianSummary.concatenated(summaries),
            None if cells is None else cells[survivors],
        )

    def _summarize(
        self, label: Any, rows: NDArray[np.float64], share: NDArray[np.float64]
    ) -> GaussianSummary:
        """Round the moments of the rows of a cluster, which are changed."""
        hide_rare_values(rows, share, self.groups, self.level.k)
        full = self.covariance == "full"
        exact = summarize_rows(
            rows,
            np.zeros(len(rows), dtype=np.intp),
            sample_weight=share,
            covariance="full" if full else "diag",
        )
        count = max(self._rounded_count(float(exact.weight[0])), self.level.round_to)
        spread = np.asarray(exact.covariance)[0]
        # The mean of equal numbers need not be that number, to the last bit.
        constant = (rows == rows[0]).all(axis=0)
        variance = np.where(constant, 0.0, np.diagonal(spread) if full else spread)
        deviation = _rounded_deviation(variance)
        step = _DEVIATIONS_PER_STEP * deviation / count
        mean = np.where(constant, rows[0], _to_multiples(exact.mean[0], step))
        covariance: NDArray[np.float64] | None = None
        if full:
            covariance = _rounded_matrix(spread, variance, deviation)[np.newaxis]
        elif self.covariance == "diag":
            covariance = np.square(deviation)[np.newaxis]
        return GaussianSummary(
            np.array([count]), mean[np.newaxis], covariance, np.array([label])
        )

    def _rounded_count(self, rows: float) -> float:
        return float(np.round(rows / self.level.round_to) * self.level.round_to)


def join_small(
    weight: NDArray[np.float64], mean: NDArray[np.float64], least: int
) -> NDArray[np.intp]:
    """Which cluster each one ends in: the smallest goes to the nearest, repeatedly.

    O(K² d) for K clusters that have at least ``least`` rows together.
    """
    weight, mean = weight.copy(), mean.copy()
    target = np.arange(len(weight))
    while weight.min() < least:
        small = int(weight.argmin())
        distance = np.square(mean - mean[small]).sum(axis=1)
        distance[np.isinf(weight)] = np.inf  # those that were joined to others
        distance[small] = np.inf
        near = int(distance.argmin())
        total = weight[near] + weight[small]
        mean[near] += (mean[small] - mean[near]) * (weight[small] / total)
        weight[near], weight[small] = total, np.inf
        target[target == small] = near
    return target


def _shares(clusters: Any, weight: NDArray[np.float64]) -> Any:
    """How much of each row is in every cluster, (n_clusters, n_samples)."""
    if clusters.ndim == 1:
        place = (clusters, np.arange(len(clusters)))
        return sparse.csr_array((weight, place))
    share = sparse.csr_array(clusters).T.multiply(weight).tocsr()
    share.eliminate_zeros()
    return share[np.diff(share.indptr) > 0]


def _means(share: Any, X: Any) -> NDArray[np.float64]:
    total = share @ X
    dense = total.toarray() if sparse.issparse(total) else total
    return np.asarray(dense / share.sum(axis=1)[:, np.newaxis], dtype=np.float64)


def _members(
    share: Any, X: Any, cluster: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Copy of the rows of a cluster, and how much of each is in it."""
    own = slice(share.indptr[cluster], share.indptr[cluster + 1])
    order = np.argsort(share.indices[own])
    rows = X[share.indices[own][order]]
    dense = rows.toarray() if sparse.issparse(rows) else rows
    return np.array(dense, dtype=np.float64, order="F"), share.data[own][order]


def _rounded_deviation(variance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round standard deviations to powers of two, or zero."""
    positive = variance > 0
    exponent = np.rint(np.log2(np.where(positive, variance, 1.0)) / 2)
    return np.where(positive, np.exp2(exponent), 0.0)


def _to_multiples(
    values: NDArray[np.float64], step: NDArray[np.float64]
) -> NDArray[np.float64]:
    positive = step > 0
    width = np.where(positive, step, 1.0)
    return np.where(positive, np.rint(values / width) * width, values)


def _rounded_matrix(
    spread: NDArray[np.float64],
    variance: NDArray[np.float64],
    deviation: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Covariances of rounded correlations and deviations, positive semi-definite."""
    scale = np.sqrt(np.where(variance > 0, variance, 1.0))
    scaled = np.where(np.outer(variance, variance) > 0, spread, 0.0)
    scaled = scaled / np.outer(scale, scale)
    rounded = np.rint(scaled * _CORRELATION_STEPS) / _CORRELATION_STEPS
    np.fill_diagonal(rounded, 1.0)
    # Rounding may leave a negative eigenvalue: a larger diagonal lifts all of them.
    lift = max(0.0, -float(np.linalg.eigvalsh(rounded)[0]))
    rounded = (rounded + lift * np.eye(len(rounded))) / (1 + lift)
    return np.asarray(rounded * np.outer(deviation, deviation))
