"""Clusters as Gaussians: weight, mean and covariance of each, exactly mergeable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localsvm.exceptions import DataError

_LARGEST_NEGATIVE_SHARE = 1e-8


@dataclass(frozen=True, eq=False)
class GaussianSummary:
    """Rows compressed to clusters with a weight, a mean and a covariance each.

    Sums over rows can be rebuilt from it, so summaries of parts of the data combine
    into the summary of the whole: over batches of a stream, blocks of a table, or
    parties that do not share rows. Use it where the rows are too many to keep, or must
    not leave where they are; a cluster of one row *is* that row.

    Parameters
    ----------
    weight : array-like of shape (n_clusters,)
        Rows in each cluster, counted by their weights; above 0.
    mean : array-like of shape (n_clusters, n_features)
        Centre of each cluster.
    covariance : array-like or None, default=None
        Variances of shape (n_clusters, n_features), matrices of shape (n_clusters,
        n_features, n_features), or None to say nothing of the spread. They are those of
        the rows themselves (divided by the weight, not by one less).
    label : array-like of shape (n_clusters,) or None, default=None
        Class of each cluster.
    feature_names : sequence of str or None, default=None
        Names of the columns.

    Attributes
    ----------
    n_clusters, n_features : int
    covariance_type : {"diag", "full", "none"}

    See Also
    --------
    summarize_clusters : Fits a clusterer and summarises what it finds.
    summarize_rows : Summarises given clusters.

    Notes
    -----
    Memory is O(K d) for K clusters, O(K d²) with full covariances. Everything is held
    in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from localsvm.cluster import summarize_rows
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [5.0, 5.0]])
    >>> summary = summarize_rows(X, [0, 0, 1])
    >>> summary.weight.tolist(), summary.mean.tolist()
    ([2.0, 1.0], [[1.0, 1.0], [5.0, 5.0]])
    >>> summary.covariance.tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    >>> summary.merged([0, 0]).mean.round(6).tolist()
    [[2.333333, 2.333333]]
    """

    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    covariance: NDArray[np.float64] | None = None
    label: NDArray[Any] | None = None
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("weight", "mean", "covariance"):
            if getattr(self, name) is not None:
                _set(self, name, _numbers(name, getattr(self, name)))
        if self.label is not None:
            _set(self, "label", np.asarray(self.label))
        if self.feature_names is not None:
            _set(self, "feature_names", tuple(str(name) for name in self.feature_names))
        _check_shapes(self)
        _check_values(self)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.weight)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.mean.shape[1])

    @property
    def covariance_type(self) -> str:
        """What is known of the spread: "diag", "full" or "none"."""
        if self.covariance is None:
            return "none"
        return "diag" if self.covariance.ndim == 2 else "full"

    @classmethod
    def concatenated(cls, summaries: Sequence[GaussianSummary]) -> GaussianSummary:
        """Put the clusters of several summaries side by side.

        Parameters
        ----------
        summaries : non-empty sequence of GaussianSummary
            Of the same columns and kind of covariance, all with labels or none.

        Returns
        -------
        GaussianSummary
            With weights that count rows, the share of a cluster among all rows is
            Eq. 15 of Li et al. (2007).
        """
        if not summaries:
            raise ValueError("Got no summary; expected at least one.")
        first = summaries[0]
        for other in summaries[1:]:
            _check_alike(first, other)
        return cls(
            np.concatenate([each.weight for each in summaries]),
            np.concatenate([each.mean for each in summaries]),
            None
            if first.covariance is None
            else np.concatenate([each.covariance for each in summaries]),
            None
            if first.label is None
            else np.concatenate([each.label for each in summaries]),
            first.feature_names,
        )

    def merged(self, groups: ArrayLike) -> GaussianSummary:
        """Join the clusters of each group into one, as if it had all their rows.

        Parameters
        ----------
        groups : array-like of shape (n_clusters,)
            Number of each cluster's group, from 0 and none left out. A group has one
            label.

        Returns
        -------
        GaussianSummary
            In the order of the groups. The order of the clusters changes nothing.
        """
        group = np.asarray(groups, dtype=np.intp)
        _check_groups(group, self.n_clusters)
        order = np.lexsort((*self._sort_keys(), group))
        whole, group = self.take(order), group[order]
        start = np.searchsorted(group, np.arange(int(group[-1]) + 1))
        weight = np.add.reduceat(whole.weight, start)
        share = whole.weight / weight[group]
        mean = np.add.reduceat(share[:, np.newaxis] * whole.mean, start)
        label = None if whole.label is None else whole.label[start]
        if label is not None and (label[group] != whole.label).any():
            raise ValueError("Clusters of different labels cannot be merged.")
        covariance = whole._spread_around(mean[group])
        if covariance is not None:
            share = share.reshape(-1, *(1,) * (covariance.ndim - 1))
            covariance = np.add.reduceat(share * covariance, start)
        return GaussianSummary(weight, mean, covariance, label, self.feature_names)

    def take(self, index: Any) -> GaussianSummary:
        """Part of the clusters.

        Parameters
        ----------
        index : ndarray or slice
            Of integers or booleans.

        Returns
        -------
        GaussianSummary
        """
        return replace(
            self,
            weight=self.weight[index],
            mean=self.mean[index],
            covariance=None if self.covariance is None else self.covariance[index],
            label=None if self.label is None else self.label[index],
        )

    def ordered(self) -> GaussianSummary:
        """Put the clusters into an order that depends on their content alone.

        Returns
        -------
        GaussianSummary
            By label, mean, weight and covariance.
        """
        return self.take(np.lexsort(self._sort_keys()))

    def with_covariance(self, covariance: str) -> GaussianSummary:
        """Keep of the covariances what is asked for.

        Parameters
        ----------
        covariance : {"diag", "full", "none"}
            No more than there is.

        Returns
        -------
        GaussianSummary
        """
        kinds = ("none", "diag", "full")
        if kinds.index(covariance) > kinds.index(self.covariance_type):
            raise DataError(
                f"covariance={covariance!r} asks for more than the summary has: "
                f"expected {self.covariance_type!r} at most."
            )
        if covariance == self.covariance_type:
            return self
        if covariance == "none" or self.covariance is None:
            return replace(self, covariance=None)
        return replace(self, covariance=np.diagonal(self.covariance, axis1=1, axis2=2))

    def check_covariance(self) -> None:
        """Raise a ValueError unless every covariance is positive semi-definite.

        O(K d³) for full covariances; variances are checked when the summary is made.
        """
        if self.covariance is None or self.covariance.ndim == 2:
            return
        asymmetry = np.abs(self.covariance - self.covariance.transpose(0, 2, 1))
        trace = np.trace(self.covariance, axis1=1, axis2=2)
        tolerance = _LARGEST_NEGATIVE_SHARE * trace
        bad = asymmetry.max(axis=(1, 2), initial=0.0) > tolerance
        if bad.any():
            raise ValueError(
                f"The covariance of cluster {int(bad.argmax())} is not symmetric."
            )
        smallest = np.linalg.eigvalsh(self.covariance).min(axis=1, initial=0.0)
        bad = smallest < -tolerance
        if bad.any():
            worst = int(np.argmin(smallest + tolerance))
            raise ValueError(
                f"The covariance of cluster {worst} has the eigenvalue "
                f"{smallest[worst]:.3g}; expected none below 0."
            )

    def _sort_keys(self) -> list[NDArray[Any]]:
        """Keys for lexsort, the most important last."""
        keys = [self.weight, *self.mean.T[::-1]]
        if self.covariance is not None:
            keys = [*self.covariance.reshape(self.n_clusters, -1).T[::-1], *keys]
        return keys if self.label is None else [*keys, self.label]

    def _spread_around(self, point: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Mean squared deviation of each cluster's rows from a point of its own."""
        if self.covariance is None:
            return None
        away = self.mean - point
        if self.covariance.ndim == 2:
            return np.asarray(self.covariance + away**2)
        return np.asarray(
            self.covariance + away[:, :, np.newaxis] * away[:, np.newaxis]
        )


