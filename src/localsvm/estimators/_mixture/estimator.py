"""Mixture of linear support vector machines (Fu, Robles-Kelly & Zhou 2010)."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from localsvm._checks import (
    NOT_FINITE,
    boolean,
    check_parameters,
    class_weights,
    integer,
    level_of_caller,
    one_of,
    real,
    with_methods,
)
from localsvm._clock import StageClock
from localsvm.engine import Blocks
from localsvm.estimators._base import BaseLocalClassifier
from localsvm.estimators._metric import require_no_metric
from localsvm.estimators._mixture.fit import MixtureFit, fit_mixture, survey_rows
from localsvm.estimators._mixture.queries import MixtureQueries
from localsvm.estimators._mixture.settings import (
    GATES,
    MAX_PASSES,
    FitOptions,
    MixtureSettings,
    PaperGate,
    SoftmaxGate,
    gate_of,
)
from localsvm.exceptions import DataError


class MixtureSVC(MixtureQueries, BaseLocalClassifier):
    r"""A few linear SVMs, a soft gate that chooses among them, fitted together by EM.

    Each row belongs to every component with a share that the gate gives. In turn, the
    linear SVM of each component learns from the rows that it is responsible for, and
    the gate learns which component is responsible where. Use it where a prediction must
    cost only a handful of dot products and the borders between regions are soft:
    prediction costs 2 K of them for K components, whatever the number of rows. Training
    costs about twenty rounds of K linear SVMs and a softmax regression;
    :class:`ClusteredSVC` trains faster.

    With ``gate="softmax"``, the default, component j has the share
    :math:`g_j(x) = \mathrm{softmax}_j(a_j \cdot x + b_j)` and

    .. math::

        P(y \mid x) \propto \sum_j g_j(x)\, e^{-\max(0,\, 1 - y f_j(x))}, \quad
        f_j(x) = w_j \cdot x + c_j

    is maximised with the prior :math:`e^{-\|w_j\|^2 / (2 C)}` of every SVM. With
    ``gate="paper"`` it is the model that [1]_ prints.

    Parameters
    ----------
    n_regions : int, default=10
        Number of components at the start, an upper bound.
    gate : {"softmax", "paper"}, SoftmaxGate or PaperGate, default="softmax"
        "softmax" is :class:`~localsvm.estimators.SoftmaxGate` with its defaults: the
        prior is inside the gate, and its M-step is convex. "paper" is
        :class:`~localsvm.estimators.PaperGate`, the printed one. The objects have the
        parameters of the gate, such as two levels.
    C : float or "scale", default="scale"
        Penalty of a margin error. "scale" is 10 divided by the mean squared norm of the
        rows; with the other defaults the model then does not depend on the unit of
        measurement.
    prior : float, default=1e-3
        :math:`\nu` of Eq. 18 to 20 as a share of all rows: what is taken from the mass
        of a component in every step. The larger, the fewer components: those whose mass
        it uses up are dropped.
    em_tol : float, default=1e-4
        EM stops when the log-likelihood rises by less per row.
    em_max_iter : int, default=30
        EM steps.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the sample weights by class; does not affect the start clusters.
    clusterer : clusterer with ``fit`` and ``predict``, or None, default=None
        Gives the centres of the start. None is
        :class:`~localsvm.cluster.SampledKMeans`.
    metric : transformer or None, default=None
        Maps the rows before all else, as in :class:`ClusteredSVC`.
    max_time : float or None, default=None
        Seconds for the fit after the metric; the step at hand is completed, its gate
        and SVMs are cut short.
    random_state : int, RandomState instance or None, default=None
        Seeds the clusters, the rows set aside and the order of the rows in the solver.
    n_jobs : int or None, default=None
        Threads, over rows, components and classes. Results do not depend on it.

    Other Parameters
    ----------------
    min_responsibility : float, default=0.01
        The SVM of a component does not see rows for which its responsibility is
        smaller.
    validation_fraction : float, default=0.1
        Share of the rows to set aside.
    n_iter_no_change : int, default=5
        EM steps without improvement after which to stop.
    fit_intercept : bool, default=True
        Whether rows get a constant column. The intercept is penalised like a weight.
    intercept_scaling : float or "scale", default="scale"
        Value of that constant. "scale" is the root mean squared norm of the rows.
    early_stopping : bool or "auto", default="auto"
        Whether to set rows aside, stop when they are no longer classified better, and
        keep the best step. "auto" does so above 10,000 rows.
    tol : float, default=1e-2
        Relative duality gap at which the SVMs of an EM step stop.
    max_iter : int or None, default=None
        Passes of an SVM in an EM step; None is 200.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_regions_ : int
        Components that are left.
    coef_ : ndarray of shape (n_regions, n_tasks, n_features)
        Weights of the SVMs; one task for two classes, one per class otherwise. They and
        ``gate_coef_`` are weights of the columns of X.
    intercept_ : ndarray of shape (n_regions, n_tasks)
    gate_coef_ : ndarray of shape (n_regions, n_features)
        Slopes of the gate's logits; with two levels, those of the groups come first.
    gate_intercept_ : ndarray of shape (n_regions,)
    component_mass_ : ndarray of shape (n_regions,)
        Sum of the responsibilities of each component.
    region_sizes_ : ndarray of shape (n_regions,)
        Training rows for which it is most responsible.
    region_class_counts_ : ndarray of shape (n_regions, n_classes)
        Those rows by class, by sample weight.
    history_ : dict of ndarrays
        One entry per EM step, the start first: "log_likelihood" (Eq. 8, priors
        included), "accuracy" on the training rows, "validation_accuracy" with early
        stopping, "n_regions", "seconds", and of these "expect_seconds",
        "gate_seconds" and "solve_seconds".
    n_em_steps_ : int
        EM steps that were done.
    em_step_ : int
        The EM step that was kept; the start is 0.
    converged_ : bool
        Whether ``em_tol`` was reached.
    C_, tau_ : float
        Penalty and sharpness used.
    intercept_scaling_ : float
        The constant appended to the rows, 0 without intercept.
    duality_gap_ : float
        Largest relative duality gap of the last SVMs.
    n_iter_ : int
        Most passes that one of the last SVMs took.
    n_support_ : ndarray of shape (n_classes,)
        Support vectors of each class: rows with a non-zero dual in any of the last
        SVMs.
    metric_ : object or None
        The fitted metric.
    clusterer_ : object
        The fitted clusterer of the start.
    fit_report_ : dict
        Seconds of the stages "metric" (only of rows in memory), "scan", "write",
        "cluster", "expect", "gate" and "solve".
    feature_range_ : ndarray of shape (2, n_features)
        Smallest and largest value of each column; only of rows in memory.
    integer_features_ : ndarray of shape (n_features,)
        Whether all values of a column are integers; only of rows in memory.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    ClusteredSVC : One convex problem; more accurate per second of training.
    sklearn.svm.LinearSVC : One linear SVM; what a single component is.

    Notes
    -----
    Algorithm of Figure 2. Start: k-means, one linear SVM per cluster; a cluster of one
    class gets that constant. E-step: Eq. 11. M-step: the gate by L-BFGS on all
    components jointly, the SVMs by dual coordinate descent with the bounds
    :math:`C q_{ij}`, from the duals of the step before, each the same share of its
    bound. A weight vector or gate that would lower the likelihood is not taken, so that
    it never falls while the number of components is constant and ``prior`` is 0 (up to
    the rows below ``min_responsibility``).

    The printed paper is corrected as follows. (i) Its prior stands outside a gate that
    is normalised already, so that Eq. 6 is no mixture and the likelihood prefers one
    component; the softmax gate has the prior in :math:`b_j`. (ii) Its "RBF gate" is a
    linear softmax, as :math:`\|x\|^2` cancels. (iii) Eq. 13 is minimised jointly;
    Eq. 14 has the factor :math:`2 \tau`. (iv) The exponents of Eq. 21 are negative:
    :math:`e^{-\max(0, 1 - f)} - e^{-\max(0, 1 + f)}`. (v) Eq. 20 keeps the heaviest
    component when :math:`\nu` would take all. With the softmax gate the lightest is
    dropped alone, and the rest may live on its rows: ten components of equal mass would
    else vanish together. There the rule of Eq. 20 acts on the targets: those of
    component j are scaled to sum to its mass minus :math:`\nu`.

    Several classes share one gate: a component has an SVM of each class against the
    rest and the loss of a label is the sum of theirs. One gate per class is
    ``OneVsRestClassifier(MixtureSVC())``, which starts from the same clusters.

    Cost of an EM step: about twice the gate's ``steps`` matrix products of n d K for
    the gate, and a few passes over each component's rows for the SVMs. Memory above the
    input: K numbers per row, and a dual per class, row and component above
    ``min_responsibility``.

    The fit goes over blocks of rows; an array in memory is one block. Blocks on disk
    are read twice: once to scan them and to draw the k-means sample, once to write them
    to files, those set aside apart. An EM step reads these files once for the E-step,
    about twice the gate's ``steps`` for the gate (for each gate of two levels), and for
    the SVMs of every component a few times twice, by selective block minimisation until
    the duality gap over all blocks is below ``tol``. Formulas, sample and rows set
    aside are those in memory; the SVMs are others within ``tol``, and so are the steps.
    Memory holds one block, with about 4 K numbers per row, and about 400 MB at most for
    the rows of a solve. The disk holds the rows, 2 K numbers per row, and two duals per
    class, row and component. ``max_iter`` counts passes over the blocks, in which rows
    of float32 reach gaps of about 1e-5. ``clusterer`` is fitted to the sample
    (:class:`~localsvm.cluster.ParallelKMeans` to all rows) and must have
    ``cluster_centers_``; ``metric`` must be None.

    References
    ----------
    .. [1] Fu, Z., Robles-Kelly, A. and Zhou, J. (2010). Mixing linear SVMs for
       nonlinear classification. IEEE Transactions on Neural Networks 21(12):1963-1975.

    Examples
    --------
    >>> from localsvm import MixtureSVC
    >>> from localsvm.data import make_xor
    >>> X, y = make_xor(400, random_state=0)
    >>> model = MixtureSVC(n_regions=4, random_state=0).fit(X, y)
    >>> model.score(*make_xor(4000, random_state=1)) > 0.97
    True
    >>> model.gates(X).shape
    (400, 4)
    """

    def __init__(
        self,
        n_regions: int = 10,
        *,
        gate: str | SoftmaxGate | PaperGate = "softmax",
        C: float | str = "scale",
        prior: float = 1e-3,
        em_tol: float = 1e-4,
        em_max_iter: int = 30,
        class_weight: Any = None,
        clusterer: Any = None,
        metric: Any = None,
        max_time: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        min_responsibility: float = 1e-2,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        fit_intercept: bool = True,
        intercept_scaling: float | str = "scale",
        early_stopping: bool | str = "auto",
        tol: float = 1e-2,
        max_iter: int | None = None,
    ) -> None:
        self.n_regions = n_regions
        self.gate = gate
        self.C = C
        self.prior = prior
        self.em_tol = em_tol
        self.em_max_iter = em_max_iter
        self.class_weight = class_weight
        self.clusterer = clusterer
        self.metric = metric
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.min_responsibility = min_responsibility
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.early_stopping = early_stopping
        self.tol = tol
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            n_regions=integer(1),
            gate=GATES,
            C=real(0) | one_of("scale"),
            prior=real(0, 1, closed="left"),
            early_stopping=boolean() | one_of("auto"),
            em_tol=real(0, closed="left"),
            em_max_iter=integer(1),
            class_weight=class_weights(),
            clusterer=one_of(None) | with_methods("fit", "predict"),
            max_time=one_of(None) | real(0),
            min_responsibility=real(0, 1, closed="left"),
            validation_fraction=real(0, 1),
            n_iter_no_change=integer(1),
            fit_intercept=boolean(),
            intercept_scaling=real(0) | one_of("scale"),
            tol=real(0),
            max_iter=one_of(None) | integer(1),
        )
        gate_of(self.gate)._check_parameters()

    def _fit_blocks(self, blocks: Blocks) -> None:
        """Figure 2: start from clusters, then E-steps and M-steps in turn."""
        if not blocks.is_in_memory:
            require_no_metric(self)
            self.metric_ = None
        settings, options = self._settings(), self._fit_options(blocks)
        surveyed = survey_rows(blocks, settings, options)
        labels = self._accept(surveyed.survey.all_rows, blocks)
        fit = fit_mixture(blocks, surveyed, labels, settings, options)
        self._store(fit, options)

    def _settings(self) -> MixtureSettings:
        return MixtureSettings(
            n_regions=self.n_regions,
            gate=gate_of(self.gate),
            C=self.C,
            prior=self.prior,
            min_responsibility=self.min_responsibility,
            early_stopping=self.early_stopping,
            validation_fraction=self.validation_fraction,
            n_iter_no_change=self.n_iter_no_change,
            clusterer=self.clusterer,
            fit_intercept=self.fit_intercept,
            intercept_scaling=self.intercept_scaling,
        )

    def _fit_options(self, blocks: Blocks) -> FitOptions:
        return FitOptions(
            seed=blocks.seed(self._draw_seed),
            em_tol=self.em_tol,
            em_max_iter=self.em_max_iter,
            tol=self.tol,
            max_iter=MAX_PASSES if self.max_iter is None else self.max_iter,
            n_jobs=self.n_jobs,
            clock=StageClock(self.max_time),
        )

    def _store(self, fit: MixtureFit, options: FitOptions) -> None:
        """Set the fitted attributes, and warn of SVMs or EM that a limit cut short."""
        best, certificate = fit.best, fit.certificate
        if not certificate.is_finite:
            raise DataError(NOT_FINITE)
        self._model = best.model
        self.n_regions_ = best.model.n_components
        self.component_mass_ = best.mass
        self.region_sizes_ = best.sizes
        self.region_class_counts_ = best.class_counts
        self.history_ = fit.history
        self.n_em_steps_, self.em_step_ = fit.n_steps, best.step
        self.converged_ = fit.converged
        self.C_, self.intercept_scaling_ = fit.scales.C, fit.scales.intercept
        self.tau_ = fit.tau
        self.duality_gap_, self.n_iter_ = certificate.gap, certificate.n_iter
        self.n_support_ = fit.n_support
        self.clusterer_ = fit.clusterer
        self.fit_report_ = options.clock.seconds
        if fit.out_of_time:
            self._warn(f"EM stopped after max_time={self.max_time} seconds")
        elif certificate.n_unsolved:
            of = f"{certificate.n_unsolved} of {certificate.n_problems}"
            self._warn(
                f"{of} linear SVMs of the last EM step stopped at max_iter="
                f"{options.max_iter} (worst relative duality gap "
                f"{certificate.gap:.1e}, tol={self.tol})"
            )

    @staticmethod
    def _warn(problem: str) -> None:
        warnings.warn(
            f"{problem}. Scale the features, lower C, or allow more.",
            ConvergenceWarning,
            stacklevel=level_of_caller(),
        )
