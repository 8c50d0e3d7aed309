"""What a Support Cluster Machine keeps, and how it decides rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax

from localsvm.cluster import GaussianSummary
from localsvm.kernels import ClusterKernel, Gaussians
from localsvm.solvers import Endings, combine_pairs, decide_in_blocks, pair_shares


@dataclass(frozen=True)
class ClusterMachine:
    """Solution of the dual (Eq. 3, 7) for every task, on the support clusters.

    Attributes
    ----------
    kernel : ClusterKernel
    log_scale : float
        Logarithm of the factor that was taken out of the kernel.
    C : float
        Penalty of a cluster of mean weight.
    support : ndarray of shape (n_support,)
        Clusters with a dual in any task.
    clusters : Gaussians
        The support clusters.
    duals : ndarray of shape (n_tasks, n_support)
        Signed: alpha times the side.
    intercept : ndarray of shape (n_tasks,)
    pairs : ndarray of shape (n_tasks, 2)
        Negative and positive class; -1 stands for all others.
    endings : Endings
    n_iter : ndarray of shape (n_tasks,)
    relative_gap : ndarray of shape (n_tasks,)
    """

    kernel: ClusterKernel
    log_scale: float
    C: float
    support: NDArray[np.intp]
    clusters: Gaussians
    duals: NDArray[np.float64]
    intercept: NDArray[np.float64]
    pairs: NDArray[np.int32]
    endings: Endings
    n_iter: NDArray[np.int64]
    relative_gap: NDArray[np.float64]

    def decide(self, X: Any, n_jobs: int | None) -> NDArray[np.float64]:
        """Eq. 11 for every row and task, in the kernel's form."""
        if len(self.support) == 0:
            return np.tile(self.intercept, (X.shape[0], 1))
        compare = self.kernel.compare_with(self.clusters, self.log_scale, X.dtype.type)
        decisions = decide_in_blocks(compare, self.duals, X, n_jobs)
        decisions += self.intercept
        return decisions

    def class_scores(
        self, X: Any, first: int, n_classes: int, n_jobs: int | None
    ) -> NDArray[Any]:
        """One score per class in the type of the rows, one in all for two classes.

        ``first`` is the class of the first cluster, and of all if there is no task.
        """
        if len(self.pairs) == 0:
            scores = np.full((X.shape[0], n_classes), -1.0, dtype=X.dtype)
            scores[:, first] = 1.0
            return scores[:, 1:] if n_classes == 2 else scores
        return narrowed(self.score(self.decide(X, n_jobs), n_classes), X.dtype)

    def shares(
        self, X: Any, summary: GaussianSummary
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """How much each support cluster counts for rows.

        Returns
        -------
        clusters : ndarray of shape (n_support,)
            Indices into the clusters of the summary.
        shares : ndarray of shape (n_rows, n_support)
            Size of the duals times the kernel value, divided by the sum of all. Where
            no cluster has a dual, the nearest one stands for the decision.
        """
        support, clusters = self.support, self.clusters
        size = np.abs(self.duals).sum(axis=0)
        if len(support) == 0:
            support, clusters = np.arange(summary.n_clusters), as_gaussians(summary)
            size = np.ones(summary.n_clusters)
        compare = self.kernel.log_compare_with(clusters, self.log_scale, np.float64)
        return support, np.asarray(softmax(compare(_dense(X)) + np.log(size), axis=1))

    def regions(
        self, X: Any, summary: GaussianSummary, predicted: NDArray[Any]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Clusters of each row and their signed shares, the largest share first.

        The share of a cluster of another class than the predicted one is negative.
        """
        regions, shares = self.shares(X, summary)
        own = np.asarray(summary.label)[regions] == predicted[:, np.newaxis]
        signed = np.where(own, shares, -shares)
        order = np.argsort(-signed, axis=1, kind="stable")
        return regions[order], np.take_along_axis(signed, order, axis=1)

    def gradients(self, X: Any, n_classes: int) -> NDArray[np.float64]:
        """Gradients of the scores of rows, of shape (n_samples, n_outputs, n_features).

        Of pairs of several classes, those of the mean of a class's decisions against
        the others: votes have no gradient. Zero for classes without clusters.
        """
        n_outputs = 1 if n_classes == 2 else n_classes
        gradients = np.zeros((X.shape[0], n_outputs, X.shape[1]))
        if len(self.support) == 0:
            return gradients
        of_tasks = self.kernel.weighted_gradient(
            np.asarray(_dense(X), dtype=np.float64),
            self.clusters,
            self.log_scale,
            self.duals,
        )
        if (self.pairs >= 0).all():
            for output, shares in pair_shares(self.pairs, n_classes):
                gradients[:, output] = np.einsum("t,itj->ij", shares, of_tasks)
        else:
            gradients[:, self.pairs[:, 1]] = of_tasks
        return gradients

    def score(self, decisions: NDArray[np.float64], n_classes: int) -> NDArray[Any]:
        """One score per class from the decisions of the tasks, one in all for two."""
        if (self.pairs >= 0).all():
            return combine_pairs(decisions, self.pairs, n_classes)
        scores = np.empty((len(decisions), n_classes))
        # Classes without clusters come last.
        scores[:] = decisions.min(axis=1, keepdims=True) - 1
        scores[:, self.pairs[:, 1]] = decisions
        return scores


def as_gaussians(summary: GaussianSummary) -> Gaussians:
    """Clusters with the priors P of the paper, shares of all rows."""
    prior = summary.weight / summary.weight.sum()
    return Gaussians(summary.mean, summary.covariance, prior)


def _dense(X: Any) -> NDArray[Any]:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def narrowed(scores: NDArray[np.float64], dtype: Any) -> NDArray[Any]:
    """Scores in the type of the rows; the paper's form may be beyond float32."""
    largest = np.finfo(dtype).max
    return np.clip(scores, -largest, largest).astype(dtype)
