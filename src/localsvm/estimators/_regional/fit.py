"""The fit of linear SVMs over regions: cluster, code, solve.

``find_regions`` clusters the rows and codes them. ``solve_regions`` fits the weight
vectors for one penalty, from zero or from the fit of another penalty. ``fit_regional``
does both. None of them knows an estimator; what they return is frozen.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._clock import StageClock
from localsvm._threads import effective_n_jobs
from localsvm.cluster import (
    HardRegions,
    LocalCoordinates,
    RegionCodes,
    SoftRegions,
)
from localsvm.estimators._regional.model import RegionalModel
from localsvm.passes import PartSolution, centers_of, fit_clusterer
from localsvm.rows import Rows
from localsvm.solvers import (
    LinearProblem,
    LinearSolution,
    SolverOptions,
    solve_blocks,
    solve_codes,
    solve_codes_jointly,
)

Regions = HardRegions | SoftRegions | LocalCoordinates

# Passes of the solver where ``max_iter`` is None.
MAX_PASSES = 1000


@dataclass(frozen=True)
class RegionalSettings:
    r"""The problem that is solved.

    Attributes
    ----------
    C : float
        Penalty of a margin error.
    n_regions : int or "auto"
    clusterer : clusterer or None
        None is :class:`~localsvm.cluster.SampledKMeans`.
    n_nearest : int
        Regions per row. With the softmax code, 1 is the clusterer's own label.
    coding : {"softmax", "inverse_distance", "local_coordinates"}
        Weights of the nearest regions.
    sharpness : float
        Of the softmax.
    global_reg : float
        :math:`\lambda`, the penalty of the global weights; ``inf`` removes them.
    loss : {"hinge", "squared_hinge"}
    joint : bool
        Whether all classes are one problem.
    constant : float
        Constant column of the intercept, 0 without one.
    """

    C: float
    n_regions: int | str = "auto"
    clusterer: Any = None
    n_nearest: int = 8
    coding: str = "softmax"
    sharpness: float = 2.0
    global_reg: float = 1.0
    loss: str = "hinge"
    joint: bool = False
    constant: float = 1.0


@dataclass(frozen=True)
class FitOptions:
    """How a fit runs: how exactly, how long, on how many threads.

    Attributes
    ----------
    seed : int
    tol : float
        Relative duality gap at which the solver stops.
    max_iter : int
        Passes of the solver.
    n_jobs : int or None
    clock : StageClock
        Times the stages "cluster", "assign" and "solve", and limits the last.
    cancel : threading.Event or None
        Ends the solver when it is set; for threads other than the main one.
    """

    seed: int
    tol: float = 1e-3
    max_iter: int = MAX_PASSES
    n_jobs: int | None = None
    clock: StageClock = field(default_factory=StageClock)
    cancel: threading.Event | None = None

    def for_solver(self, loss: str, *, limited: bool = True) -> SolverOptions:
        """Translate to the options of the solver, with or without the time limit."""
        return SolverOptions(
            loss=loss,
            tol=self.tol,
            max_iter=self.max_iter,
            seed=self.seed,
            n_threads=effective_n_jobs(self.n_jobs),
            cancel=self.cancel,
            deadline=self.clock.deadline if limited else None,
        )

    @property
    def is_over(self) -> bool:
        """Whether the time limit is past."""
        return self.clock.remaining() == 0


@dataclass(frozen=True)
class Coded:
    """Regions, and the code of every training row.

    Attributes
    ----------
    clusterer : fitted clusterer
    regions : HardRegions, SoftRegions or LocalCoordinates
    sizes : ndarray of shape (n_regions,)
        Rows of positive weight whose nearest region it is.
    class_counts : ndarray of shape (n_regions, n_classes)
        Sample weights by nearest region and class.
    kept : RegionCodes or None
        Codes of the rows; None if they are in the store of the blocks.
    """

    clusterer: Any
    regions: Regions
    sizes: NDArray[np.intp]
    class_counts: NDArray[np.float64]
    kept: RegionCodes | None = None

    @property
    def codes(self) -> RegionCodes:
        """Codes of rows in memory."""
        assert self.kept is not None
        return self.kept


@dataclass(frozen=True)
class RegionalFit:
    """Result of a fit.

    Attributes
    ----------
    settings : RegionalSettings
    coded : Coded
    model : RegionalModel
    solution : LinearSolution or PartSolution
        Duals and certificates, of rows in memory or in blocks.
    n_support : ndarray of shape (n_classes,)
        Rows of each class with a non-zero dual in any task.
    """

    settings: RegionalSettings
    coded: Coded
    model: RegionalModel
    solution: LinearSolution | PartSolution
    n_support: NDArray[np.intp]

    @property
    def duals(self) -> NDArray[np.float64]:
        """Duals of shape (n_tasks, n_rows), of rows in memory."""
        assert isinstance(self.solution, LinearSolution)
        return self.solution.duals

    def decide_training_rows(self, X: Any, n_jobs: int | None = None) -> NDArray[Any]:
        """Decisions of shape (n_rows, n_tasks) for the rows of the fit."""
        return self.model.decide(X, self.coded.codes, n_jobs)

    def decide(self, X: Any, n_jobs: int | None = None) -> NDArray[Any]:
        """Decisions of shape (n_rows, n_tasks) for any rows."""
        return self.model.decide(X, self.coded.regions.code(X, n_jobs), n_jobs)


def fit_regional(
    rows: Rows,
    settings: RegionalSettings,
    options: FitOptions,
    start: RegionalFit | None = None,
) -> RegionalFit:
    """Cluster, code and solve.

    Parameters
    ----------
    rows : Rows
    settings : RegionalSettings
    options : FitOptions
    start : RegionalFit or None, default=None
        Fit of the same rows with other penalties. Its regions are used again, and its
        duals, scaled by the ratio of the penalties, are the start of the solver.
    """
    coded = find_regions(rows, settings, options) if start is None else start.coded
    return solve_regions(rows, coded, settings, options, start)


def find_regions(rows: Rows, settings: RegionalSettings, options: FitOptions) -> Coded:
    """Cluster the rows and code them by their nearest regions."""
    with options.clock.stage("cluster"):
        clusterer = fit_clusterer(
            settings.clusterer, rows, settings.n_regions, options.seed, options.n_jobs
        )
    with options.clock.stage("assign"):
        regions = _regions(clusterer, rows, settings)
        codes = regions.learn(rows.X, rows.sample_weight, options.n_jobs)
    nearest = codes.regions[:, 0]
    present = nearest[rows.sample_weight > 0]
    return Coded(
        clusterer,
        regions,
        np.bincount(present, minlength=regions.n_regions),
        rows.class_counts(nearest, regions.n_regions),
        codes,
    )


def _regions(clusterer: Any, rows: Rows, settings: RegionalSettings) -> Regions:
    if settings.coding != "softmax":
        return LocalCoordinates(
            centers_of(clusterer, rows),
            n_nearest=settings.n_nearest,
            coding=settings.coding,
        )
    if settings.n_nearest == 1:
        return HardRegions(clusterer)
    return SoftRegions(
        centers_of(clusterer, rows),
        n_nearest=settings.n_nearest,
        sharpness=settings.sharpness,
    )


def solve_regions(
    rows: Rows,
    coded: Coded,
    settings: RegionalSettings,
    options: FitOptions,
    start: RegionalFit | None = None,
) -> RegionalFit:
    """Fit the weights of the regions: Eq. 3/7, or the same with mixed rows.

    Parameters
    ----------
    rows : Rows
    coded : Coded
        Of the rows.
    settings : RegionalSettings
    options : FitOptions
    start : RegionalFit or None, default=None
        Fit of the same coded rows for another C, where the solver starts.

    Returns
    -------
    RegionalFit
        Its solution may have stopped before ``tol``; the caller checks that.
    """
    problem = LinearProblem(
        rows.X,
        rows.class_index,
        rows.n_classes,
        settings.C * rows.penalty_weight,
        settings.constant,
    )
    duals = None
    if start is not None:
        duals = start.duals * (settings.C / start.settings.C)
    with options.clock.stage("solve"):
        solve = _solve_hard if coded.regions.is_hard else _solve_mixed
        solution, global_weight = solve(
            problem, coded, settings, options.for_solver(settings.loss), duals
        )
        model = RegionalModel.from_solution(solution, global_weight, rows.X.dtype)
    support = rows.class_index[(solution.duals != 0).any(axis=0)]
    n_support = np.bincount(support, minlength=rows.n_classes)
    return RegionalFit(settings, coded, model, solution, n_support)


def _solve_hard(
    problem: LinearProblem,
    coded: Coded,
    settings: RegionalSettings,
    options: SolverOptions,
    duals: NDArray[np.float64] | None,
) -> tuple[LinearSolution, float]:
    """Solve with one region per row; inside a region only one vector changes."""
    solution = solve_blocks(
        problem,
        coded.codes.regions[:, 0],
        coded.regions.n_regions,
        coupling=1.0 / settings.global_reg,
        options=options,
        duals=duals,
    )
    return solution, 1.0


def _solve_mixed(
    problem: LinearProblem,
    coded: Coded,
    settings: RegionalSettings,
    options: SolverOptions,
    duals: NDArray[np.float64] | None,
) -> tuple[LinearSolution, float]:
    n_regions = coded.regions.n_regions
    global_weight = float(1.0 / np.sqrt(settings.global_reg))
    nodes, weights = with_global_node(coded.codes, n_regions, global_weight)
    solve = solve_codes_jointly if settings.joint else solve_codes
    solution = solve(
        problem,
        nodes,
        weights,
        n_regions + int(global_weight > 0),
        options=options,
        duals=duals,
    )
    return solution, global_weight


def with_global_node(
    codes: RegionCodes, n_regions: int, global_weight: float
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Append the global node, if it has any weight."""
    if global_weight == 0:
        return codes.regions, codes.weights
    shape = (codes.regions.shape[0], 1)
    node = np.full(shape, n_regions, dtype=np.int32)
    weight = np.full(shape, global_weight, dtype=codes.weights.dtype)
    return (
        np.concatenate([codes.regions, node], axis=1),
        np.concatenate([codes.weights, weight], axis=1),
    )
