"""ClusterSVM: the exact SVM, from few of the rows where that helps."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from localsvm._checks import (
    check_parameters,
    class_weights,
    instance_of,
    integer,
    level_of_caller,
    one_of,
    real,
    with_methods,
)
from localsvm._clock import StageClock
from localsvm.engine import Blocks
from localsvm.estimators._base import BaseLocalClassifier
from localsvm.estimators._endings import check_solution
from localsvm.estimators._metric import TouchingMixin
from localsvm.estimators._reduced.blocks import look_at_block, sum_diagonal
from localsvm.estimators._reduced.fit import fit_reduced
from localsvm.estimators._reduced.master import memory_of_blocks
from localsvm.estimators._reduced.model import ReducedModel
from localsvm.estimators._reduced.result import ReducedFit
from localsvm.estimators._reduced.settings import (
    FitOptions,
    ReducedSettings,
    Reduction,
    ReductionRule,
)
from localsvm.kernels import KERNELS, Kernel
from localsvm.passes import Content, find_median_gamma
from localsvm.rows import SCALED_C
from localsvm.solvers import Status


class ReducedSVC(TouchingMixin, BaseLocalClassifier):
    r"""The exact SVM; rows that cannot matter may stay in clusters (ClusterSVM).

    Use it where the result must be *the* solution of the SVM, with a certificate. The
    rows of each class are clustered, and an SVM of the clusters shows which of them lie
    outside the margin or far inside it. Only the rows in between are opened, and the
    SVM is trained again, until it is that of all rows. ``reduction="auto"`` does so
    only where it is not slower than solving for all rows at once.

    Parameters
    ----------
    kernel : {"rbf", "laplace", "linear", "poly"}, default="rbf"
        "laplace" is :math:`\frac17 \sum_{s=0}^6 \exp(-2^s \gamma \|x - z\|_1)`: seven
        widths at once, of distances that add up column by column. It suits tables.
    C : float or "scale", default="scale"
        Penalty of a margin error. "scale" is 10 over the mean of K(x, x) of the rows:
        10 for RBF and Laplace, 10 over the mean squared norm for the linear kernel.
    gamma : float, "scale" or "auto", default="scale"
        As in :class:`~sklearn.svm.SVC`; for the Laplace kernel "scale" is 1 / (10 m)
        with the median absolute distance m between 400 of the rows.
    reduction : None, "auto" or Reduction, default="auto"
        None solves for all rows at once: the linear kernel of up to 200 columns with an
        interior point method, whatever C is; otherwise with sequential minimal
        optimisation, on one kernel matrix for all classes if it fits ``cache_size``. A
        :class:`~localsvm.estimators.Reduction` opens clusters as described above.
        "auto" is None for rows in memory, because no data were found on which clusters
        are faster, and ``Reduction()`` for rows in blocks.
    clusterer : clusterer or None, default=None
        None is :class:`~localsvm.cluster.PDDP` with the square root of a class's rows
        as the number of clusters. A copy is fitted to each class, and with rows in
        blocks to each class of each block.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, a factor of the rows' weights.
    max_time : float or None, default=None
        Seconds for the whole fit, after which solvers stop where they are. One pass is
        made in any case: the SVM of the clusters, an iteration of the interior point
        method, or 100 steps. The clustering is not cut short.
    random_state : int, RandomState instance or None, default=None
        For a clusterer that has one.
    n_jobs : int or None, default=None
        Threads; they do not change the model.

    Other Parameters
    ----------------
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=0.0
        As in :class:`~sklearn.svm.SVC`.
    solver : {"auto", "smo", "interior_point"}, default="auto"
        "interior_point" is for the linear kernel and dense rows; its cost grows with
        the square of the number of columns. "auto" takes it for up to 200 of them.
    cache_size : float, default=1000
        Megabytes for a kernel matrix or for kernel rows.
    tol : float, default=1e-3
        Largest violation of the optimality conditions.
    max_iter : int or None, default=None
        Steps of sequential minimal optimisation per problem; None is ten million, or
        100 per row if that is more.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    exact_ : bool
        Whether the solution is that of all rows: ``violation_`` is at most ``tol``.
        A ConvergenceWarning says why, if it is not.
    violation_ : float
        Largest violation of the optimality conditions over all rows and classes.
    duality_gap_ : float
        Largest relative duality gap of a task, over all rows; infinite where a row that
        stands for others has a dual beyond its own bound.
    dual_objective_ : ndarray of shape (n_tasks,)
        One task for two classes, else one per class against the rest.
    passes_ : ndarray of shape (n_tasks,)
        Passes after the first SVM.
    n_rows_used_ : list of list of int
        Rows and groups in the problem of each task and pass.
    method_ : str
        How it was solved, in words.
    intercept_ : ndarray of shape (n_tasks,)
    support_ : ndarray of shape (n_support,)
        Training rows with a dual in any task. Rows in blocks are counted in the order
        of the blocks.
    n_support_ : ndarray of shape (n_classes,)
        How many of them are of each class.
    dual_coef_ : ndarray of shape (n_tasks, n_support)
        Signed duals. Equal rows of a class are one row here, with the sum of their
        weights: the bound of its dual is C times that sum and may exceed C.
    C_ : float
        The penalty used.
    gamma_ : float
    n_iter_ : int
        Most iterations that the solver of a task took in its last pass.
    fit_report_ : dict
        Seconds per stage, and ``method_``; of rows in blocks also ``active``, how
        many of them entered the problem.
    feature_range_ : ndarray of shape (2, n_features)
        Smallest and largest value of each column; only of rows in memory.
    integer_features_ : ndarray of shape (n_features,)
        Whether all values of a column are integers; only of rows in memory.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    SupportClusterSVC : Learns from clusters and never opens them.
    sklearn.svm.SVC : The same solution for two classes.

    Notes
    -----
    Proposition 2.1 of the paper: rows whose duals are equal shares of their bounds can
    be replaced by the mean of their images with the sum of their bounds. At the optimum
    this holds of rows outside the margin (condition 1) and far inside it (condition 2).
    With a non-linear kernel the rows and columns of the kernel matrix are averaged,
    which takes the kernel values of all pairs of rows in groups.

    Corrections to the paper: the listing returns the SVM of the pass before the last;
    Eq. 2.7 lacks the duals; a group without rows has no representative; and a
    representative that has a dual stays, since without it the duals would not sum to
    zero.

    Rows in blocks. The rows of each block are clustered where they are and stored; the
    first SVM is that of all clusters. After each SVM every block checks all of its
    rows, so that ``violation_``, ``duality_gap_`` and ``exact_`` hold for all rows, and
    the next SVM is trained, until it is exact. With the linear kernel rows stay in
    their blocks: a cluster is split by the side of the margin that its rows are on, and
    only the means of the two sides enter the problem. When all rows of each group are
    on one side, the SVM of the means is that of the rows by Proposition 2.1, and there
    are few of them; ``band`` plays no role with ``use_bounds``. With other kernels the
    rows that the paper opens enter the problem, wrong ones first, at most twice as many
    as the last SVM had; pseudo-centres stand for the others. In the end the problem
    holds all support vectors and some more rows, in one process per class. A smaller
    ``band`` lets fewer enter, in more passes.

    Several classes are one against the rest, on the same clusters. With the linear
    kernel ``coef_``, of shape (n_tasks, n_features), holds the weights of the features.

    References
    ----------
    D. Boley, D. Cao. Training support vector machines using adaptive clustering. SIAM
    International Conference on Data Mining, 2004.

    Y. W. Park, D. Klabjan. An aggregate and iterative disaggregate algorithm with
    proven optimality in machine learning. Machine Learning 105, 2016. (Parting by
    sides, for blocks.)

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from localsvm import ReducedSVC
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ReducedSVC(C=10.0).fit(X[:1000], y[:1000])
    >>> model.exact_, model.score(X[1000:], y[1000:]) > 0.95
    (True, True)

    Overlapping classes and a linear kernel need few of the rows:

    >>> import numpy as np
    >>> from localsvm.estimators import Reduction
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((4000, 2))
    >>> y = X[:, 0] + rng.standard_normal(4000) > 0
    >>> model = ReducedSVC(kernel="linear", C=1.0, reduction=Reduction(band=0.1))
    >>> model = model.fit(X, y)
    >>> model.exact_, model.n_rows_used_[0][-1] < 1000
    (True, True)
    """

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        C: float | str = "scale",
        gamma: float | str = "scale",
        reduction: Reduction | str | None = "auto",
        clusterer: Any = None,
        class_weight: Any = None,
        max_time: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        degree: int = 3,
        coef0: float = 0.0,
        solver: str = "auto",
        cache_size: float = 1000.0,
        tol: float = 1e-3,
        max_iter: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.reduction = reduction
        self.clusterer = clusterer
        self.class_weight = class_weight
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            kernel=one_of(*KERNELS),
            C=real(0) | one_of("scale"),
            gamma=real(0) | one_of("scale", "auto"),
            reduction=one_of(None, "auto") | instance_of(Reduction),
            clusterer=one_of(None) | with_methods("fit"),
            class_weight=class_weights(),
            tol=real(0),
            max_time=one_of(None) | real(0),
            degree=integer(1),
            coef0=real(-np.inf),
            solver=one_of("auto", "smo", "interior_point"),
            max_iter=one_of(None) | integer(1),
            cache_size=real(0),
        )
        if isinstance(self.reduction, Reduction):
            self.reduction._check_parameters()
        if self.solver == "interior_point" and self.kernel != "linear":
            raise ValueError(
                "solver='interior_point' needs kernel='linear'. Got "
                f"kernel={self.kernel!r} instead."
            )

    def _fit_blocks(self, rows: Blocks) -> None:
        if self.reduction is None and not rows.is_in_memory:
            raise ValueError(
                "reduction=None needs all rows in memory; for rows in blocks use "
                "'auto' or a Reduction, which give the same solution from the rows "
                "that can matter."
            )
        options = self._fit_options(rows.seed(self._draw_seed))
        if not rows.is_in_memory:
            rows.require_memory(memory_of_blocks(rows.dtype.itemsize))
        with options.clock.stage("scan"):
            content = rows.reduce(look_at_block, stage="scan")
            labels = self._accept(content, rows)
            settings = self._settings(content, rows)
        fit = fit_reduced(rows, content, labels, settings, options)
        self._store(fit, options.clock)

    def _settings(self, content: Content, rows: Blocks) -> ReducedSettings:
        """Problem that the parameters describe, for rows of this scale."""
        gamma: Any = self.gamma
        if gamma == "scale":
            laplace = self.kernel == "laplace"
            gamma = find_median_gamma(rows) if laplace else content.scale_gamma
        elif gamma == "auto":
            gamma = 1.0 / rows.n_features
        kernel = Kernel(self.kernel, float(gamma), self.degree, self.coef0)
        C: Any = self.C
        if C == "scale":
            C = SCALED_C / rows.reduce(sum_diagonal, kernel, stage="diagonal").mean
        rule = None if rows.is_in_memory else ReductionRule()
        if isinstance(self.reduction, Reduction):
            rule = self.reduction._rule()
        return ReducedSettings(kernel, float(C), rule, self.solver, self.clusterer)

    def _fit_options(self, seed: int) -> FitOptions:
        return FitOptions(
            seed,
            tol=self.tol,
            max_iter=self.max_iter,
            cache_size=self.cache_size,
            n_jobs=self.n_jobs,
            clock=StageClock(self.max_time),
        )

    def _store(self, fit: ReducedFit, clock: StageClock) -> None:
        """Set the fitted attributes; warn of a solution that is not exact."""
        self._model = fit.model
        self.C_ = fit.settings.C
        self.gamma_ = fit.model.kernel.gamma
        self.support_ = fit.support
        self.n_support_ = fit.n_support
        self.n_rows_used_ = [list(task.rows_used) for task in fit.tasks]
        self.passes_ = np.array([len(used) - 1 for used in self.n_rows_used_])
        self.violation_ = fit.violation
        self.duality_gap_ = fit.gap
        self.exact_ = bool(fit.violation <= self.tol)
        self.n_iter_ = fit.n_iter
        self.dual_objective_ = np.array([task.objective for task in fit.tasks])
        self.method_ = fit.method
        active = {"active": fit.active} if fit.active else {}
        self.fit_report_ = {**clock.seconds, **active, "method": fit.method}
        if fit.held_out is not None:
            self._keep_held_out(fit.held_out)
        endings = fit.endings(self.tol)
        check_solution(endings, self)
        if not self.exact_ and endings.count(Status.converged) == len(fit.tasks):
            self._warn_of_rounding()

    def _warn_of_rounding(self) -> None:
        """Warn that every solver has ended as it should, and the fit is not exact."""
        warnings.warn(
            f"The solution is not exact (exact_=False): violation_="
            f"{self.violation_:.3g}, expected at most tol={self.tol}. The "
            f"solver converged, but at C={self.C_:g} rounding hides the rest. Lower C, "
            "scale the features, or raise tol.",
            ConvergenceWarning,
            stacklevel=level_of_caller(),
        )

    def _fitted_model(self) -> ReducedModel:
        check_is_fitted(self)
        model: ReducedModel = self._model
        return model

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """Signed duals of the support vectors, of shape (n_tasks, n_support)."""
        return self._fitted_model().dual_coef

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercept of each task."""
        return self._fitted_model().intercept

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the features, for the linear kernel."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available with kernel='linear'.")
        return self._fitted_model().coef

    def _gradients(self, X: Any) -> NDArray[np.float64]:
        return self._fitted_model().gradients(X)

    def _decide(self, X: Any) -> NDArray[Any]:
        return self._fitted_model().decide(X, self.n_jobs)
