"""Support Cluster Machine: an SVM whose training units are Gaussian clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from localsvm._checks import (
    check_parameters,
    check_rows,
    check_sample_weight,
    check_squares,
    class_weights,
    exact_range,
    integer,
    one_of,
    real,
    unchanged_on_failure,
    with_methods,
)
from localsvm._clock import StageClock
from localsvm.cluster import GaussianSummary, ThresholdClustering
from localsvm.engine import Block, Blocks
from localsvm.estimators._base import BaseLocalClassifier, check_solution
from localsvm.estimators._support_cluster.fit import (
    MAX_STEPS,
    FitOptions,
    SupportClusterFit,
    SupportClusterSettings,
    extend_support_clusters,
    fit_support_clusters,
    learn_summary,
)
from localsvm.estimators._support_cluster.model import ClusterMachine
from localsvm.estimators._support_cluster.stream import can_stream


class SupportClusterSVC(BaseLocalClassifier):
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
    tol : float, default=1e-3
        Largest violation of the optimality conditions. 0 is as small as the rounding of
        the numbers allows.
    max_iter : int or None, default=None
        Steps of the solver per SVM. None is a million.
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

    The same from a stream:

    >>> stream = SupportClusterSVC(30)
    >>> for start in range(0, 1300, 100):
    ...     batch = slice(start, start + 100)
    ...     stream = stream.partial_fit(X[batch], y[batch])
    >>> stream.score(X[1300:], y[1300:]) > 0.93
    True
    """

    _takes_metric = False

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
        tol: float = 1e-3,
        max_iter: int | None = None,
        max_time: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        kernel_form: str = "expected_rbf",
    ) -> None:
        self.n_clusters = n_clusters
        self.C = C
        self.gamma = gamma
        self.clusterer = clusterer
        self.covariance = covariance
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.kernel_form = kernel_form

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
            fit = extend_support_clusters(
                start, batch, self._settings(), options, classes
            )
            self._finish(fit, options)
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
            options = self._options()
            whole = summary.with_covariance(self.covariance).ordered()
            self._finish(learn_summary(whole, self._settings(), options), options)
        return self

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
        machine, rows = self._fitted_machine(), self._check_query_rows(X)
        regions, shares = machine.shares(rows, self.summary_)
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
            ``coef[i] @ X[i] + intercept[i]`` is the decision value of row i.
        """
        X, machine = self._check_query_rows(X), self._fitted_machine()
        return self._touching(X, machine.gradients(X, len(self.classes_)))

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

    def _fit_partitions(self, rows: Blocks) -> None:
        """Section 2.2: cluster each class, then learn on the clusters."""
        options = self._options(seed=rows.seed(self._draw_seed))
        classes = self.classes_ if rows.is_in_memory else None
        fit = fit_support_clusters(rows, self._settings(), options, classes)
        if not rows.is_in_memory:
            self._warn_of_scales(fit.ends)
        self._finish(fit, options)

    def _settings(self) -> SupportClusterSettings:
        return SupportClusterSettings(
            clusterer=self._clusterer(),
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

    def _clusterer(self) -> Any:
        if self.clusterer is None:
            return ThresholdClustering(self.n_clusters)
        return self.clusterer

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
            low, high = np.stack([self.feature_range_, ends], axis=1)
            self.feature_range_ = np.stack([low.min(axis=0), high.max(axis=0)])
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
        names = None if names is None else tuple(names)
        self.summary_ = replace(fit.summary, feature_names=names)
        self.classes_ = fit.classes
        self.fit_report_ = seconds
        self._streams, self._classes_named = dict(fit.streams), fit.classes_named
        self._machine = fit.machine
        self.n_regions_ = fit.summary.n_clusters
        self.region_sizes_ = fit.summary.weight
        class_index = self._class_index()
        of_class = np.arange(len(fit.classes)) == class_index[:, np.newaxis]
        self.region_class_counts_ = of_class * self.region_sizes_[:, np.newaxis]
        if fit.machine is not None:
            self._store_machine(fit.machine, class_index)

    def _store_machine(
        self, machine: ClusterMachine, class_index: NDArray[np.intp]
    ) -> None:
        self.support_ = machine.support
        self.dual_coef_ = machine.duals
        self.intercept_ = machine.intercept
        own = class_index[machine.support]
        self.n_support_ = np.bincount(own, minlength=len(self.classes_))
        self.C_ = machine.C
        self.gamma_ = machine.kernel.gamma
        self.log_scale_ = machine.log_scale
        self.duality_gap_ = float(machine.relative_gap.max(initial=0.0))
        self.violation_ = float(machine.endings.violation.max(initial=0.0))
        self.n_iter_ = int(machine.n_iter.max(initial=1))

    def _class_index(self) -> NDArray[np.intp]:
        return np.searchsorted(self.classes_, np.asarray(self.summary_.label))

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

    def _has_votes(self, region: int | None) -> bool:
        return len(self.classes_) > 2 and self.multi_class == "ovo"

    def _region_points(self) -> NDArray[Any]:
        return np.asarray(self.summary_.mean)

    def _region_centers(self) -> NDArray[Any]:
        return self._region_points()

    def _decide(self, X: Any) -> NDArray[Any]:
        machine, first = self._fitted_machine(), int(self._class_index()[0])
        return machine.class_scores(X, first, len(self.classes_), self.n_jobs)
