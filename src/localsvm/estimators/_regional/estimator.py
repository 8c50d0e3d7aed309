"""Clustered support vector machine (Gu & Han 2013)."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from localsvm._checks import check_parameters, integer, one_of, real
from localsvm.engine import Blocks
from localsvm.estimators._endings import check_solution
from localsvm.estimators._regional.base import BaseClusteredSVC
from localsvm.estimators._regional.bound import (
    GeneralizationBound,
    clustered_bound,
)
from localsvm.estimators._regional.fit import assign_regions
from localsvm.estimators._regional.leave_one_out import estimate_unseen
from localsvm.estimators._regional.model import RegionalFit
from localsvm.estimators._regional.solve import solve_regions
from localsvm.estimators._regional.updates import UpdatableRegional
from localsvm.rows import SCALED_C, Rows, intercept_constant


class ClusteredSVC(UpdatableRegional, BaseClusteredSVC):
    r"""Linear SVMs in the regions of a clustering, tied to a global weight vector.

    The rows are clustered, and each region gets a linear SVM that is drawn towards a
    shared weight vector. Use it where a linear SVM is too weak and a kernel SVM too
    slow: training costs about as much as a few linear SVMs, prediction a search among
    the centres and a few dot products, and every decision is linear in x near x.

    With ``n_nearest=1`` it is the clustered SVM of [1]_: row i has one region
    l(i), and Eq. 3 is solved exactly,

    .. math::

        \min_{w, w_l}\; \tfrac{\lambda}{2} \|w\|^2
        + \tfrac12 \sum_l \|w_l - w\|^2
        + C \sum_i \max(0,\, 1 - y_i\, w_{l(i)} \cdot x_i).

    With more, the default, row x belongs to its ``n_nearest`` centres
    with weights :math:`c(x) = \mathrm{softmax}(-\tau \|x - c_l\|^2)`, less 0.03 of the
    largest and at least zero, scaled to unit l2 norm, and is decided by
    :math:`w \cdot x + \sum_l c_l(x)\, v_l \cdot x` with :math:`v_l = w_l - w`; the
    penalty is the same. Boundaries no longer break at region
    borders, and accuracy comes close to that of a tuned RBF SVM.

    Parameters
    ----------
    n_regions : int or "auto", default="auto"
        Number of regions. "auto" is the square root of the number of distinct rows, at
        most one region per 20 of them. With a ``clusterer``, an int is set as its
        ``n_clusters`` if it has that parameter and "auto" leaves it as it is.
    C : float or "scale", default="scale"
        Penalty of a margin error. "scale" is 10 divided by the mean squared norm of the
        rows; with ``intercept_scaling="scale"`` the model then does not depend on the
        unit of measurement.
    n_nearest : int, default=8
        Regions per row. With 1, the region is the label that the clusterer predicts;
        with more, a row mixes its nearest ones.
    sharpness : float, default=2.0
        :math:`\tau` times the mean squared distance of a row to its nearest centre.
    global_reg : float, default=1.0
        :math:`\lambda`, the penalty of the global weight vector. ``inf`` removes it:
        with ``n_nearest=1``, independent SVMs per region (k-means + SVM).
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        Several classes: one against the rest, in parallel, or all classes in one
        problem, which asks that a row's own class leads by a margin of one. The latter
        needs ``n_nearest`` above 1 and the hinge loss.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the sample weights by class; does not affect the clustering.
    clusterer : clusterer with ``fit`` and ``predict``, or None, default=None
        None is :class:`~localsvm.cluster.SampledKMeans`. With ``n_nearest`` above 1,
        regions are its ``cluster_centers_``, or the mean of each of its clusters.
    metric : transformer or None, default=None
        Maps the rows before all else, queries too, e.g. :class:`GradientMetric`; a copy
        is fitted to the labels and weights of the training rows. Its ``random_state``
        is used unless it is None.
    max_time : float or None, default=None
        Seconds for the fit after the metric. The clustering is not cut short, the
        solver is, after its first pass.
    random_state : int, RandomState instance or None, default=None
        Seeds the clustering and the order of the rows in the solver.
    n_jobs : int or None, default=None
        Threads. Results do not depend on it. A two-class problem with coupled regions
        is solved on one thread, by Newton's method on all; classes, and independent
        regions, run in parallel.

    Other Parameters
    ----------------
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Of a margin error: the error, or its square, which is mostly as accurate or a
        little better, has smoother weights, and leaves more support vectors.
    fit_intercept : bool, default=True
        Whether rows get a constant column. The intercept is penalised like a weight.
    intercept_scaling : float or "scale", default="scale"
        Value of that constant. "scale" is the root mean squared norm of the rows.
    tol : float, default=1e-3
        Relative duality gap at which the solver stops.
    max_iter : int or None, default=None
        Passes of the solver over its active rows, or Newton steps; None is 1000.
    updatable : bool, default=False
        Whether to keep what :meth:`update` needs: the distinct rows once more, and
        about 60 + 8 ``n_nearest`` bytes for each, and 8 per task. The solver then goes
        to a quarter of ``tol``, so that single updates are cheap, and ``region_sizes_``
        and ``n_support_`` count distinct rows. With the squared hinge it ends with
        coordinate descent, since updates go on from duals. Only of rows in memory.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_regions, n_tasks, n_features)
        Weights w_l of a row that belongs to region l alone; one task for two classes,
        one per class otherwise. They and ``global_coef_`` are weights of the columns of
        X; a metric that does not map by ``X @ components_`` leaves none.
    intercept_ : ndarray of shape (n_regions, n_tasks)
    global_coef_ : ndarray of shape (n_tasks, n_features)
        The global weight vector w (Eq. 12 with ``n_nearest=1``).
    global_intercept_ : ndarray of shape (n_tasks,)
    C_ : float
        The penalty used.
    intercept_scaling_ : float
        The constant appended to the rows, 0 without intercept.
    metric_ : object or None
        The fitted metric.
    clusterer_ : object
        The fitted clusterer, in the space of the metric.
    regions_ : HardRegions or SoftRegions
        Assigns rows to regions.
    n_regions_ : int
    region_sizes_ : ndarray of shape (n_regions,)
        Training rows whose nearest region it is.
    region_class_counts_ : ndarray of shape (n_regions, n_classes)
        Those rows by class, by sample weight.
    duality_gap_ : float
        Largest relative duality gap, recomputed in float64.
    n_iter_ : int
        Most passes, or passes and Newton steps, that a problem took.
    n_support_ : ndarray of shape (n_classes,)
        Support vectors of each class: rows with a non-zero dual in any task.
    fit_report_ : dict
        Seconds of the stages "metric", "cluster", "assign" and "solve".
    feature_range_ : ndarray of shape (2, n_features)
        Smallest and largest value of each column; only of rows in memory.
    integer_features_ : ndarray of shape (n_features,)
        Whether all values of a column are integers; only of rows in memory.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    ClusteredSVCCV : Chooses C, global_reg and n_regions by cross-validation.
    sklearn.svm.LinearSVC : One linear SVM.
    sklearn.svm.SVC : Kernel SVM.

    Notes
    -----
    Solver: dual coordinate descent, or Newton's method for the squared hinge of dense
    rows of at most 300 columns where k (d + 1) is at most n: about ten steps of
    O(n d\ :sup:`2` + k d\ :sup:`3`) with one region per row, which is faster than the
    hinge; with more a few hundred products of O(m n d) on a copy of the rows, which
    is faster than descent but slower than the hinge. By descent, with one region per
    row a step costs one dot product and one update of length d whatever the number of
    regions k, because among the rows of one region only w + v_l changes; the paper
    states O(ndk) for a pass, it is O(nd). With m regions per row whose weight is not
    zero a step costs m + 1 of them.

    Clustering: k-means on at most ``max(10_000, 50 k)`` distinct rows in the dtype of
    X, one k-means++ start on ``max(1000, 5 k)`` of those, at most 20 iterations; then
    one pass assigns all rows. The sample depends on the content of the rows and on
    ``random_state``, not on their order.

    Memory above the input: the k-means sample, about 100 bytes per row (40 with
    ``n_nearest=1``), and k d numbers per class.

    Several classes share one clustering.

    Rows in blocks, such as files, are read twice: once to survey them and to draw the
    k-means sample, which is the same as in memory, and once to assign them and to store
    them in a temporary folder. Then every task, a class against the rest, passes over
    the stored rows by selective block minimisation [2]_ until its duality gap, summed
    over all rows, is at most ``tol``; ``n_iter_`` counts these passes. The model is
    that of the fit in memory, to the solver's tolerance. Reading, assignment and gap
    run on all threads or workers; a pass is one task per class, so that two classes, or
    several in one problem, are solved by one of them. A clusterer other than
    ``SampledKMeans`` is fitted to a sample of distinct rows, and ``ParallelKMeans`` by
    passes over all. A thread needs the memory of four blocks and about 400 MB; the
    folder holds the rows once more, their codes and two duals per row and task.

    References
    ----------
    .. [1] Gu, Q. and Han, J. (2013). Clustered support vector machines. AISTATS,
       PMLR 31:307-315.
    .. [2] Chang, M.-W. and Roth, D. (2011). Selective block minimization for faster
       convergence of limited memory large-scale linear models. KDD.

    Examples
    --------
    >>> from localsvm import ClusteredSVC
    >>> from localsvm.data import make_xor
    >>> X, y = make_xor(400, random_state=0)
    >>> model = ClusteredSVC(n_regions=4, random_state=0).fit(X, y)
    >>> model.score(*make_xor(4000, random_state=1)) > 0.97
    True
    >>> model.coef_.shape
    (4, 1, 2)
    """

    def __init__(
        self,
        n_regions: int | str = "auto",
        *,
        C: float | str = "scale",
        n_nearest: int = 8,
        sharpness: float = 2.0,
        global_reg: float = 1.0,
        multi_class: str = "ovr",
        class_weight: Any = None,
        clusterer: Any = None,
        metric: Any = None,
        max_time: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        loss: str = "hinge",
        fit_intercept: bool = True,
        intercept_scaling: float | str = "scale",
        tol: float = 1e-3,
        max_iter: int | None = None,
        updatable: bool = False,
    ) -> None:
        self.n_regions = n_regions
        self.C = C
        self.n_nearest = n_nearest
        self.sharpness = sharpness
        self.global_reg = global_reg
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.clusterer = clusterer
        self.metric = metric
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.updatable = updatable

    def _check_parameters(self) -> None:
        self._check_common_parameters()
        self._check_updatable()
        check_parameters(
            self,
            n_regions=integer(1) | one_of("auto"),
            global_reg=real(0, closed="right"),
            C=real(0) | one_of("scale"),
        )

    def _fit(self, rows: Rows) -> None:
        self._keep(rows, self._fit_record(Blocks.in_memory(rows, self.n_jobs)))

    def _fit_blocks(self, blocks: Blocks) -> None:
        self._require_no_updates()
        self.__dict__.pop("_kept", None)
        self._fit_record(blocks)

    def _fit_record(self, blocks: Blocks) -> RegionalFit:
        """Fit, store, and return what was stored."""
        options = self._fit_options(blocks)
        survey, labels = self._survey(blocks, self.n_regions, options)
        mean_square = survey.mean_squared_norm
        is_scaled = isinstance(self.C, str)
        settings = self._settings(
            C=SCALED_C / mean_square if is_scaled else float(self.C),
            n_regions=self.n_regions,
            global_reg=float(self.global_reg),
            constant=intercept_constant(self, mean_square),
        )
        coded = assign_regions(blocks, labels, survey, settings, options)
        fit = solve_regions(coded, settings, options)
        self._store(fit, options.clock.seconds)
        check_solution(fit.solution, self)
        self._calibrate(blocks, fit, options)
        return fit

    def fit_leave_one_out(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> NDArray[Any]:
        r"""Fit, and estimate the decision on each row by a model without that row.

        Use it where later steps learn from the decisions on the training rows, which
        are too good to be true. Costs O(f\ :sup:`3` + b f\ :sup:`2`) more than ``fit``
        for f rows at the margin, at most 2000 of them, and b beyond it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes of the rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            As those of ``decision_function``.

        Notes
        -----
        The span rule: the row's share :math:`y_i \alpha_i S_i^2` is taken away, with
        :math:`S_i` its distance to the span of the rows whose dual is at neither bound,
        in the space of the regions' weights. Exact while these rows stay free and the
        others at their bounds; an estimate, not a bound. Regions stay as they are, a
        row of weight two is taken away as a whole, and several classes in one problem
        are treated one by one. V. Vapnik, O. Chapelle. Bounds on error expectation for
        support vector machines. Neural Computation 12(9), 2000.
        """
        scores: NDArray[Any] = self._fit_by(self._fit_held_out, X, y, sample_weight)
        return scores.ravel() if len(self.classes_) == 2 else scores

    def _fit_held_out(self, rows: Rows) -> NDArray[Any]:
        fit = self._fit_record(Blocks.in_memory(rows, self.n_jobs))
        self._keep(rows, fit)
        decisions = fit.decide_training_rows(rows.X, self.n_jobs)
        return estimate_unseen(rows, fit, decisions).astype(rows.X.dtype)

    def generalization_bound(
        self, X: Any, y: Any, delta: float = 0.05
    ) -> GeneralizationBound:
        """Bound the error of the fitted model on new rows (Theorems 4 to 6).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            Classes of the rows.
        delta : float, default=0.05
            The bound holds with probability 1 - delta.

        Returns
        -------
        GeneralizationBound
            Each term, their sum, and whether it is vacuous.

        Notes
        -----
        For two classes and ``n_nearest=1``, as in the paper; see
        :class:`~localsvm.estimators.GeneralizationBound` for what was corrected.
        """
        return clustered_bound(self, X, y, delta)
