"""FastLSVM: kernel SVMs on a cover of neighbourhoods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._checks import (
    check_parameters,
    integer,
    list_of,
    mapping_of,
    one_of,
    real,
)
from localsvm._threads import effective_n_jobs
from localsvm.cluster import NeighborhoodCover
from localsvm.cluster._neighborhood_cover import neighborhood_sizes
from localsvm.cluster._neighbors import fit_search, make_search
from localsvm.estimators._base import StageClock, TrainingRows, check_solution
from localsvm.estimators._global_model import GLOBAL_MODELS, GlobalModel, fit_global
from localsvm.estimators._kernel_base import (
    BaseKernelClassifier,
    KernelSetting,
    MergedRows,
    stored_as,
)
from localsvm.estimators._router import Router
from localsvm.solvers import (
    LocalKernel,
    LocalModels,
    fit_neighborhoods,
    local_gradients,
)


class BaseLocalSVC(BaseKernelClassifier):
    """Steps and fitted attributes of local SVMs on a cover, for one setting or many."""

    _global: GlobalModel | None
    _router: Router

    def region(self, X: Any, *, return_weights: bool = False) -> Any:
        """Neighbourhood whose model answers each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        return_weights : bool, default=False
            Whether to return the weights, too, as other estimators do; here it is one.

        Returns
        -------
        regions : ndarray of shape (n_samples,), or (n_samples, 1) with weights
        weights : ndarray of shape (n_samples, 1)
            Only with ``return_weights``.
        """
        regions = self._find_regions(self._check_query_rows(X))
        if return_weights:
            return regions[:, np.newaxis], np.ones((len(regions), 1))
        return regions

    def local_coef(self, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weights of the linear function that touches each row's decision.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        coef : ndarray of shape (n_samples, n_tasks, n_features)
            The gradient of the decision at the row. For several classes, of the mean of
            a class's decisions against the others in the neighbourhood; zero for
            classes that are not there, and where there is but one.
        intercept : ndarray of shape (n_samples, n_tasks)
            ``coef[i] @ X[i] + intercept[i]`` is the decision value of row i. With a
            metric this needs one that maps by ``X @ components_``.
        """
        X = self._check_query_rows(X)
        return self._touching(X, self._gradients(X))

    def _find_regions(self, X: Any) -> NDArray[np.int64]:
        return self._route(stored_as(X, self._support_rows))

    def _gradients(self, X: Any) -> NDArray[np.float64]:
        return local_gradients(
            self._models,
            self._support_rows,
            self._kernel,
            len(self.classes_),
            X,
            self._find_regions(X),
            None if self._global is None else self.shrink_ * self._global.gradients(X),
        )

    def _fit_global(
        self, merged: MergedRows, seed: int, clock: StageClock
    ) -> tuple[GlobalModel, NDArray[np.float64]]:
        """Fit the global model; what it says of each row without having seen it."""
        with clock.stage("global"):
            return fit_global(
                self.global_model, merged.rows, self.classes_, seed, self.n_jobs
            )

    def _draw_to(
        self,
        merged: MergedRows,
        fitted: tuple[GlobalModel, NDArray[np.float64]] | None,
        shrink: float,
    ) -> MergedRows:
        """Give the rows their share of the global decisions."""
        self.shrink_ = shrink
        self._global = self.global_model_ = None
        if fitted is None or shrink == 0:
            return merged
        self._global, unseen = fitted
        self.global_model_ = self._global.classifier
        return replace(merged, rows=replace(merged.rows, prior=shrink * unseen))

    def _fit_setting(
        self,
        merged: MergedRows,
        sizes: tuple[int, int],
        local: LocalKernel,
        seed: int,
        clock: StageClock,
    ) -> NDArray[np.intp]:
        """Algorithm 1; the region of each of the merged rows."""
        with clock.stage("cover"):
            cover = self._fit_cover(merged.rows.X, sizes, seed)
        with clock.stage("solve"):
            options = self._options(cover.n_neighbors_, len(cover.labels_))
            models = fit_neighborhoods(
                merged.rows,
                cover.neighborhoods_,
                local,
                replace(options, max_time=clock.remaining()),
            )
        check_solution(models.endings, self)
        with clock.stage("route"):
            self._keep(merged, cover, models)
        self._describe(models)
        self.center_indices_ = merged.first[cover.center_indices_]
        self.n_neighbors_, self.n_assigned_ = cover.n_neighbors_, cover.n_assigned_
        self.region_sizes_ = np.bincount(cover.labels_)
        self.fit_report_ = clock.seconds
        return np.asarray(cover.labels_)

    def _count_classes(
        self, rows: TrainingRows, merged: MergedRows, regions: NDArray[np.intp]
    ) -> None:
        # The last entry is that of rows without weight, whose kind is -1.
        region_of_kind = np.append(regions, -1)
        self.region_class_counts_ = rows.class_counts(
            region_of_kind[merged.kind], (self.n_regions_, len(self.classes_))
        )

    def _fit_cover(
        self, X: Any, sizes: tuple[int, int], seed: int
    ) -> NeighborhoodCover:
        """Lines 4-9 and 11-17, in the feature space of the kernel."""
        k = min(sizes[0], X.shape[0])
        neighbors = self.neighbors
        if not self._kernel.keeps_euclidean_order:
            neighbors = make_search(neighbors, X, k, self._kernel)
        return NeighborhoodCover(
            k,
            n_assigned=min(sizes[1], k),
            neighbors=neighbors,
            random_state=seed,
            n_jobs=self.n_jobs,
        ).fit(X)

    def _describe(self, models: LocalModels) -> None:
        self.n_regions_ = len(models.only_class)
        self.n_constant_regions_ = int(np.count_nonzero(models.only_class >= 0))
        self.n_support_ = np.diff(models.support_start)
        self.gamma_ = models.gamma
        self.C_ = models.C
        self.duality_gap_ = float(models.relative_gap.max())
        self.violation_ = float(models.violation.max())
        self.n_iter_ = max(1, int(models.n_iter.max()))

    def _keep(
        self, merged: MergedRows, cover: NeighborhoodCover, models: LocalModels
    ) -> None:
        X = merged.rows.X
        if self.route == "row":
            self._models, self._support_rows = models, X
            self._router = Router(X, cover.router_, cover.labels_)
            return
        self._models, rows = models.compact()
        self._support_rows = X[rows]
        centers = X[cover.center_indices_]
        search = fit_search(make_search(cover.neighbors, centers, 1), centers)
        regions = np.arange(len(models.only_class), dtype=np.int32)
        self._router = Router(centers, search, regions)

    def _route(self, X: Any) -> NDArray[np.int64]:
        """Eq. 4, or the nearest centre."""
        return self._router.route(X, self.n_jobs)

    def _decide(self, X: Any) -> NDArray[Any]:
        X = stored_as(X, self._support_rows)
        return self._models.decide(
            self._support_rows,
            self._kernel,
            len(self.classes_),
            X,
            self._route(X),
            effective_n_jobs(self.n_jobs),
            None if self._global is None else self.shrink_ * self._global.decide(X),
        )


