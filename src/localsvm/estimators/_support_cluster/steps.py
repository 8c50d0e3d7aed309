"""Steps and fitted attributes of the Support Cluster Machine."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from localsvm._checks import (
    check_rows,
    check_sample_weight,
    check_squares,
    exact_range,
)
from localsvm._clock import StageClock
from localsvm.cluster import GaussianSummary, ThresholdClustering, summarize_rows
from localsvm.estimators._base import BaseLocalClassifier, check_solution
from localsvm.estimators._support_cluster.model import (
    ClusterMachine,
    as_gaussians,
    learn_clusters,
    make_tasks,
)
from localsvm.kernels import ClusterKernel, scale_gamma
from localsvm.solvers import KernelOptions


class BaseSupportClusterSVC(BaseLocalClassifier):
    """What a Support Cluster Machine keeps: clusters, and an SVM that may be due."""

    summary_: GaussianSummary
    _machine: ClusterMachine | None
    # Clusterers of the classes that ``partial_fit`` has added to.
    _streams: dict[Any, ThresholdClustering]
    _classes_named: bool
    _takes_metric = False

    @property
    def n_regions_(self) -> int:
        """Number of clusters."""
        check_is_fitted(self, "summary_")
        return self.summary_.n_clusters

    @property
    def region_sizes_(self) -> NDArray[np.float64]:
        """Weight of the rows of each cluster."""
        check_is_fitted(self, "summary_")
        return self.summary_.weight

    @property
    def region_class_counts_(self) -> NDArray[np.float64]:
        """Weight of the rows of each cluster, in the column of its class."""
        counts = np.zeros((self.n_regions_, len(self.classes_)))
        counts[np.arange(len(counts)), self._class_index()] = self.region_sizes_
        return counts

    @property
    def support_(self) -> NDArray[np.intp]:
        """Support clusters, as indices into those of ``summary_``."""
        return self._fitted_machine().support

    @property
    def support_weights_(self) -> NDArray[np.float64]:
        """Signed duals of the support clusters in every SVM."""
        return self._fitted_machine().duals

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercept of every SVM."""
        return self._fitted_machine().intercept

    @property
    def n_support_(self) -> NDArray[np.intp]:
        """Support clusters of each class."""
        support = self._class_index()[self.support_]
        return np.bincount(support, minlength=len(self.classes_))

    @property
    def gamma_(self) -> float:
        """Width of the kernel as used."""
        return self._fitted_machine().kernel.gamma

    @property
    def log_scale_(self) -> float:
        """Logarithm of the factor by which the kernel was divided."""
        return self._fitted_machine().log_scale

    @property
    def duality_gap_(self) -> float:
        """Worst relative duality gap."""
        return float(self._fitted_machine().relative_gap.max(initial=0.0))

    @property
    def violation_(self) -> float:
        """Largest violation of the optimality conditions."""
        return float(self._fitted_machine().endings.violation.max(initial=0.0))

    @property
    def n_iter_(self) -> int:
        """Most steps of an SVM."""
        return int(self._fitted_machine().n_iter.max(initial=1))

    def region(self, X: Any, *, return_weights: bool = False) -> Any:
        """Cluster that speaks most for the predicted class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        return_weights : bool, default=False
            Whether to return all support clusters of a row with their shares.

        Returns
        -------
        clusters : ndarray of shape (n_samples,) or (n_samples, n_support)
            As indices into the clusters of ``summary_``. With ``return_weights`` all
            support clusters, the largest share first.
        weights : ndarray of shape (n_samples, n_support)
            Only with ``return_weights``: size of a cluster's dual times its kernel
            value, summed over the SVMs and divided by the sum of them all; negative for
            clusters of other classes than the predicted one.
        """
        predicted = self.predict(X)
        regions, shares = self._decision_shares(self._check_query_rows(X))
        own = np.asarray(self.summary_.label)[regions] == predicted[:, np.newaxis]
        signed = np.where(own, shares, -shares)
        if not return_weights:
            return regions[signed.argmax(axis=1)]
        order = np.argsort(-signed, axis=1, kind="stable")
        return regions[order], np.take_along_axis(signed, order, axis=1)

    def local_coef(self, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weights of the linear function that touches each row's decision.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        coef : ndarray of shape (n_samples, n_tasks, n_features)
            The gradient of the decision at the row. For several classes and
            ``multi_class="ovo"``, of the mean of a class's decisions against the
            others.
        intercept : ndarray of shape (n_samples, n_tasks)
            ``coef[i] @ X[i] + intercept[i]`` is the decision value of row i, as of
            ``decision_function_shape="ovr"``.
        """
        X = self._check_query_rows(X)
        dense = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        machine = self._fitted_machine()
        return self._touching(X, machine.gradients(dense, len(self.classes_)))

    def _decision_shares(self, X: Any) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Clusters, and their shares of shape (n_samples, n_clusters)."""
        machine = self._fitted_machine()
        regions, clusters = machine.support, machine.clusters
        size = np.abs(machine.duals).sum(axis=0)
        if len(regions) == 0:
            # Where no cluster has a dual, the nearest one stands for the answer.
            regions, clusters = np.arange(self.n_regions_), as_gaussians(self.summary_)
            size = np.ones(self.n_regions_)
        compare = machine.kernel.log_compare_with(
            clusters, machine.log_scale, np.float64
        )
        logs = compare(X.toarray() if sparse.issparse(X) else X)
        return regions, np.asarray(softmax(logs + np.log(size), axis=1))

    def _begin(self) -> None:
        """Forget what ``partial_fit`` knew of earlier rows."""
        self._streams = {}
        self._classes_named = False

    def _clusterer(self) -> Any:
        if self.clusterer is None:
            return ThresholdClustering(self.n_clusters)
        return self.clusterer

    def _check_batch(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
        begins = not hasattr(self, "summary_")
        X, y = check_rows(self, X, y, reset=begins)
        check_classification_targets(y)
        check_squares(X)
        if begins:
            self._warn_of_scales(X)
            self._begin()
        weight = check_sample_weight(sample_weight, X)
        self._widen_range(X, weight, begins)
        return X, y, weight

    def _widen_range(self, X: Any, weight: NDArray[np.float64], begins: bool) -> None:
        """Take a batch into the range of the rows, if that of the others is known."""
        ends, whole = exact_range(X, weight)
        if not begins:
            if not hasattr(self, "feature_range_"):
                return
            low, high = np.stack([self.feature_range_, ends], axis=1)
            ends = np.stack([low.min(axis=0), high.max(axis=0)])
            whole &= self.integer_features_
        self.feature_range_, self.integer_features_ = ends, whole

    def _extend_classes(self, y: NDArray[Any], classes: Any) -> None:
        """Learn of new classes, unless all were named."""
        known = getattr(self, "classes_", None)
        if classes is not None:
            named = np.unique(classes)
            if known is not None and not np.array_equal(known, named):
                raise ValueError(
                    f"classes={named.tolist()} is not the same as in an earlier call: "
                    f"expected {known.tolist()}."
                )
            self.classes_ = named
            self._classes_named = True
        elif known is None or not self._classes_named:
            self.classes_ = np.unique(y) if known is None else np.union1d(known, y)
        strange = np.setdiff1d(y, self.classes_)
        if len(strange):
            raise ValueError(
                f"y contains the class {strange.tolist()[0]!r}; expected one of "
                f"{self.classes_.tolist()}, which were named as all classes."
            )

    def _add_batch(self, X: Any, y: NDArray[Any], weight: NDArray[np.float64]) -> None:
        """Add the rows of each class to its clusters."""
        summaries = self._summaries_by_class()
        streams = dict(self._streams)
        for label in np.unique(y[weight > 0]).tolist():
            own = (y == label) & (weight > 0)
            streams[label], summaries[label] = self._extend(
                streams.get(label), summaries.get(label), X[own], weight[own], label
            )
        self._streams = streams
        parts = [summaries[label] for label in sorted(summaries)]
        self.summary_ = self._named(GaussianSummary.concatenated(parts))

    def _summaries_by_class(self) -> dict[Any, GaussianSummary]:
        if not hasattr(self, "summary_"):
            return {}
        whole = replace(self.summary_, feature_names=None)
        labels = np.asarray(whole.label)
        return {
            label: whole.take(labels == label) for label in np.unique(labels).tolist()
        }

    def _extend(
        self,
        stream: ThresholdClustering | None,
        known: GaussianSummary | None,
        X: Any,
        weight: NDArray[np.float64],
        label: Any,
    ) -> tuple[ThresholdClustering, GaussianSummary]:
        """Clusters of a class after some more rows, and what continues them."""
        if stream is None:
            stream = clone(self._clusterer())
            if known is not None:
                # Clusters of another origin begin as rows of their weight.
                stream.partial_fit(
                    known.mean.astype(X.dtype), sample_weight=known.weight
                )
                known = known.merged(stream.labels_)
        stream = copy(stream).partial_fit(X, sample_weight=weight)
        batch = summarize_rows(
            X,
            stream.labels_,
            sample_weight=weight,
            covariance=self.covariance,
            label=label,
        )
        if known is None:
            return stream, batch
        both = GaussianSummary.concatenated([known, batch])
        groups = np.concatenate([stream.moved_to_, np.unique(stream.labels_)])
        return stream, both.merged(groups)

    def _named(self, summary: GaussianSummary) -> GaussianSummary:
        """Give the summary the names of the columns."""
        names = getattr(self, "feature_names_in_", None)
        return replace(summary, feature_names=None if names is None else tuple(names))

    def _fitted_machine(self) -> ClusterMachine:
        """SVM of the clusters; raises before there is one."""
        check_is_fitted(self, "summary_")
        if self._machine is None:
            raise NotFittedError(
                f"This {type(self).__name__} has seen rows of one class "
                f"({self.classes_.tolist()[0]!r}) and nothing to tell it from. Call "
                "partial_fit with rows of another class, or give all classes to the "
                "first call."
            )
        return self._machine

    def _class_index(self) -> NDArray[np.intp]:
        return np.searchsorted(self.classes_, np.asarray(self.summary_.label))

    def _learn(self, clock: StageClock) -> ClusterMachine:
        """Section 2.2.2."""
        class_index = self._class_index()
        penalty = self.C * self._penalty_weight(
            self.classes_[class_index], class_index, self.summary_.weight
        )
        tasks = make_tasks(class_index, len(self.classes_), self.multi_class)
        kernel = ClusterKernel(self.kernel_form, self._gamma())
        with clock.stage("learn"):
            machine = learn_clusters(
                self.summary_, tasks, kernel, penalty, self._options(clock), self.n_jobs
            )
        check_solution(machine.endings, self)
        return machine

    def _options(self, clock: StageClock) -> KernelOptions:
        return KernelOptions(
            tol=self.tol, max_iter=int(self.max_iter), deadline=clock.deadline
        )

    def _gamma(self) -> float:
        if self.gamma == "auto":
            return 1.0 / self.summary_.n_features
        if self.gamma == "scale":
            summary = self.summary_
            return scale_gamma(summary.mean, summary.weight, _within(summary))
        return float(self.gamma)

    def _decide(self, X: Any) -> NDArray[Any]:
        machine, n_classes = self._fitted_machine(), len(self.classes_)
        if len(machine.pairs) == 0:
            return _constant(int(self._class_index()[0]), n_classes, X)
        scores = machine.score(machine.decide(X, self.n_jobs), n_classes)
        return narrowed(scores, X.dtype)


def narrowed(scores: NDArray[np.float64], dtype: Any) -> NDArray[Any]:
    """Scores in the type of the rows; the paper's form may be beyond float32."""
    largest = np.finfo(dtype).max
    return np.clip(scores, -largest, largest).astype(dtype)


def can_stream(model: BaseSupportClusterSVC) -> bool:
    """Whether ``partial_fit`` can continue from the clusters; raises if not."""
    if isinstance(model._clusterer(), ThresholdClustering):
        return True
    raise AttributeError(
        "partial_fit goes on from the clusters of earlier rows, which needs "
        "clusterer=None or a ThresholdClustering. Got clusterer="
        f"{type(model.clusterer).__name__} instead."
    )


def _within(summary: GaussianSummary) -> float:
    """Variance of the rows of a cluster, summed over columns, on average over rows."""
    if summary.covariance is None:
        return 0.0
    variance = np.asarray(summary.with_covariance("diag").covariance)
    return float(summary.weight @ variance.sum(axis=1) / summary.weight.sum())


def _constant(only: int, n_classes: int, X: Any) -> NDArray[Any]:
    """Scores where no row but those of one class had a weight."""
    if n_classes == 2:
        return np.full((X.shape[0], 1), 2.0 * only - 1.0, dtype=X.dtype)
    scores = np.full((X.shape[0], n_classes), -1.0, dtype=X.dtype)
    scores[:, only] = 1.0
    return scores
