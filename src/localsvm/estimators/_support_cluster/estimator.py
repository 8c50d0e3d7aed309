"""Support Cluster Machine: an SVM whose training units are Gaussian clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from localsvm._checks import (
    check_parameters,
    check_rows,
    check_sample_weight,
    check_squares,
    class_weights,
    integer,
    one_of,
    real,
    unchanged_on_failure,
    with_methods,
)
from localsvm._clock import StageClock
from localsvm._ranges import exact_range
from localsvm.cluster import GaussianSummary, class_clusterer
from localsvm.engine import Block, Blocks
from localsvm.estimators._base import BaseLocalClassifier
from localsvm.estimators._endings import check_solution
from localsvm.estimators._support_cluster.fit import (
    MAX_STEPS,
    FitOptions,
    SupportClusterFit,
    SupportClusterSettings,
    extend_support_clusters,
    fit_support_clusters,
    join_summaries,
    learn_summary,
)
from localsvm.estimators._support_cluster.queries import SupportClusterQueries
from localsvm.estimators._support_cluster.stream import can_stream
from localsvm.estimators._support_cluster.tested import TestedMixin


class SupportClusterSVC(SupportClusterQueries, TestedMixin, BaseLocalClassifier):
    r"""An SVM on Gaussian clusters instead of rows (Support Cluster Machine, SCM).

    Each class is compressed to at most ``n_clusters`` Gaussians, and an SVM is learned
    on those, with a kernel between Gaussians and a penalty in proportion to the rows
    that a cluster stands for. For data that come as a stream, or from parties that
    share summaries and no rows (:mod:`localsvm.federated`); for many rows whose classes
    overlap little. Learning and prediction cost the same whatever the number of rows.

    .. math::

        \max_\alpha \sum_k \alpha_k - \tfrac12 \sum_{k,l} \alpha_k \alpha_l y_k y_l
        \kappa(\Theta_k, \Theta_l), \quad
        0 \le \alpha_k \le C K P_k, \quad \sum_k \alpha_k y_k = 0
        \qquad (3, 7)

    Parameters
    ----------
    n_clusters : int, default=200
        Clusters of each class, at most. More are more accurate; learning costs their
        square.
    C : float or "scale", default="scale"
        Penalty of a cluster of mean weight; the others have more or less in proportion
        to their weights. Where each row is a cluster, it is C of
        :class:`~sklearn.svm.SVC`. "scale" is 10. Good values lie between 1, where
        classes overlap, and 300, where they hardly do.
    gamma : float, "scale" or "auto", default="scale"
        Width of the kernel, as in :class:`~sklearn.svm.SVC`.
    clusterer : clusterer, mixture model or None, default=None
        None is :class:`~localsvm.cluster.ThresholdClustering`, one pass over the rows
        with a growing threshold. Any other clusterer of scikit-learn's kind has its own
        number of clusters; a :class:`~sklearn.mixture.GaussianMixture` shares rows
        among its components. A copy is fitted to each class.
    covariance : {"diag", "full", "none"}, default="diag"
        What of a cluster's spread is used. "none" is an SVM on weighted centroids.
    multi_class : {"ovo", "ovr"}, default="ovo"
        An SVM per pair of classes or per class; all share one kernel matrix.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, a factor of the rows' weights.
    max_time : float or None, default=None
        Seconds for the whole fit. Clustering is not cut short, the solver is.
    random_state : int, RandomState instance or None, default=None
        Chooses the order in which ``fit`` gives rows to the clusterer.
    n_jobs : int or None, default=None
        Threads; they do not change the model.

    Other Parameters
    ----------------
    kernel_form : {"expected_rbf", "paper"}, default="expected_rbf"
        The RBF kernel on average over the rows of two clusters, or the printed
        probability product kernel; see Notes.
    tol : float, default=1e-3
        Largest violation of the optimality conditions. 0 is as small as the rounding of
        the numbers allows.
    max_iter : int or None, default=None
        Steps of the solver per SVM. None is a million.

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
    dual_coef_ : ndarray of shape (n_tasks, n_support)
        Signed duals :math:`\alpha_k y_k` of the support clusters in every SVM.
    intercept_ : ndarray of shape (n_tasks,)
    n_support_ : ndarray of shape (n_classes,)
        Support clusters of each class.
    C_, gamma_ : float
        C and gamma as used.
    log_scale_ : float
        Logarithm of the factor by which the kernel was divided.
    duality_gap_, violation_ : float
        Worst relative duality gap and largest violation of the optimality conditions.
    n_iter_ : int
        Most steps of an SVM.
    fit_report_ : dict
        Seconds per stage.
    feature_range_, integer_features_ : ndarray
        Smallest and largest value of each column, and whether all are integers; only of
        rows in memory.
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
    covariances), and a few steps of O(K) per support cluster; a prediction costs
    O(K d). Reduce columns beyond a hundred first, e.g. by
    :class:`~sklearn.decomposition.PCA`. Two rows of a cluster are never told apart, so
    the number of clusters limits the accuracy; few clusters with a large C fit each
    other rather than the rows. Choose C and gamma on held-out rows.

    Corrections. Equation 12 gives a query no spread, Theorem 2 that of the clusters;
    the printed kernel counts the prior P twice; in many dimensions its values leave the
    range of floating point numbers. The default smooths clusters and queries alike and
    has the prior only in the penalty:

    .. math::

        \kappa(\Theta_k, \Theta_l) = E\, e^{-\gamma \|u - v\|^2},
        \quad u \sim \Theta_k,\ v \sim \Theta_l

    Clusters of one row are then exactly the RBF SVM. ``kernel_form="paper"`` is Eq. 6
    or 8 with Eq. 11 or 12, divided by its largest value: clusters are smoothed by
    :math:`1 / (4 \gamma)`, queries are not. The paper's C is that of all rows together,
    K times ours.

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
    >>> for start in range(1300, 1700, 100):  # a stream
    ...     batch = slice(start, start + 100)
    ...     model = model.partial_fit(X[batch], y[batch])
    """

    def __init__(
        self,
        n_clusters: int = 200,
        *,
        C: float | str = "scale",
        gamma: float | str = "scale",
        clusterer: Any = None,
        covariance: str = "diag",
        multi_class: str = "ovo",
        class_weight: Any = None,
        max_time: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        kernel_form: str = "expected_rbf",
        tol: float = 1e-3,
        max_iter: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.C = C
        self.gamma = gamma
        self.clusterer = clusterer
        self.covariance = covariance
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.kernel_form = kernel_form
        self.tol = tol
        self.max_iter = max_iter

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
            batch = self._check_batch(X, y, sample_weight)
            start, options = self._fit_so_far(), self._options(streams=True)
            tested = self._test_before(batch)
            fit = extend_support_clusters(
                start, batch, self._settings(), options, classes
            )
            self._finish(fit, options)
            self._go_on_calibrating(tested)
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
            whole = join_summaries(summaries, self.covariance)
            self._take_columns(whole.n_features, whole.feature_names)
            self._forget_held_out()
            options = self._options()
            self._finish(learn_summary(whole, self._settings(), options), options)
        return self

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            n_clusters=integer(1),
            clusterer=one_of(None) | with_methods("fit"),
            covariance=one_of("diag", "full", "none"),
            kernel_form=one_of("expected_rbf", "paper"),
            C=real(0) | one_of("scale"),
            gamma=real(0) | one_of("scale", "auto"),
            multi_class=one_of("ovo", "ovr"),
            class_weight=class_weights(),
            tol=real(0, closed="left"),
            max_iter=one_of(None) | integer(1),
            max_time=one_of(None) | real(0),
        )

    def _fit_blocks(self, rows: Blocks) -> None:
        """Section 2.2: cluster each class, then learn on the clusters."""
        options = self._options(seed=rows.seed(self._draw_seed))
        classes = self.classes_ if rows.is_in_memory else None
        fit = fit_support_clusters(rows, self._settings(), options, classes)
        if not rows.is_in_memory:
            self._warn_of_scales(fit.ends)
        self._finish(fit, options)
        if rows.is_in_memory:
            self._calibrate(rows, fit, self._settings(), options)

    def _settings(self) -> SupportClusterSettings:
        return SupportClusterSettings(
            clusterer=class_clusterer(self.clusterer, self.n_clusters),
            C=self.C,
            covariance=self.covariance,
            kernel_form=self.kernel_form,
            gamma=self.gamma,
            multi_class=self.multi_class,
            class_weight=self.class_weight,
        )

    def _options(self, *, seed: int = 0, streams: bool = False) -> FitOptions:
        """Options of a fit; a stream adds to the seconds of earlier batches."""
        seconds = {}
        if streams and hasattr(self, "fit_report_"):
            seconds["cluster"] = self.fit_report_.get("cluster", 0.0)
        return FitOptions(
            seed=seed,
            tol=self.tol,
            max_iter=self.max_iter or MAX_STEPS,
            n_jobs=self.n_jobs,
            clock=StageClock(self.max_time, seconds=seconds),
        )

    def _check_batch(self, X: Any, y: Any, sample_weight: Any) -> Block:
        begins = not hasattr(self, "summary_")
        X, y = check_rows(self, X, y, reset=begins)
        check_classification_targets(y)
        check_squares(X)
        if begins:
            self._warn_of_scales(X)
        weight = check_sample_weight(sample_weight, X)
        ends, whole = exact_range(X, weight)
        if begins:
            self.feature_range_, self.integer_features_ = ends, whole
        elif hasattr(self, "feature_range_"):
            (low, high), (low_2, high_2) = self.feature_range_, ends
            both = np.minimum(low, low_2), np.maximum(high, high_2)
            self.feature_range_ = np.stack(both)
            self.integer_features_ = whole & self.integer_features_
        return Block(X, y, weight)

    def _fit_so_far(self) -> SupportClusterFit | None:
        if not hasattr(self, "summary_"):
            return None
        return SupportClusterFit(
            self.classes_,
            self.summary_,
            self._machine,
            self._streams,
            self._classes_named,
        )

    def _finish(self, fit: SupportClusterFit, options: FitOptions) -> None:
        self._store(fit, options.clock.seconds)
        if fit.machine is not None:
            check_solution(fit.machine.endings, self)

    def _store(self, fit: SupportClusterFit, seconds: dict[str, float]) -> None:
        """Set the fitted attributes; those of the SVMs once there are any."""
        names = getattr(self, "feature_names_in_", None)
        named = replace(fit.summary, feature_names=names)
        for name, value in replace(fit, summary=named).attributes().items():
            setattr(self, name, value)
        self._machine = fit.machine
        self._streams, self._classes_named = dict(fit.streams), fit.classes_named
        self.fit_report_ = seconds
