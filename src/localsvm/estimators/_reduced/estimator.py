"""ClusterSVM: the exact SVM, from a part of the rows where that helps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._checks import (
    boolean,
    check_parameters,
    check_squares,
    class_weights,
    integer,
    one_of,
    real,
    with_methods,
)
from localsvm._clock import StageClock
from localsvm.engine import Partitions
from localsvm.estimators._reduced.passes import ReducedPartitionFit
from localsvm.estimators._reduced.steps import BaseReducedSVC
from localsvm.rows import Rows


class ReducedSVC(BaseReducedSVC):
    r"""The exact SVM; rows that cannot matter may be left in clusters (ClusterSVM).

    For whoever needs *the* solution of the SVM, with a certificate. The rows of each
    class are clustered; an SVM of the clusters tells which of them lie outside the
    margin or far inside it; only the rows in between are opened, and the SVM is trained
    again, until it is that of all rows. ``method="auto"`` does so only where it is not
    slower than solving for all rows at once.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly"}, default="rbf"
    C : float, default=1.0
    gamma : float, "scale" or "auto", default="scale"
    degree : int, default=3
    coef0 : float, default=0.0
        As in :class:`~sklearn.svm.SVC`.
    method : {"auto", "all", "reduce"}, default="auto"
        "all" solves for all rows at once: the linear kernel of up to 200 columns by an
        interior point method, whatever C is; else by sequential minimal optimisation,
        on one kernel matrix for all classes if it fits ``cache_size``. "reduce" opens
        clusters as said above. "auto" is "all" for rows in memory: no data were found
        on which clusters are faster, see Notes. For rows in partitions it is "reduce".
    solver : {"auto", "smo", "interior_point"}, default="auto"
        "interior_point" is for the linear kernel and dense rows; its cost grows with
        the square of the number of columns. "auto" takes it for up to 200 of them.
    representative : {"mean", "pseudo_center"}, default="mean"
        What stands for a closed group of rows: the mean of their images, with the sum
        of their bounds, or the row nearest to their mean, as in the paper.
    use_bounds : bool, default=True
        Whether rows far inside the margin stay in groups, too (condition 2); the paper
        only leaves those outside it.
    band : float, default=0.2
        Rows whose margin is within this of one are opened; see Notes for partitions.
    max_passes : int or None, default=None
        Passes after the first SVM. None goes on until the solution is exact; the paper
        takes one.
    clusterer : clusterer or None, default=None
        None is :class:`~localsvm.cluster.PDDP` with the square root of a class's rows
        as the number of clusters. A copy is fitted to each class, and in partitions to
        each class of each partition.
    class_weight : dict, "balanced" or None, default=None
    tol : float, default=1e-3
        Largest violation of the optimality conditions.
    max_iter : int, default=-1
        Steps of sequential minimal optimisation per problem; -1 is ten million, or 100
        per row if that is more.
    max_time : float or None, default=None
        Seconds for the whole fit, after which solvers stop where they are. One pass is
        made in any case: the SVM of the clusters, an iteration of the interior point
        method, or 100 steps. The clustering is not cut short.
    cache_size : float, default=1000
        Megabytes for a kernel matrix or for kernel rows.
    random_state : int, RandomState instance or None, default=None
        For a clusterer that has one.
    n_jobs : int or None, default=None
        Threads; they do not change the model.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    exact_ : bool
        Whether the solution is that of all rows: ``violation_`` is at most ``tol``.
        A ConvergenceWarning says why, if it is not.
    violation_ : float
        Largest violation of the optimality conditions over all rows and classes.
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
        Training rows with a dual in any task. Rows in partitions are counted in the
        order of the partitions.
    dual_coef_ : ndarray of shape (n_tasks, n_support)
        Signed duals. Equal rows of a class are one row here, with the sum of their
        weights: the bound of its dual is C times that sum and may exceed C.
    gamma_ : float
    n_iter_ : int
        Most steps of a solver.
    fit_report_ : dict
        Seconds per stage, and ``method_``; for partitions the rows that travelled.
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
    Proposition 2.1 of the paper: rows whose duals are equal parts of their bounds can
    be replaced by the mean of their images with the sum of their bounds. At the optimum
    this holds of rows outside the margin (condition 1) and far inside it (condition 2).
    With a non-linear kernel the rows and columns of the kernel matrix are averaged,
    which takes the kernel values of all pairs of rows in groups.

    Corrections to the paper: the listing returns the SVM of the pass before the last;
    Eq. 2.7 lacks the duals; a group without rows has no representative; and a
    representative that has a dual stays, since without it the duals would not sum to
    zero.

    Rows in partitions. The rows of each partition are clustered where they are and
    written to files; a first SVM is that of all clusters. After each SVM every
    partition looks at all of its rows, so that ``violation_`` and ``exact_`` hold of
    all rows, and the next SVM is trained, until it is exact. With the linear kernel
    rows stay where they are: a cluster is parted by the side of the margin that its
    rows are on, and only means of the parts travel. When all rows of each part are on
    one side, the SVM of the means is that of the rows by Proposition 2.1, and their
    number is a small part of the rows; ``band`` plays no role with ``use_bounds``. With
    other kernels the rows that the paper opens travel, wrong ones first, at most twice
    as many as the last SVM had; pseudo-centres stand for the others. In the end all
    support vectors and some more rows have travelled, and are in memory together: the
    SVM is solved by one task per class. A smaller ``band`` lets fewer travel, in more
    passes.

    Several classes are one against the rest, on the same clusters. With the linear
    kernel ``coef_``, of shape (n_tasks, n_features), holds the weights of the features.

    References
    ----------
    D. Boley, D. Cao. Training support vector machines using adaptive clustering. SIAM
    International Conference on Data Mining, 2004.

    Y. W. Park, D. Klabjan. An aggregate and iterative disaggregate algorithm with
    proven optimality in machine learning. Machine Learning 105, 2016. (Parting by
    sides, for partitions.)

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from localsvm import ReducedSVC
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ReducedSVC(C=10.0).fit(X[:1000], y[:1000])
    >>> model.exact_, model.score(X[1000:], y[1000:]) > 0.95
    (True, True)

    Overlapping classes and a linear kernel need a small part of the rows:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((4000, 2))
    >>> y = X[:, 0] + rng.standard_normal(4000) > 0
    >>> model = ReducedSVC(kernel="linear", method="reduce", band=0.1).fit(X, y)
    >>> model.exact_, model.n_rows_used_[0][-1] < 1000
    (True, True)
    """

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        C: float = 1.0,
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        method: str = "auto",
        solver: str = "auto",
        representative: str = "mean",
        use_bounds: bool = True,
        band: float = 0.2,
        max_passes: int | None = None,
        clusterer: Any = None,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        max_time: float | None = None,
        cache_size: float = 1000.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.method = method
        self.solver = solver
        self.representative = representative
        self.use_bounds = use_bounds
        self.band = band
        self.max_passes = max_passes
        self.clusterer = clusterer
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.cache_size = cache_size
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_parameters(
            self,
            kernel=one_of("linear", "poly", "rbf"),
            C=real(0),
            gamma=real(0) | one_of("scale", "auto"),
            degree=integer(1),
            coef0=real(-np.inf),
            method=one_of("auto", "all", "reduce"),
            solver=one_of("auto", "smo", "interior_point"),
            representative=one_of("mean", "pseudo_center"),
            use_bounds=boolean(),
            band=real(0, closed="left"),
            max_passes=one_of(None) | integer(0),
            clusterer=one_of(None) | with_methods("fit"),
            class_weight=class_weights(),
            tol=real(0),
            max_iter=integer(1) | one_of(-1),
            max_time=one_of(None) | real(0),
            cache_size=real(0),
        )
        if self.solver == "interior_point" and self.kernel != "linear":
            raise ValueError(
                "solver='interior_point' needs kernel='linear'. Got "
                f"kernel={self.kernel!r} instead."
            )

    def _fit(self, rows: Rows) -> None:
        check_squares(rows.X)
        clock = StageClock(self.max_time)
        self._kernel = self._resolve_kernel(rows)
        with clock.stage("merge"):
            distinct = rows.merged(self._draw_seed())
        merged = distinct.rows
        with clock.stage("kernel"):
            space = self._make_space(merged, clock)
        if self.method == "reduce":
            with clock.stage("cluster"):
                clusters = self._cluster(merged)
            with clock.stage("solve"):
                solutions = self._reduce(merged, clusters, space, clock)
        else:
            with clock.stage("solve"):
                solutions = self._solve_all(merged, space, clock)
        self._keep(merged, distinct.first, solutions)
        self.fit_report_ = {**clock.seconds, "method": self.method_}

    def _fit_partitions(self, rows: Partitions) -> None:
        if self.method == "all":
            raise ValueError(
                "method='all' needs all rows in memory; for rows in partitions use "
                "'auto' or 'reduce', which give the same solution from the rows that "
                "can matter."
            )
        ReducedPartitionFit(self, rows).run()

    def _decide(self, X: Any) -> NDArray[Any]:
        return np.asarray(self._sums(X) + self.intercept_, dtype=X.dtype)
