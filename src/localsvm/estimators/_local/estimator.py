"""FastLSVM: kernel SVMs on a cover of neighbourhoods."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from localsvm._checks import (
    check_parameters,
    integer,
    list_of,
    mapping_of,
    one_of,
    real,
)
from localsvm._clock import StageClock
from localsvm.cluster import neighborhood_sizes
from localsvm.engine import Blocks
from localsvm.estimators._endings import check_solution
from localsvm.estimators._local.base import BaseLocalSVC
from localsvm.estimators._local.blocks import Shuffle
from localsvm.estimators._local.cells import (
    Cells,
    cell_need,
    gather_cells,
    grow_tree,
    require_room_for_rows,
    survey_blocks,
)
from localsvm.estimators._local.cover import CellTask, join_cells, solve_cells
from localsvm.estimators._local.fit import (
    Gamma,
    LocalOptions,
    LocalSettings,
    RowScale,
    fit_local,
)
from localsvm.estimators._local.prior import GLOBAL_MODELS
from localsvm.rows import Rows
from localsvm.solvers import LocalKernel


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
    kernel : {"rbf", "laplace", "linear", "poly"}, default="rbf"
        "laplace" is :math:`\frac17 \sum_{s=0}^6 \exp(-2^s \gamma \|x - z\|_1)`: seven
        widths at once, of distances that add up column by column. It suits tables.
    C : float or "scale", default="scale"
        Penalty of margin errors. "scale" is 10 divided by the mean of K(x, x) over the
        rows: 10 for RBF and Laplace kernels, 10 / (mean squared norm) for the linear
        one.
    gamma : float, "local", ("local", float), "scale" or "auto", default="local"
        Width of the kernel. "local" is 1 / (median squared distance of a
        neighbourhood's rows to its centre), which needs no knowledge of units and
        follows the density of the data; ("local", 0.5) is half of that. For the Laplace
        kernel it is 1 / (10 m), m the median absolute distance to the centre, and
        "scale" is that of the distances between 400 rows. The polynomial kernel has no
        width, and takes "local" as "scale". The others are as in
        :class:`~sklearn.svm.SVC`.
    shrink : float, default=0.0
        How much of a global model g the local SVMs are given: they learn what is to be
        added to ``shrink * g(x)``. 0 fits no global model; 1 helps where labels are
        noisy or neighbourhoods small, most of all with a small C.
    route : {"row", "center"}, default="row"
        How a query finds its model. "row" is the paper: by its nearest training row;
        the model keeps all rows. "center": by the nearest centre; the model keeps
        centres and support vectors only. For rows in blocks "row" is refused if they do
        not fit into the memory of this process.
    metric : transformer or None, default=None
        Maps the rows before all else, queries too, e.g. :class:`GradientMetric`; a copy
        is fitted to the labels and weights of the training rows. Its ``random_state``
        is used unless it is None.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, a factor of the rows' weights.
    max_time : float or None, default=None
        Seconds for the whole fit. The search for neighbours is not cut short, the
        solver is. Neighbourhoods that there is no time for answer with the class of
        most weight among their rows, or as the global model does.
    random_state : int, RandomState instance or None, default=None
        Chooses the centres.
    n_jobs : int or None, default=None
        Threads; they do not change the model.

    Other Parameters
    ----------------
    n_assigned : int or None, default=None
        Rows k' that a neighbourhood answers for, at most k; None is a quarter of k.
        Smaller is closer to :class:`NeighborSVC`, and slower: there are about 2 n / k'
        neighbourhoods.
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=0.0
        Power and constant of the polynomial kernel; 0 makes it homogeneous.
    local_grid : dict or None, default=None
        Local model selection: lists of factors, e.g. ``{"C": [0.1, 1, 10], "gamma":
        [0.5, 1, 2]}``. Each neighbourhood takes the pair with the fewest errors in a
        3-fold validation on its own rows. Costs about three fits per pair.
    global_model : classifier with ``decision_function`` or None, default=None
        None is :class:`ClusteredSVC` with its defaults. For noisy labels give one that
        withstands them, e.g. a linear one. Its ``random_state`` is used unless it is
        None.
    neighbors : {"auto", "kd_tree", "brute"} or search object, default="auto"
        The neighbour search; see :class:`~localsvm.cluster.NeighborhoodCover`. Rows are
        near in the kernel's feature space: that is Euclidean order for linear and RBF
        kernels, and taken for it with the Laplace kernel; for polynomials see
        :class:`~localsvm.cluster.KernelNeighbors`.
    cache_size : float, default=200
        Megabytes for kernel rows of a neighbourhood with more than 2000 rows.
    tol : float, default=1e-3
        Largest violation of the optimality conditions in a neighbourhood. 0 is as small
        as the rounding of the numbers allows.
    max_iter : int or None, default=None
        Steps of the solver per pair of classes. None is 50 k, but at least 20,000:
        plenty unless C is very large. If k is all rows it is ten million, or 100 per
        row if that is more.

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
    n_support_ : ndarray of shape (n_classes,)
        Distinct rows of each class that are a support vector of any neighbourhood.
    C_ : float
        The penalty.
    gamma_ : float
        The width, or the factor of local widths.
    region_C_, region_gamma_ : ndarray of shape (n_regions,)
        Penalty and width in each neighbourhood, 0 where there is no SVM.
    duality_gap_ : float
        Worst relative duality gap.
    violation_ : float
        Largest violation of the optimality conditions.
    n_iter_ : int
        Most steps in a neighbourhood.
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

    Rows in blocks, dense ones, are brought together in cells of a k-d tree, about
    as large as the largest block. Centres are found in each cell by itself, which
    makes some more of them. Neighbourhoods are the exact nearest rows of all cells: a
    cell is searched if its box is nearer to a centre than the k-th row found so far.
    With few columns that concerns cells next to each other; with many, most of them,
    and larger blocks pay. With one cell the model is that of the rows in memory,
    bit for bit, but for the rounding of sums of weights ("balanced") and of the
    variance ("scale") if there are several blocks. A worker needs memory for two
    cells with their trees, and the rows beyond the border. ``metric``, ``shrink``,
    ``max_time``, a search of one's own and polynomials of degree two and more need all
    rows in memory.

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
        kernel: str = "rbf",
        C: float | str = "scale",
        gamma: Gamma = "local",
        shrink: float = 0.0,
        route: str = "row",
        metric: Any = None,
        class_weight: Any = None,
        max_time: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        n_assigned: int | None = None,
        degree: int = 3,
        coef0: float = 0.0,
        local_grid: Any = None,
        global_model: Any = None,
        neighbors: Any = "auto",
        cache_size: float = 200.0,
        tol: float = 1e-3,
        max_iter: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.shrink = shrink
        self.route = route
        self.metric = metric
        self.class_weight = class_weight
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.n_assigned = n_assigned
        self.degree = degree
        self.coef0 = coef0
        self.local_grid = local_grid
        self.global_model = global_model
        self.neighbors = neighbors
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter

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
        )

    def _fit(self, rows: Rows) -> None:
        sizes = neighborhood_sizes(self.n_neighbors, self.n_assigned, rows.n_rows)
        clock = StageClock(self.max_time)
        options = self._options(self._draw_seed(), clock)
        scale = RowScale.of(rows, options.seed)
        local = self._with_grid(self._kernel_settings().resolve(scale))
        settings = LocalSettings(*sizes, local, self.route, self.neighbors)
        with clock.stage("merge"):
            merged = rows.merged(options.seed)
        prior = None
        if self.shrink > 0:
            fitted = self._fit_prior(merged.rows, options)
            prior = replace(fitted, shrink=float(self.shrink))
        fit = fit_local(merged.rows, settings, options, prior, calibrates=True)
        check_solution(fit.report.endings, self)
        self._store(fit, rows, merged)
        self.fit_report_ = clock.seconds

    def _with_grid(self, local: LocalKernel) -> LocalKernel:
        grid = {"C": [1.0], "gamma": [1.0], **(self.local_grid or {})}
        return replace(
            local,
            C_factors=sorted(float(factor) for factor in grid["C"]),
            gamma_factors=sorted(float(factor) for factor in grid["gamma"]),
        )

    def _fit_blocks(self, blocks: Blocks) -> None:
        """Algorithm 1 in cells of rows that lie together."""
        self._check_for_blocks()
        blocks.require_memory(cell_need(self.n_neighbors, self.n_assigned))
        seed, clock = blocks.seed(self._draw_seed), StageClock(self.max_time)
        with clock.stage("sample"):
            survey = survey_blocks(blocks, seed)
        labels = self._accept(survey.content, blocks)
        sizes = neighborhood_sizes(
            self.n_neighbors, self.n_assigned, survey.rows.n_rows
        )
        if self.route == "row":
            require_room_for_rows(blocks, survey.sample.n_distinct)
        with clock.stage("cells"):
            tree = grow_tree(survey, sizes[0])
            cells = gather_cells(blocks, Shuffle(tree, labels, seed, blocks.store))
        with clock.stage("solve"):
            local = self._with_grid(self._kernel_settings().resolve(survey.scale))
            task = self._cell_task(cells, sizes, local, self._options(seed, clock))
            solve_cells(blocks, task)
        with clock.stage("route"):
            fit, solved = join_cells(task, self.route)
        check_solution(fit.report.endings, self)
        self.metric_ = None
        self._keep(fit, solved.first, solved.class_counts)
        self.fit_report_ = clock.seconds

    def _check_for_blocks(self) -> None:
        """Refuse what needs all rows at once."""
        wanted = {
            "metric": (self.metric is None, "None"),
            "shrink": (self.shrink == 0, "0"),
            "neighbors": (isinstance(self.neighbors, str), "the name of a search"),
            "degree": (
                self.kernel != "poly" or self.degree == 1,
                "1, or another kernel",
            ),
        }
        for name, (holds, words) in wanted.items():
            if not holds:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} needs all rows in memory; for "
                    f"rows in blocks expected {words}."
                )

    def _cell_task(
        self,
        cells: Cells,
        sizes: tuple[int, int],
        local: LocalKernel,
        options: LocalOptions,
    ) -> CellTask:
        n_rows = int(cells.n_rows.sum())
        k = min(sizes[0], n_rows)
        limits = options.for_neighborhoods(k, n_rows)
        left = options.clock.remaining()
        return CellTask(
            cells,
            (k, min(sizes[1], k)),
            self.neighbors,
            options.seed,
            local,
            replace(limits, n_threads=1, deadline=None),
            len(self.classes_),
            None if left is None else time.time() + left,
        )
