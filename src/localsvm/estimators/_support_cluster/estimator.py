"""Support Cluster Machine: an SVM whose training units are Gaussian clusters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from localsvm._checks import (
    check_parameters,
    check_squares,
    class_weights,
    integer,
    one_of,
    real,
    unchanged_on_failure,
    with_methods,
)
from localsvm._clock import StageClock
from localsvm._threads import effective_n_jobs
from localsvm.cluster import GaussianSummary, summarize_classes
from localsvm.engine import MemoryNeed, Partitions, is_partitioned
from localsvm.estimators._support_cluster.blocks import (
    finish_merging,
    merge_parts,
    summarize_part,
    wanted_clusters,
)
from localsvm.estimators._support_cluster.steps import (
    BaseSupportClusterSVC,
    can_stream,
    narrowed,
)
from localsvm.rows import Rows

# The table that is read, the rows made of it, and the distinct rows of a class; as much
# again is what the allocator keeps of arrays that are gone.
_COPIES = 6.0
# Clusters that are merged, as a multiple of those of a partition: both sides, what
# they are joined to, and what the reduction makes of it.
_SUMMARIES = 64


class SupportClusterSVC(BaseSupportClusterSVC):
    r"""An SVM on Gaussian clusters instead of rows (Support Cluster Machine, SCM).

    Each class is compressed to at most ``n_clusters`` Gaussians, and an SVM is learned
    on those, with a kernel between Gaussians and a penalty in proportion to the rows
    that a cluster stands for. For data that come as a stream, or from parties that
    share summaries and no rows (:mod:`localsvm.federated`); for many rows whose classes
    overlap little. Learning and prediction cost the same whatever the number of rows.

    .. math::

        \max_\alpha \sum_k \alpha_k - \tfrac12 \sum_{k,l} \alpha_k \alpha_l y_k y_l
        \kappa(\Theta_k, \Theta_l), \quad
        0 \le \alpha_k \le C P_k, \quad \sum_k \alpha_k y_k = 0
        \qquad (3, 7)

    Parameters
    ----------
    n_clusters : int, default=200
        Clusters of each class, at most. More are more accurate; learning costs their
        square.
    clusterer : clusterer, mixture model or None, default=None
        None is :class:`~localsvm.cluster.ThresholdClustering`, one pass over the rows
        with a growing threshold. Any other clusterer of scikit-learn's kind has its own
        number of clusters; a :class:`~sklearn.mixture.GaussianMixture` shares rows
        among its components. A copy is fitted to each class.
    covariance : {"diag", "full", "none"}, default="diag"
        What of a cluster's spread is used. "none" is an SVM on weighted centroids.
    kernel_form : {"expected_rbf", "paper"}, default="expected_rbf"
        The RBF kernel on average over the rows of two clusters, or the printed
        probability product kernel; see Notes.
    C : float, default=2000.0
        Penalty of all rows together: that of one of n rows is C / n, so C = n is
        ``SVC(C=1)``. Good values lie between 1e3, where classes overlap, and 1e5, where
        they hardly do, whatever the number of rows.
    gamma : float, "scale" or "auto", default="scale"
        Width of the kernel, as in :class:`~sklearn.svm.SVC`.
    multi_class : {"ovo", "ovr"}, default="ovo"
        An SVM per pair of classes or per class; all share one kernel matrix.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Scores of classes or, with ``multi_class="ovo"``, decisions of pairs, as in
        :class:`~sklearn.svm.SVC`.
    class_weight : dict, "balanced" or None, default=None
    tol : float, default=1e-3
        Largest violation of the optimality conditions. 0 is as small as the rounding of
        the numbers allows.
    max_iter : int, default=1_000_000
        Steps of the solver per SVM; -1 is ten million, or 100 per cluster if that is
        more.
    max_time : float or None, default=None
        Seconds for clustering and learning. Clustering is not cut short, the solver is.
    random_state : int, RandomState instance or None, default=None
        Chooses the order in which ``fit`` gives rows to the clusterer.
    n_jobs : int or None, default=None
        Threads; they do not change the model.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    summary_ : GaussianSummary
        The training clusters, with their labels.
    n_regions_ : int
        Number of clusters.
    region_sizes_ : ndarray of shape (n_regions,)
        Weight of the rows of each cluster.
    region_class_counts_ : ndarray of shape (n_regions, n_classes)
        The same in the column of the cluster's class.
    support_ : ndarray of shape (n_support,)
        Support clusters, as indices into those of ``summary_``.
    support_weights_ : ndarray of shape (n_tasks, n_support)
        Signed duals :math:`\alpha_k y_k` of the support clusters in every SVM.
    intercept_ : ndarray of shape (n_tasks,)
    n_support_ : ndarray of shape (n_classes,)
        Support clusters of each class.
    gamma_ : float
        gamma as used.
    log_scale_ : float
        Logarithm of the factor by which the kernel was divided; its size tells how far
        the paper's form is from numbers that can be computed with.
    duality_gap_ : float
        Worst relative duality gap.
    violation_ : float
        Largest violation of the optimality conditions.
    n_iter_ : int
        Most steps of an SVM.
    fit_report_ : dict
        Seconds per stage.
    feature_range_ : ndarray of shape (2, n_features)
        Smallest and largest value of each column; only of rows in memory.
    integer_features_ : ndarray of shape (n_features,)
        Whether all values of a column are integers; only of rows in memory.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    localsvm.federated.merge : Summaries of several parties for ``fit_summaries``.
    StagedSVC : More accurate where all rows are at hand.

    Notes
    -----
    With n rows, K clusters in all and d columns, ``fit`` costs O(n n_clusters d) for
    the threshold clustering, O(K² d) for the kernel (d³ instead of d with full
    covariances), and a few steps of O(K) per support cluster. A prediction costs O(K d)
    by two matrix products. Columns beyond a hundred are better reduced first, e.g. by
    :class:`~sklearn.decomposition.PCA`.

    Two rows of a cluster are never told apart, so the number of clusters limits the
    accuracy; and few clusters with a large C fit each other rather than the rows:
    choose C and gamma on held-out rows.

    What was corrected. Equation 12 compares a query, which has no spread, with clusters
    that have all of it, while Theorem 2 gives both the same; the printed kernel also
    counts the prior P twice, in the kernel and in the penalty; and in many dimensions
    its values span more than floating point numbers do. The default smooths clusters
    and queries alike and keeps the prior in the penalty alone:

    .. math::

        \kappa(\Theta_k, \Theta_l) = E\, e^{-\gamma \|u - v\|^2},
        \quad u \sim \Theta_k,\ v \sim \Theta_l

    Clusters of one row are then exactly the RBF SVM. ``kernel_form="paper"`` is Eq. 6
    or 8 with Eq. 11 or 12: clusters are smoothed by :math:`1 / (4 \gamma)`, queries are
    not; the kernel is divided by its largest value, so C is in proportion to that.

    References
    ----------
    B. Li, M. Chi, J. Fan, X. Xue. Support cluster machine. ICML 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from localsvm import SupportClusterSVC
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X / 16
    >>> model = SupportClusterSVC(30, random_state=0).fit(X[:1300], y[:1300])
    >>> model.summary_.n_clusters < 300, model.score(X[1300:], y[1300:]) > 0.93
    (True, True)

    The same from a stream:

    >>> stream = SupportClusterSVC(30)
    >>> for start in range(0, 1300, 100):
    ...     batch = slice(start, start + 100)
    ...     stream = stream.partial_fit(X[batch], y[batch])
    >>> stream.score(X[1300:], y[1300:]) > 0.93
    True
    """

    def __init__(
        self,
        n_clusters: int = 200,
        *,
        clusterer: Any = None,
        covariance: str = "diag",
        kernel_form: str = "expected_rbf",
        C: float = 2000.0,
        gamma: float | str = "scale",
        multi_class: str = "ovo",
        decision_function_shape: str = "ovr",
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1_000_000,
        max_time: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.clusterer = clusterer
        self.covariance = covariance
        self.kernel_form = kernel_form
        self.C = C
        self.gamma = gamma
        self.multi_class = multi_class
        self.decision_function_shape = decision_function_shape
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs

    @available_if(can_stream)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add rows of a stream to the summary, and learn the SVM of its clusters.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All classes that will come. Without it, from the first call on, a class may
            turn up in any call.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
            If it fails or is interrupted, the estimator is left as it was.

        Notes
        -----
        Rows are taken in their order and none is kept: memory is O(K d). The clusters
        of an earlier ``fit`` or ``fit_summaries`` are continued. Every call learns an
        SVM of the clusters, so large batches cost less per row. There is none to
        predict with as long as all rows are of one class and ``classes`` is not given.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            X, y, weight = self._check_batch(X, y, sample_weight)
            self._extend_classes(y, classes)
            spent = getattr(self, "fit_report_", {}).get("cluster", 0.0)
            clock = StageClock(self.max_time, seconds={"cluster": spent})
            with clock.stage("cluster"):
                self._add_batch(X, y, weight)
            self._machine = self._learn(clock) if len(self.classes_) > 1 else None
            self.fit_report_ = clock.seconds
        return self

    def fit_summaries(
        self, summaries: GaussianSummary | Sequence[GaussianSummary]
    ) -> Self:
        """Learn from given summaries instead of rows.

        Parameters
        ----------
        summaries : GaussianSummary, object with one as ``summary``, or sequence of them
            With labels, at least two different ones, and at least the covariances that
            ``covariance`` asks for. Their order does not matter.

        Returns
        -------
        self : object
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            several = summaries if isinstance(summaries, Sequence) else [summaries]
            parts = [getattr(part, "summary", part) for part in several]
            summary = GaussianSummary.concatenated(parts)
            if summary.label is None:
                raise ValueError(
                    "The summaries have no labels; expected one a cluster."
                )
            summary.check_covariance()
            self._take_columns(summary.n_features, summary.feature_names)
            self.classes_ = np.unique(summary.label)
            self.summary_ = summary.with_covariance(self.covariance).ordered()
            self._begin()
            clock = StageClock(self.max_time)
            self._machine = self._learn(clock)
            self.fit_report_ = clock.seconds
        return self

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Signed confidence of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or partitions
            As in ``predict``.

        Returns
        -------
        scores : ndarray of shape (n_samples,), (n_samples, n_classes) or \
                (n_samples, n_pairs)
            For two classes, positive means ``classes_[1]``. Pairs are in the order (0,
            1), (0, 2), ..., (1, 2), ...; positive speaks for the first of a pair, and 0
            stands where a class has no clusters.
        """
        if self.decision_function_shape == "ovr" or is_partitioned(X):
            return super().decision_function(X)
        rows = self._check_query_rows(X)
        if len(self.classes_) == 2:
            return self._decide(rows).ravel()
        machine = self._fitted_machine()
        decisions = np.zeros((rows.shape[0], len(self.classes_), len(self.classes_)))
        negative, positive = machine.pairs.T
        decisions[:, negative, positive] = -machine.decide(rows, self.n_jobs)
        upper = np.triu_indices(len(self.classes_), 1)
        return narrowed(decisions[:, *upper], rows.dtype)

    def _score_names(self) -> list[Any] | None:
        if self.decision_function_shape == "ovr" or len(self.classes_) == 2:
            return super()._score_names()
        return list(combinations(self.classes_.tolist(), 2))

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            n_clusters=integer(1),
            clusterer=one_of(None) | with_methods("fit"),
            covariance=one_of("diag", "full", "none"),
            kernel_form=one_of("expected_rbf", "paper"),
            C=real(0),
            gamma=real(0) | one_of("scale", "auto"),
            multi_class=one_of("ovo", "ovr"),
            decision_function_shape=one_of("ovr", "ovo"),
            class_weight=class_weights(),
            tol=real(0, closed="left"),
            max_iter=integer(1) | one_of(-1),
            max_time=one_of(None) | real(0),
        )
        if self.decision_function_shape == "ovo" and self.multi_class == "ovr":
            raise ValueError(
                "decision_function_shape='ovo' needs the SVMs of pairs that "
                "multi_class='ovo' learns. Got multi_class='ovr' instead."
            )

    def _fit(self, rows: Rows) -> None:
        """Section 2.2: cluster each class, then learn on the clusters."""
        check_squares(rows.X)
        clock = StageClock(self.max_time)
        with clock.stage("cluster"):
            self.summary_ = self._named(
                summarize_classes(
                    self._clusterer(),
                    rows.X,
                    self.classes_[rows.class_index],
                    sample_weight=rows.sample_weight,
                    covariance=self.covariance,
                    seed=self._draw_seed(),
                    n_jobs=self.n_jobs,
                )
            )
        self._begin()
        self._machine = self._learn(clock)
        self.fit_report_ = clock.seconds

    def _fit_partitions(self, rows: Partitions) -> None:
        """Section 2.2 with the clusters of each partition, merged."""
        rows.require_memory(self._memory(rows.source.n_features))
        clock = StageClock(self.max_time)
        seed = rows.seed(self._draw_seed)
        clusterer = self._clusterer()
        with clock.stage("cluster"):
            found = rows.reduce(
                summarize_part,
                partial(merge_parts, wanted=wanted_clusters(clusterer), seed=seed),
                clusterer,
                self.covariance,
                seed,
                stage="summary",
            )
            summary = finish_merging(found, seed)
        self._warn_of_scales(np.stack([found["low"], found["high"]]))
        self.classes_ = found["classes"]
        self.summary_ = self._named(summary)
        self._require_memory_to_learn(rows)
        self._begin()
        self._machine = self._learn(clock)
        self.fit_report_ = clock.seconds

    def _memory(self, n_features: int) -> MemoryNeed:
        """Say what a partition of two classes takes, as more are not known of yet."""
        per_cluster = {"none": 1, "diag": 2, "full": 1 + n_features}[self.covariance]
        clusters = 2 * getattr(self.clusterer, "n_clusters", self.n_clusters)
        fixed = 8.0 * _SUMMARIES * clusters * per_cluster * n_features
        return MemoryNeed(copies=_COPIES, bytes_per_row=100.0, fixed=fixed)

    def _require_memory_to_learn(self, rows: Partitions) -> None:
        """Refuse a kernel matrix, with its parts that are solved at once, beyond it."""
        n_clusters = self.summary_.n_clusters
        matrices = 1 + effective_n_jobs(self.n_jobs)
        rows.require_memory_here(
            MemoryNeed(copies=0.0, bytes_per_row=8.0 * n_clusters * matrices),
            n_clusters,
            f"The kernel matrix of {n_clusters:,} clusters",
            "Use fewer clusters (n_clusters) or allow more memory.",
        )