def _check_groups(group: NDArray[np.intp], n_clusters: int) -> None:
    if group.shape != (n_clusters,):
        raise ValueError(f"groups has shape {group.shape}; expected ({n_clusters},).")
    if group.min() < 0 or not np.bincount(group).all():
        raise ValueError("groups must hold numbers from 0 with none left out.")


def _set(summary: GaussianSummary, name: str, value: Any) -> None:
    object.__setattr__(summary, name, value)


def _numbers(name: str, value: Any) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers: {error}") from error
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} contains NaN or infinity; expected finite numbers.")
    return numbers


def _check_shapes(summary: GaussianSummary) -> None:
    n_clusters = summary.weight.size
    if summary.weight.ndim != 1 or n_clusters == 0:
        raise ValueError(
            f"weight has shape {summary.weight.shape}; expected one entry per cluster "
            "and at least one cluster."
        )
    if summary.mean.ndim != 2 or len(summary.mean) != n_clusters:
        raise ValueError(
            f"mean has shape {summary.mean.shape}; expected ({n_clusters}, n_features) "
            "as weight has it."
        )
    shape = summary.mean.shape
    allowed = (shape, (*shape, shape[1]))
    if summary.covariance is not None and summary.covariance.shape not in allowed:
        raise ValueError(
            f"covariance has shape {summary.covariance.shape}; expected {allowed[0]} "
            f"for variances or {allowed[1]} for matrices."
        )
    if summary.label is not None and summary.label.shape != (n_clusters,):
        raise ValueError(
            f"label has shape {summary.label.shape}; expected ({n_clusters},)."
        )
    names = summary.feature_names
    if names is not None and len(names) != shape[1]:
        raise ValueError(
            f"feature_names has {len(names)} entries; expected {shape[1]}, one per "
            "column of mean."
        )


def _check_values(summary: GaussianSummary) -> None:
    if (summary.weight <= 0).any():
        raise ValueError(
            f"weight contains {summary.weight.min():.3g}; expected values above 0."
        )
    if summary.covariance is None:
        return
    variance = summary.covariance
    if variance.ndim == 3:
        variance = np.diagonal(variance, axis1=1, axis2=2)
    if variance.size and variance.min() < 0:
        raise ValueError(
            f"covariance contains the variance {variance.min():.3g}; expected values "
            ">= 0."
        )


def _check_alike(first: GaussianSummary, other: GaussianSummary) -> None:
    for name, words in (
        ("n_features", "columns"),
        ("covariance_type", "covariances"),
        ("feature_names", "names of the columns"),
    ):
        ours, theirs = getattr(first, name), getattr(other, name)
        if ours != theirs:
            raise DataError(
                f"Summaries must agree in their {words}: found {ours!r} and {theirs!r}."
            )
    if (first.label is None) != (other.label is None):
        raise DataError("Either all summaries have labels or none; found both.")
