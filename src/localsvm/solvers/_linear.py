"""Linear SVMs, one or many over the same rows.

Dual coordinate descent solves them, or Newton's method on the primal: the squared hinge
of :func:`solve_blocks` and :func:`solve_codes` on dense rows of at most 300 columns d,
where the numbers of all weight vectors are at most as many as the rows, k (d + 1) <= n.
Newton's weights are those of its last step, and its duals the ones of their margins,
alpha_i = 2 C_i max(0, 1 - y_i f(x_i)) times a factor next to 1: primal and dual of the
certificate are theirs, and near the optimum they define each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm import _core
from localsvm.rows import as_rows
from localsvm.solvers._limits import RunLimits

Status = _core.Status

_LOSSES = {"hinge": _core.Loss.hinge, "squared_hinge": _core.Loss.squared_hinge}


@dataclass(frozen=True)
class LinearProblem:
    r"""Two-class tasks that share their rows: one, or each class against the rest.

    .. math::

        \min_W \tfrac12 \|W\|^2 + \sum_i C_i\, \ell(1 - y_i f(x_i)),
        \quad \ell = \max(0, \cdot) \text{ or } \max(0, \cdot)^2

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        Validated rows, float32 or float64; read in place.
    class_index : ndarray of shape (n_samples,), int32
        Class of each row, ``0 .. n_classes - 1``.
    n_classes : int
        Two classes are one task (class 1 is positive), more are one task per class.
    bounds : ndarray of shape (n_samples,), float64
        The :math:`C_i`; a row with 0 takes no part.
    intercept_scaling : float
        The constant appended to each row; 0 means no intercept.
    """

    X: Any
    class_index: NDArray[np.int32]
    n_classes: int
    bounds: NDArray[np.float64]
    intercept_scaling: float = 1.0

    @property
    def n_tasks(self) -> int:
        """Number of two-class tasks."""
        return 1 if self.n_classes == 2 else self.n_classes


@dataclass(frozen=True)
class SolverOptions(RunLimits):
    """How far and how long a linear SVM is solved.

    ``tol`` is the relative duality gap (primal - dual) / primal; an iteration is a
    pass of coordinate descent, as many row visits as there are rows, or a Newton step.

    Parameters
    ----------
    tol, max_iter, max_time, n_threads, cancel, deadline
        As in :class:`RunLimits`.
    loss : {"hinge", "squared_hinge"}
    seed : int
        Of the row permutations.
    """

    loss: str = "hinge"
    seed: int = 0

    def to_core(self) -> _core.RunOptions:
        """Give the settings as the core takes them."""
        return _core.RunOptions(
            loss=_LOSSES[self.loss],
            tol=self.tol,
            max_iter=self.max_iter,
            seed=self.seed,
            max_time=self.seconds,
            n_threads=self.n_threads,
            cancelled=self.cancelled,
        )


class Certified:
    """How problems ended, by the certificate of each."""

    certificates: list[_core.Certificate]

    @property
    def n_iter(self) -> int:
        """Most passes, or steps, that a problem took."""
        return max(certificate.n_iter for certificate in self.certificates)

    @property
    def n_problems(self) -> int:
        """Number of independent problems."""
        return len(self.certificates)

    @property
    def shortfall(self) -> str:
        """How far from optimal the worst problem is, in words."""
        return f"worst relative duality gap {self.worst_gap:.1e}"

    @property
    def worst_gap(self) -> float:
        """Largest relative duality gap."""
        return max(certificate.relative_gap for certificate in self.certificates)

    def count(self, status: _core.Status) -> int:
        """Count the problems that ended with ``status``."""
        return sum(certificate.status == status for certificate in self.certificates)


@dataclass(frozen=True)
class LinearSolution(Certified):
    """Weight vectors, duals and certificates of a batch of linear problems.

    Attributes
    ----------
    coef : ndarray of shape (n_tasks, n_nodes, n_features), float64
    intercept : ndarray of shape (n_tasks, n_nodes), float64
    duals : ndarray of shape (n_tasks, n_samples), float64
        A start for a similar problem.
    certificates : list of Certificate
        Primal and dual objective, passes and status; one per independent problem.
    """

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    duals: NDArray[np.float64]
    certificates: list[_core.Certificate]


def solve_blocks(
    problem: LinearProblem,
    region: NDArray[np.integer[Any]],
    n_regions: int,
    *,
    coupling: float,
    options: SolverOptions,
    duals: NDArray[np.float64] | None = None,
) -> LinearSolution:
    r"""Solve the clustered linear SVM with one region per row.

    Parameters
    ----------
    problem : LinearProblem
    region : ndarray of shape (n_samples,)
        Region of each row, ``0 .. n_regions - 1``.
    n_regions : int
    coupling : float
        1 / lambda of Eq. 3; 0 makes the regions independent problems.
    options : SolverOptions
    duals : ndarray of shape (n_tasks, n_samples) or None
        Where to start; clipped to the bounds.

    Returns
    -------
    LinearSolution
        Nodes are the regions' own vectors v_l and, last, the global vector w, so that
        the weights of region l are v_l + w (Eq. 4).

    Notes
    -----
    Cost per pass O(nnz(X)) whatever the number of regions. By Newton's method
    O(n d\ :sup:`2` + k d\ :sup:`3`) per step, of which it takes about ten, and
    8 k d\ :sup:`2` bytes: the Hessian of the regions' vectors and the global one is an
    arrow that is solved exactly.
    """
    order = np.argsort(region, kind="stable").astype(np.int64, copy=False)
    block_start = np.zeros(n_regions + 1, dtype=np.int64)
    np.cumsum(np.bincount(region, minlength=n_regions), out=block_start[1:])
    n_nodes = n_regions + (coupling > 0)
    shape = (problem.n_tasks, n_nodes)
    task, duals, nodes = _allocate(problem, shape, problem.n_tasks, duals)
    certificates = _core.solve_blocks(
        as_rows(problem.X), task, block_start, order, coupling, options.to_core()
    )
    if coupling == 0:
        nodes = np.concatenate([nodes, np.zeros_like(nodes[:, :1])], axis=1)
    return _solution(problem, nodes, duals, certificates)


@dataclass(frozen=True)
class RowSubsets:
    """Rows of several linear SVMs; a row may be in more than one.

    Attributes
    ----------
    start : ndarray of shape (n_subsets + 1,), int64
        Subset p has the places ``start[p] .. start[p + 1] - 1``.
    rows : ndarray of shape (n_places,), int64
        Row at each place.
    bounds : ndarray of shape (n_places,), float64
        :math:`C_i` of the row in that subset.
    """

    start: NDArray[np.int64]
    rows: NDArray[np.int64]
    bounds: NDArray[np.float64]

    @property
    def n_subsets(self) -> int:
        """Number of linear SVMs per task."""
        return len(self.start) - 1

    def places(self, subset: int) -> slice:
        """Places of one subset."""
        return slice(self.start[subset], self.start[subset + 1])


def solve_overlapping(
    problem: LinearProblem,
    subsets: RowSubsets,
    squared_norms: NDArray[np.float64],
    *,
    options: SolverOptions,
    duals: NDArray[np.float64] | None = None,
) -> LinearSolution:
    """Solve one linear SVM per subset and task; a row has a bound in each of them.

    Parameters
    ----------
    problem : LinearProblem
        Its ``bounds`` are not used.
    subsets : RowSubsets
    squared_norms : ndarray of shape (n_samples,), float64
        Of the rows of ``problem.X``.
    options : SolverOptions
    duals : ndarray of shape (n_tasks, n_places) or None
        Where to start; clipped to the bounds.

    Returns
    -------
    LinearSolution
        One node per subset, duals per place, one certificate per (task, subset).

    Notes
    -----
    Cost per pass of a subset O(nnz) of its rows. Rows are read in place.
    """
    places = LinearProblem(
        problem.X,
        problem.class_index[subsets.rows],
        problem.n_classes,
        subsets.bounds,
        problem.intercept_scaling,
    )
    shape = (problem.n_tasks, subsets.n_subsets)
    task, duals, nodes = _allocate(places, shape, problem.n_tasks, duals)
    certificates = _core.solve_overlapping(
        as_rows(problem.X),
        squared_norms,
        task,
        subsets.start,
        subsets.rows,
        options.to_core(),
    )
    return _solution(problem, nodes, duals, certificates)


def solve_codes(
    problem: LinearProblem,
    code_nodes: NDArray[np.int32],
    coefficients: NDArray[Any],
    n_nodes: int,
    *,
    options: SolverOptions,
    duals: NDArray[np.float64] | None = None,
) -> LinearSolution:
    r"""Solve the linear SVM in which each row mixes several weight vectors.

    Parameters
    ----------
    problem : LinearProblem
    code_nodes, coefficients : ndarray of shape (n_samples, m)
        The nodes of each row and their weights c: f(x) = sum_s c_s W[node_s] . x.
    n_nodes : int
    options, duals
        As in :func:`solve_blocks`.

    Returns
    -------
    LinearSolution

    Notes
    -----
    Cost per pass O(m nnz(X)) for m coefficients of a row that are not zero. By Newton's
    method, after at most 25 passes of descent that often do: O(m n d) for each of a few
    hundred products with the Hessian, O(m n d\ :sup:`2` + k d\ :sup:`3`) for a few
    factorisations of its blocks, a copy of the rows and 8 k d\ :sup:`2` bytes.
    """
    shape = (problem.n_tasks, n_nodes)
    task, duals, nodes = _allocate(problem, shape, problem.n_tasks, duals)
    certificates = _core.solve_codes(
        as_rows(problem.X), task, code_nodes, coefficients, options.to_core()
    )
    return _solution(problem, nodes, duals, certificates)


def solve_codes_jointly(
    problem: LinearProblem,
    code_nodes: NDArray[np.int32],
    coefficients: NDArray[Any],
    n_nodes: int,
    *,
    options: SolverOptions,
    duals: NDArray[np.float64] | None = None,
) -> LinearSolution:
    r"""Solve the multi-class SVM of Crammer and Singer on mixed weight vectors.

    All classes are one problem, also if there are two:

    .. math::

        \min_W \tfrac12 \|W\|^2
            + \sum_i C_i \max_r \bigl(1[r \ne y_i] + f_r(x_i) - f_{y_i}(x_i)\bigr)

    Parameters
    ----------
    problem : LinearProblem
    code_nodes, coefficients : ndarray of shape (n_samples, m)
        As in :func:`solve_codes`.
    n_nodes : int
    options : SolverOptions
        With ``loss="hinge"``, the only loss there is; runs on one thread.
    duals : ndarray of shape (n_classes, n_samples) or None
        Where to start: the signed :math:`\alpha_i^r`, made feasible first.

    Returns
    -------
    LinearSolution
        One task per class, and one certificate.

    Notes
    -----
    Cost per pass O(m nnz(X)) times the classes that a row is still in doubt about: all
    in the first pass, soon two or three.
    """
    if options.loss != "hinge":
        raise ValueError(
            f"loss must be 'hinge' to solve all classes jointly, got {options.loss!r}."
        )
    task, duals, nodes = _allocate(
        problem, (n_nodes, problem.n_classes), problem.n_classes, duals
    )
    certificate = _core.solve_codes_jointly(
        as_rows(problem.X), task, code_nodes, coefficients, options.to_core()
    )
    return _solution(problem, nodes.swapaxes(0, 1), duals, [certificate])


def _allocate(
    problem: LinearProblem,
    nodes_shape: tuple[int, int],
    n_duals: int,
    duals: NDArray[np.float64] | None,
) -> tuple[_core.LinearTask, NDArray[np.float64], NDArray[np.float64]]:
    n_features = problem.X.shape[1]
    if duals is None:
        duals = np.zeros((n_duals, len(problem.bounds)))
    else:
        duals = np.array(duals, dtype=np.float64, order="C")
    nodes = np.empty((*nodes_shape, n_features + 1))
    task = _core.LinearTask(
        labels=problem.class_index,
        bounds=problem.bounds,
        first_positive=1 if problem.n_classes == 2 else 0,
        bias=problem.intercept_scaling,
        duals=duals,
        nodes=nodes,
    )
    return task, duals, nodes


def _solution(
    problem: LinearProblem,
    nodes: NDArray[np.float64],
    duals: NDArray[np.float64],
    certificates: list[_core.Certificate],
) -> LinearSolution:
    return LinearSolution(
        coef=nodes[:, :, :-1],
        intercept=nodes[:, :, -1] * problem.intercept_scaling,
        duals=duals,
        certificates=certificates,
    )
