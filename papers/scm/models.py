"""Variants of the support cluster machine that the paper compares or describes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from localsvm import SupportClusterSVC
from localsvm.federated import Party, PrivacyLevel, merge, min_size, none

# Table 2: rows of the parties, which take the file in its order.
PARTY_ROWS = (10_050, 10_050, 10_062)


def party_bounds(n_rows: int) -> NDArray[np.intp]:
    """Divide rows among the parties as in Table 2.

    Parameters
    ----------
    n_rows : int

    Returns
    -------
    ndarray of shape (4,)
        First row of each party, and the number of rows.
    """
    ends = np.cumsum([0, *PARTY_ROWS])
    bounds: NDArray[np.intp] = np.rint(ends * (n_rows / ends[-1])).astype(np.intp)
    return bounds


class CentroidSVC(SupportClusterSVC):
    """An SVM on the centroids of clusters: no covariances, all of equal weight.

    Parameters are those of :class:`~localsvm.SupportClusterSVC`, with
    ``covariance="none"``.
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the rows of each class and learn on the centroids.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        super().fit(X, y, sample_weight)
        equal = np.ones(self.summary_.n_clusters)
        return self.fit_summaries(replace(self.summary_, weight=equal))


class ThreePartySVC(SupportClusterSVC):
    """Three parties share clusters of their rows, and one SVM is learned on all.

    Parameters are those of :class:`~localsvm.SupportClusterSVC`; ``n_clusters`` is per
    class and party.
    """

    _privacy: PrivacyLevel = none()

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Divide the rows as in Table 2, cluster each party's, merge, learn.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : None
            Parties count rows.

        Returns
        -------
        self : object
        """
        shared = [
            Party(
                f"party {number}",
                n_clusters=self.n_clusters,
                covariance=self.covariance,
                random_state=self.random_state,
            ).summarize(X[first:end], y[first:end], self._privacy)
            for number, (first, end) in enumerate(pairwise(party_bounds(len(y))), 1)
        ]
        return self.fit_summaries(merge(shared).summary)


class CoarseThreePartySVC(ThreePartySVC):
    """As its parent, with no cluster of fewer than ten rows and rounded counts."""

    _privacy = min_size(10)
