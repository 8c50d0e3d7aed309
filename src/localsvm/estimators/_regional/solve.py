"""Fit the weights of the regions to coded rows: Eq. 3, or the same with mixed rows."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._clock import StageClock
from localsvm._threads import effective_n_jobs
from localsvm.cluster import RegionCodes
from localsvm.engine import Blocks, MemoryNeed
from localsvm.estimators._regional.blocks import (
    StoredRows,
    rows_key,
    with_global_node,
)
from localsvm.estimators._regional.model import (
    Coded,
    RegionalFit,
    RegionalModel,
    RegionalSettings,
    Regions,
)
from localsvm.passes import (
    BlockProblem,
    BlockSolution,
    BlockSolver,
    rows_of_a_solve,
    working_bytes,
)
from localsvm.solvers import (
    CodedTask,
    LinearProblem,
    LinearSolution,
    SolverOptions,
    solve_blocks,
    solve_codes,
    solve_codes_jointly,
)

# Passes of the solver where ``max_iter`` is None.
MAX_PASSES = 1000
# Arrays as large as the weight vectors of a task that a solve makes.
_VECTOR_COPIES = 8


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

    def for_solver(self, loss: str) -> SolverOptions:
        """Translate to the options of the solver."""
        return SolverOptions(
            loss=loss,
            tol=self.tol,
            max_iter=self.max_iter,
            seed=self.seed,
            n_threads=effective_n_jobs(self.n_jobs),
            cancel=self.cancel,
            deadline=self.clock.deadline,
        )

    @property
    def is_over(self) -> bool:
        """Whether the time limit is past."""
        return self.clock.remaining() == 0


def solve_regions(
    coded: Coded,
    settings: RegionalSettings,
    options: FitOptions,
    start: RegionalFit | None = None,
) -> RegionalFit:
    """Fit the weights of the regions.

    Parameters
    ----------
    coded : Coded
    settings : RegionalSettings
    options : FitOptions
    start : RegionalFit or None, default=None
        Fit of the same coded rows, in memory, for another C, where the solver starts.

    Returns
    -------
    RegionalFit
        Its solution may have stopped before ``tol``; the caller checks that.
    """
    with options.clock.stage("solve"):
        # Rows in memory need no passes: the same problem is solved directly.
        if coded.blocks.is_in_memory:
            return _solve_directly(coded, settings, options, start)
        return _solve_in_passes(coded, settings, options)


def _solve_directly(
    coded: Coded,
    settings: RegionalSettings,
    options: FitOptions,
    start: RegionalFit | None,
) -> RegionalFit:
    rows = coded.blocks.store.get(rows_key(0))
    problem = LinearProblem(
        rows["X"],
        rows["class_index"],
        coded.n_classes,
        settings.C * rows["penalty_weight"],
        settings.constant,
    )
    duals = None
    if start is not None:
        duals = start.duals * (settings.C / start.settings.C)
    solution, global_weight = solve_rows(
        problem,
        coded.codes,
        coded.regions,
        settings,
        options.for_solver(settings.loss),
        duals,
    )
    model = RegionalModel.from_solution(solution, global_weight, rows["X"].dtype)
    support = rows["class_index"][(solution.duals != 0).any(axis=0)]
    n_support = np.bincount(support, minlength=coded.n_classes)
    return RegionalFit(settings, coded, model, solution, n_support)


def solve_rows(
    problem: LinearProblem,
    codes: RegionCodes,
    regions: Regions,
    settings: RegionalSettings,
    options: SolverOptions,
    duals: NDArray[np.float64] | None,
) -> tuple[LinearSolution, float]:
    """Solve for rows of known codes, and tell the weight of the last, global vector.

    Parameters
    ----------
    problem : LinearProblem
    codes : RegionCodes
        Of the rows of the problem.
    regions : HardRegions, SoftRegions or LocalCoordinates
    settings : RegionalSettings
    options : SolverOptions
    duals : ndarray of shape (n_tasks, n_rows) or None
        Where to start.
    """
    solve = _solve_hard if regions.is_hard else _solve_mixed
    return solve(problem, codes, regions.n_regions, settings, options, duals)


def _solve_hard(
    problem: LinearProblem,
    codes: RegionCodes,
    n_regions: int,
    settings: RegionalSettings,
    options: SolverOptions,
    duals: NDArray[np.float64] | None,
) -> tuple[LinearSolution, float]:
    """Solve with one region per row; inside a region only one vector changes."""
    solution = solve_blocks(
        problem,
        codes.regions[:, 0],
        n_regions,
        coupling=1.0 / settings.global_reg,
        options=options,
        duals=duals,
    )
    return solution, 1.0


def _solve_mixed(
    problem: LinearProblem,
    codes: RegionCodes,
    n_regions: int,
    settings: RegionalSettings,
    options: SolverOptions,
    duals: NDArray[np.float64] | None,
) -> tuple[LinearSolution, float]:
    global_weight = settings.global_weight
    nodes, weights = with_global_node(codes, n_regions, global_weight)
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


def _solve_in_passes(
    coded: Coded, settings: RegionalSettings, options: FitOptions
) -> RegionalFit:
    """Solve by passes over the stored rows of the blocks."""
    blocks = coded.blocks
    problem = _problem(coded, settings, options)
    # Now the rows of every block are known, and the weight vectors.
    blocks.require_memory_of(
        memory_of_a_pass(blocks, settings.n_nearest, problem),
        int(problem.sizes.max()),
        "A pass over the largest block",
        "Use smaller blocks, fewer regions or allow more memory.",
    )
    solution = BlockSolver(blocks, problem, options.clock).run()
    model = _model(solution, settings, blocks.dtype)
    n_support = solution.support_by_class(blocks, coded.n_classes)
    return RegionalFit(settings, coded, model, solution, n_support)


def _problem(
    coded: Coded, settings: RegionalSettings, options: FitOptions
) -> BlockProblem:
    blocks, regions = coded.blocks, coded.regions
    n_codes = regions.n_nearest + 1
    row_bytes = blocks.dtype.itemsize * (blocks.n_features + n_codes) + 8 * n_codes
    return BlockProblem(
        store=blocks.store,
        name="solve",
        read=StoredRows(blocks.store, regions, settings.global_weight, settings.C),
        tasks=_tasks(coded, settings),
        sizes=coded.block_sizes,
        n_features=blocks.n_features,
        capacity=rows_of_a_solve(row_bytes),
        # The solver of the blocks sees to the time; a pass has one thread.
        options=replace(options.for_solver(settings.loss), deadline=None, n_threads=1),
    )


def _tasks(coded: Coded, settings: RegionalSettings) -> tuple[CodedTask, ...]:
    n_classes = coded.n_classes
    positive: list[int | None] = list(range(n_classes))
    if n_classes == 2:
        positive = [1]
    elif settings.joint:
        positive = [None]
    n_nodes = coded.regions.n_regions + int(settings.global_weight > 0)
    return tuple(
        CodedTask(n_classes, each, n_nodes, settings.constant, settings.loss)
        for each in positive
    )


def _model(
    solution: BlockSolution, settings: RegionalSettings, dtype: np.dtype[Any]
) -> RegionalModel:
    tasks = range(len(solution.states))
    # Tasks (or, jointly, classes) first.
    nodes = np.concatenate([solution.vectors(task).swapaxes(0, 1) for task in tasks])
    linear = LinearSolution(
        nodes[:, :, :-1],
        nodes[:, :, -1] * settings.constant,
        np.empty((len(nodes), 0)),
        [],
    )
    return RegionalModel.from_solution(linear, settings.global_weight, dtype)


def memory_of_a_pass(
    blocks: Blocks, n_nearest: int, problem: BlockProblem | None = None
) -> MemoryNeed:
    """Memory of a pass; with a problem, its weight vectors too.

    A block is there as it is worked on, the next is read meanwhile, and where all rows
    are in doubt they are copied twice.
    """
    itemsize = blocks.dtype.itemsize
    code_bytes = (4 + itemsize) * (n_nearest + 1) + 20.0
    shape = (0, 1, 0) if problem is None else problem.shape(0)
    dual_bytes = 24.0 * shape[1]
    row_bytes = blocks.n_features * itemsize + code_bytes + dual_bytes
    working = working_bytes(row_bytes, blocks.n_rows)
    return MemoryNeed(
        copies=4.0,
        bytes_per_row=4 * (code_bytes + dual_bytes),
        fixed=working + _VECTOR_COPIES * 8.0 * np.prod(shape),
    )
