"""Locally linear support vector machine (Ladicky & Torr 2011)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from localsvm._checks import check_parameters, integer, one_of, real
from localsvm.engine import Blocks
from localsvm.estimators._endings import check_solution
from localsvm.estimators._regional.base import BaseRegionalSVC
from localsvm.estimators._regional.fit import assign_regions
from localsvm.estimators._regional.model import Coded
from localsvm.estimators._regional.solve import solve_regions
from localsvm.rows import SCALED_C, intercept_constant


class LocallyLinearSVC(BaseRegionalSVC):
    r"""One linear SVM on local coordinates: its weights change smoothly with x.

    A row x is coded by weights :math:`\gamma_s(x)` of its nearest few anchors, which
    are k-means centres, and decided by [1]_

    .. math::

        f(x) = \sum_s \gamma_s(x)\, (w_s \cdot x + b_s), \quad
        \sum_s \gamma_s(x) = 1.

    The weight vectors of all anchors are one convex problem,

    .. math::

        \min_{w_s, b_s}\; \tfrac12 \sum_s \|w_s\|^2
        + C \sum_i \max(0,\, 1 - y_i f(x_i)).

    Use it where a linear SVM is too weak and a kernel SVM too slow. Against
    ``ClusteredSVC``, which has the same solver: weights that sum to
    one instead of a softmax, hence no ``sharpness`` to choose, and no global weight
    vector that the regions share. On the tasks of the clustered SVM's paper the two are
    within half a percent of each other at about the same cost of fitting; this one is
    ahead on few features, the other one on many rows of many features.

    Parameters
    ----------
    n_regions : int, default=100
        Number of anchors, at most one per distinct row. With a few hundred rows, one
        per 20 of them does better. Set as ``n_clusters`` of a ``clusterer`` that has
        that parameter.
    C : float or "scale", default="scale"
        Penalty of a margin error; :math:`1 / (\lambda n)` in the paper's letters.
        "scale" is 10 divided by the mean of :math:`\|\gamma(x)\|^2 \|x\|^2`; with
        ``intercept_scaling="scale"`` the model then does not depend on the unit of
        measurement.
    n_nearest : int, default=8
        Anchors per row.
    coding : {"inverse_distance", "local_coordinates"}, default="inverse_distance"
        Weights in proportion to :math:`1 / \|x - c_s\|`, or the local coordinates that
        give x back best, :math:`\min_\gamma \|x - \sum_s \gamma_s c_s\|^2` with
        :math:`\sum_s \gamma_s = 1` [2]_. The latter follow the data more closely, and
        overfit sooner: for few features and many rows.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the sample weights by class; does not affect the anchors.
    clusterer : clusterer with ``fit`` and ``predict``, or None, default=None
        None is :class:`~localsvm.cluster.SampledKMeans`. The anchors are its
        ``cluster_centers_``, or the mean of each of its clusters.
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
        Threads. Results do not depend on it. A two-class problem is solved on one
        thread; classes, one against the rest, run in parallel.

    Other Parameters
    ----------------
    loss : {"hinge", "squared_hinge"}, default="hinge"
    fit_intercept : bool, default=True
        Whether rows get a constant column. The intercept is penalised like a weight.
    intercept_scaling : float or "scale", default="scale"
        Value of that constant. "scale" is the root mean squared norm of the rows.
    tol : float, default=1e-3
        Relative duality gap at which the solver stops.
    max_iter : int or None, default=None
        Passes of the solver over its active rows; None is 1000.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_regions, n_tasks, n_features)
        Weights w_s of a row that lies on anchor s; one task for two classes, one per
        class otherwise. They are weights of the columns of X; a metric that does not
        map by ``X @ components_`` leaves none.
    intercept_ : ndarray of shape (n_regions, n_tasks)
    C_ : float
        The penalty used.
    intercept_scaling_ : float
        The constant appended to the rows, 0 without intercept.
    metric_ : object or None
        The fitted metric.
    clusterer_ : object
        The fitted clusterer, in the space of the metric.
    regions_ : LocalCoordinates
        Codes rows; its ``centers`` are the anchors.
    n_regions_ : int
        Number of anchors.
    region_sizes_ : ndarray of shape (n_regions,)
        Training rows whose nearest anchor it is.
    region_class_counts_ : ndarray of shape (n_regions, n_classes)
        Those rows by class, by sample weight.
    duality_gap_ : float
        Largest relative duality gap, recomputed in float64.
    n_iter_ : int
        Most passes that a problem took.
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
    ClusteredSVC : Regions with a softmax code or a hard border, tied to a global model.
    sklearn.svm.LinearSVC : One linear SVM; the same as one anchor.

    Notes
    -----
    Of the paper are the model, the hinge loss and the penalty of the weights, 100
    k-means centres, the eight nearest of them and the inverse distance. It minimises by
    stochastic gradient descent; here dual coordinate descent solves the same problem
    until the duality gap proves that ``tol`` is reached, and intercepts are penalised
    like weights.

    The paper calls the boundary smooth. So it is with ``n_nearest=n_regions``; with
    fewer, f jumps where the farthest of the nearest anchors is replaced by another,
    since its weight, at most ``1 / n_nearest``, does not fade to zero. A row on an
    anchor has weight one there: the limit of the inverse distances.

    Cost: k-means on at most ``max(10_000, 50 k)`` distinct rows, one matrix product
    with the k anchors, O(m n d) per pass of the solver. Prediction: the distances to
    the anchors, in float64 also for rows of float32, and m dot products. Memory above
    the input: the k-means sample, about 200 bytes per row for eight anchors, and k d
    numbers per class.

    Rows in blocks, such as files, are read twice and then passed over as in
    :class:`ClusteredSVC`. The model is that of the fit in memory, to the solver's
    tolerance.

    References
    ----------
    .. [1] Ladicky, L. and Torr, P. H. S. (2011). Locally linear support vector
       machines. ICML, 985-992.
    .. [2] Wang, J., Yang, J., Yu, K., Lv, F., Huang, T. and Gong, Y. (2010).
       Locality-constrained linear coding for image classification. CVPR, 3360-3367.

    Examples
    --------
    >>> from localsvm.estimators import LocallyLinearSVC
    >>> from localsvm.data import make_xor
    >>> X, y = make_xor(400, random_state=0)
    >>> model = LocallyLinearSVC(n_regions=10, random_state=0).fit(X, y)
    >>> model.score(*make_xor(4000, random_state=1)) > 0.97
    True
    >>> model.region(X[:1], return_weights=True)[1].sum().round(6)
    np.float64(1.0)
    """

    def __init__(
        self,
        n_regions: int = 100,
        *,
        C: float | str = "scale",
        n_nearest: int = 8,
        coding: str = "inverse_distance",
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
    ) -> None:
        self.n_regions = n_regions
        self.C = C
        self.n_nearest = n_nearest
        self.coding = coding
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

    def _check_parameters(self) -> None:
        self._check_common_parameters()
        check_parameters(
            self,
            n_regions=integer(1),
            coding=one_of("inverse_distance", "local_coordinates"),
            C=real(0) | one_of("scale"),
        )

    def _fit_blocks(self, blocks: Blocks) -> None:
        options = self._fit_options(blocks)
        # The sample has more rows than there are anchors, or all distinct ones.
        survey, labels = self._survey(blocks, self.n_regions, options, sampled=True)
        assert survey.sample is not None
        settings = self._settings(
            C=np.nan,  # "scale" depends on the codes
            n_regions=min(self.n_regions, len(survey.sample.hashes)),
            coding=self.coding,
            global_reg=np.inf,
            constant=intercept_constant(self, survey.mean_squared_norm),
        )
        coded = assign_regions(blocks, labels, survey, settings, options)
        C = _scaled_penalty(coded) if isinstance(self.C, str) else float(self.C)
        fit = solve_regions(coded, replace(settings, C=C), options)
        self._store(fit, options.clock.seconds)
        check_solution(fit.solution, self)
        self._calibrate(blocks, fit, options)


def _scaled_penalty(coded: Coded) -> float:
    mean = coded.mean_square
    return SCALED_C / mean if 0 < mean < np.inf else SCALED_C