class LocalSVC(BaseLocalSVC):
    r"""Kernel SVMs on neighbourhoods that cover the data (FastLSVM).

    Random rows become centres until the :math:`k'` nearest rows of the centres cover
    all rows; a kernel SVM is fitted to the k nearest rows of each centre; a query is
    answered by the SVM that its nearest training row is assigned to. For data with an
    intricate boundary, too large for :class:`~sklearn.svm.SVC`: the cost of fitting is
    nearly linear in the number of rows.

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        Rows k of a neighbourhood, counting equal rows once. "auto" is 100, or all rows
        if there are fewer. With all rows it is one SVM: the global one.
    n_assigned : int or None, default=None
        Rows k' that a neighbourhood answers for, at most k; None is a quarter of k.
        Smaller is closer to :class:`NeighborSVC`, and slower: there are about 2 n / k'
        neighbourhoods.
    kernel : {"rbf", "linear", "poly"}, default="rbf"
    C : float, default=10.0
        Penalty of margin errors.
    gamma : float, "local", "scale" or "auto", default="local"
        Width of the kernel. "local" is 1 / (median squared distance of a
        neighbourhood's rows to its centre), which needs no knowledge of units and
        follows the density of the data; the polynomial kernel has no width, and takes
        it as "scale". The others are as in :class:`~sklearn.svm.SVC`.
    gamma_factor : float, default=1.0
        Multiplies gamma.
    degree : int, default=3
    coef0 : float, default=0.0
        Power and constant of the polynomial kernel; 0 makes it homogeneous.
    local_grid : dict or None, default=None
        Local model selection: lists of factors, e.g. ``{"C": [0.1, 1, 10], "gamma":
        [0.5, 1, 2]}``. Each neighbourhood takes the pair with the fewest errors in a
        3-fold validation on its own rows. Costs about three fits per pair.
    shrink : float, default=0.0
        How much of a global model g the local SVMs are given: they learn what is to be
        added to ``shrink * g(x)``. 0 fits no global model; 1 helps where labels are
        noisy or neighbourhoods small, most of all with a small C.
    global_model : classifier with ``decision_function`` or None, default=None
        None is :class:`ClusteredSVC` with its defaults. For noisy labels give one that
        withstands them, e.g. a linear one. Its ``random_state`` is used unless it is
        None.
    route : {"row", "center"}, default="row"
        How a query finds its model. "row" is the paper: by its nearest training row;
        the model keeps all rows. "center": by the nearest centre; the model keeps
        centres and support vectors only.
    neighbors : {"auto", "kd_tree", "brute"} or search object, default="auto"
        The neighbour search; see :class:`~localsvm.cluster.NeighborhoodCover`. Rows are
        near in the kernel's feature space: that is Euclidean order for linear and RBF
        kernels; for polynomials see :class:`~localsvm.cluster.KernelNeighbors`.
    metric : transformer or None, default=None
        Maps the rows before all else, queries too, e.g. :class:`GradientMetric`; a copy
        is fitted to the labels and weights of the training rows. Its ``random_state``
        is used unless it is None.
    class_weight : dict, "balanced" or None, default=None
    tol : float, default=1e-3
        Largest violation of the optimality conditions in a neighbourhood.
    max_iter : int or "auto", default="auto"
        Steps of the solver per pair of classes; -1 is no limit. "auto" is 50 k, but at
        least 20,000: plenty unless C is very large. No limit if k is all rows.
    max_time : float or None, default=None
        Seconds for the whole fit. The search for neighbours is not cut short, the
        solver is.
    cache_size : float, default=200
        Megabytes for kernel rows of a neighbourhood with more than 2000 rows.
    random_state : int, RandomState instance or None, default=None
        Chooses the centres.
    n_jobs : int or None, default=None
        Threads; they do not change the model.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    metric_ : object or None
        The fitted metric.
    global_model_ : object or None
        The fitted global model, if there is ``shrink``.
    shrink_ : float
        ``shrink`` as used.
    n_regions_ : int
        Number of neighbourhoods.
    n_constant_regions_ : int
        Those that hold one class and need no SVM.
    region_sizes_ : ndarray of shape (n_regions,)
        Distinct training rows assigned to each.
    region_class_counts_ : ndarray of shape (n_regions, n_classes)
        Training rows assigned to each, by class and sample weight.
    center_indices_ : ndarray of shape (n_regions,)
        Training row at each centre.
    n_neighbors_, n_assigned_ : int
        k and k' as used.
    n_support_ : ndarray of shape (n_regions,)
        Support vectors of each neighbourhood.
    gamma_, C_ : ndarray of shape (n_regions,)
        Width and penalty in each neighbourhood, 0 where there is no SVM.
    duality_gap_ : float
        Worst relative duality gap.
    violation_ : float
        Largest violation of the optimality conditions.
    n_iter_ : int
        Most steps in a neighbourhood.
    fit_report_ : dict
        Seconds per stage.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    LocalSVCCV : Chooses C, gamma and the size of the neighbourhoods.
    NeighborSVC : An SVM for each query; more exact and much slower to predict.

    Notes
    -----
    Fitting costs 2 n / k' neighbour searches and as many SVMs of k rows, O(k² d) each
    and more where C is large; prediction costs one nearest neighbour search and one SVM
    evaluation per row.

    Several classes: one SVM per pair of the classes that a neighbourhood holds. The
    scores are votes plus the squeezed sum of decisions, as in scikit-learn; classes
    that are not there score -1. A neighbourhood of one class answers with that class;
    its decision is 1 or -1.

    With ``shrink`` the loss of a row is :math:`\max(0, 1 - y\,(s\, g(x) + f(x)))`; a
    pair of several classes gets half the difference of their g. The g of a training
    row comes from a model without it, in three folds. The model is fitted to the
    distinct rows with sample times class weights, if it takes any. Neighbourhoods of
    one class answer as they do without.

    Corrections to the paper: see :class:`~localsvm.cluster.NeighborhoodCover`; and the
    RBF kernel is printed without its minus sign, with gamma = 1 / sigma.

    References
    ----------
    N. Segata, E. Blanzieri. Fast local support vector machines for large datasets.
    Technical report DISI-08-063, University of Trento, 2008.

    Examples
    --------
    >>> from localsvm import LocalSVC
    >>> from localsvm.data import make_two_spirals
    >>> X, y = make_two_spirals(2000, random_state=0)
    >>> model = LocalSVC(n_neighbors=50, random_state=0).fit(X[:1500], y[:1500])
    >>> model.score(X[1500:], y[1500:]) > 0.8
    True
    """

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        *,
        n_assigned: int | None = None,
        kernel: str = "rbf",
        C: float = 10.0,
        gamma: float | str = "local",
        gamma_factor: float = 1.0,
        degree: int = 3,
        coef0: float = 0.0,
        local_grid: Any = None,
        shrink: float = 0.0,
        global_model: Any = None,
        route: str = "row",
        neighbors: Any = "auto",
        metric: Any = None,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int | str = "auto",
        max_time: float | None = None,
        cache_size: float = 200.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_assigned = n_assigned
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.gamma_factor = gamma_factor
        self.degree = degree
        self.coef0 = coef0
        self.local_grid = local_grid
        self.shrink = shrink
        self.global_model = global_model
        self.route = route
        self.neighbors = neighbors
        self.metric = metric
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.cache_size = cache_size
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        self._check_setting()
        self._check_kernel_parameters()
        factors = list_of(real(0))
        check_parameters(
            self,
            n_assigned=one_of(None) | integer(1),
            local_grid=one_of(None) | mapping_of(C=factors, gamma=factors),
            shrink=real(0, closed="left"),
            global_model=GLOBAL_MODELS,
            route=one_of("row", "center"),
            max_time=one_of(None) | real(0),
        )

    def _fit(self, rows: TrainingRows) -> None:
        sizes = neighborhood_sizes(self.n_neighbors, self.n_assigned, rows.X.shape[0])
        setting = KernelSetting(self.C, self.gamma, self.gamma_factor)
        grid = {"C": [1.0], "gamma": [1.0], **(self.local_grid or {})}
        local = replace(
            self._local_kernel(setting, rows),
            C_factors=sorted(float(factor) for factor in grid["C"]),
            gamma_factors=sorted(float(factor) for factor in grid["gamma"]),
        )
        seed, clock = self._draw_seed(), StageClock(self.max_time)
        with clock.stage("merge"):
            merged = self._merge(rows, seed)
        fitted = self._fit_global(merged, seed, clock) if self.shrink > 0 else None
        merged = self._draw_to(merged, fitted, float(self.shrink))
        regions = self._fit_setting(merged, sizes, local, seed, clock)
        self._count_classes(rows, merged, regions)
