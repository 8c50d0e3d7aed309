"""Rows in and out of a fit of linear SVMs over regions that stay as they are.

A change of few rows is repaired where they are, and proven over all rows:

1. Rows that leave take their duals with them. If none had any, and the rows that come
   leave the gap within ``tol``, only the certificate changes.
2. Otherwise coordinate descent visits the regions of the changed rows, then the rows
   whose dual is between its bounds, and ends with the exact gap over all rows
   (``Descent::update`` of the core).
3. A change of many rows is a warm start of the solver of the fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm import _core
from localsvm.estimators._regional.solve import FitOptions, solve_rows
from localsvm.estimators._regional.updates.kept import (
    KeptRegional,
    signs,
    with_vectors,
)
from localsvm.estimators._regional.updates.measure import (
    biased_rows,
    losses_of,
    measured,
    problems_of,
    shares_of,
)
from localsvm.rows import RowChange, as_rows
from localsvm.solvers import LinearProblem, Status

# Beyond these shares of rows or regions a warm start is as fast.
_FEW_ROWS = 1 / 200
_FEW_REGIONS = 0.5
# A warm start leaves as much of tol to later updates as a repair does.
_WARM_SHARE = 0.7


@dataclass(frozen=True)
class RegionalUpdate:
    """Result of an update.

    Attributes
    ----------
    kept : KeptRegional
    is_same_model : bool
        Whether no weight changed.
    n_regions : int
        Regions of the changed rows.
    n_iter : int
        Most passes over all rows that a problem took.
    statuses : list of Status
        How the problems that were solved ended.
    """

    kept: KeptRegional
    is_same_model: bool
    n_regions: int
    n_iter: int
    statuses: list[Status]

    @property
    def n_problems(self) -> int:
        """Number of problems."""
        return len(self.kept.primal)

    @property
    def shortfall(self) -> str:
        """How far from optimal the worst problem is, in words."""
        return f"worst relative duality gap {self.kept.gaps.max():.1e}"

    def count(self, status: Status) -> int:
        """Count the problems that ended with ``status``."""
        return self.statuses.count(status)


def update_regional(
    kept: KeptRegional, change: RowChange, options: FitOptions
) -> RegionalUpdate:
    """Change the rows of a fit, and solve again where that matters.

    Parameters
    ----------
    kept : KeptRegional
    change : RowChange
        Planned for its rows.
    options : FitOptions
        ``tol`` is proven over all rows that are present.
    """
    n_old = kept.rows.n_places
    grown = kept.grown(kept.rows.changed(change), change.new, options.n_jobs)
    places = np.concatenate([change.places, np.arange(n_old, grown.rows.n_places)])
    touched = np.unique(grown.nodes.values[places, 0])
    before = np.zeros(len(places))
    before[: len(change.places)] = kept.bounds(change.places)
    moved = _move(grown, places, before)
    due = np.flatnonzero(moved.disturbed | (moved.kept.gaps > options.tol))
    if not len(due):
        return RegionalUpdate(moved.kept, True, len(touched), 0, [])
    if kept.is_independent:
        found = _solve_regions(moved.kept, due, options)
    elif _is_few(moved.kept, places, touched):
        found = _repair(moved.kept, due, touched, options)
    else:
        found = _solve_warm(moved.kept, options)
    return replace(found, n_regions=len(touched))


def polished(kept: KeptRegional, options: FitOptions) -> KeptRegional:
    """Solve until the weights of the duals have a gap of ``tol``."""
    kept = measured(kept)
    due = np.flatnonzero(kept.gaps > options.tol)
    if not len(due):
        return kept
    if kept.is_independent:
        return _solve_regions(kept, due, options).kept
    return _repair(kept, due, np.arange(kept.regions.n_regions), options).kept


@dataclass(frozen=True)
class _Moved:
    """A fit whose rows changed and whose duals obey the new bounds.

    Its certificates hold for the problems that are not ``disturbed``.
    """

    kept: KeptRegional
    disturbed: NDArray[np.bool_]


def _move(
    kept: KeptRegional, places: NDArray[np.intp], before: NDArray[np.float64]
) -> _Moved:
    """Put the duals of changed rows into their bounds, and move the vectors along."""
    settings, after = kept.settings, kept.bounds(places)
    own = kept.duals[:, places]
    if settings.joint:
        share = np.divide(after, before, out=np.ones_like(after), where=before > 0)
        lowered = own * np.minimum(share, 1.0)
    elif settings.loss == "hinge":
        lowered = np.minimum(own, after)
    else:
        lowered = np.where(after > 0, own, 0.0)
    delta = lowered - own
    # The squared hinge weighs a dual by the penalty of its row.
    stirred = (delta != 0) | ((own != 0) & (settings.loss != "hinge"))
    loss = (after - before) * losses_of(kept, places)
    problem, n_problems = problems_of(kept, places)
    primal = kept.primal + np.bincount(problem.ravel(), loss.ravel(), n_problems)
    disturbed = np.bincount(problem[stirred], minlength=n_problems) > 0
    if not delta.any():
        return _Moved(replace(kept, primal=primal), disturbed)
    duals = kept.duals.copy()
    duals[:, places] = lowered
    vectors = kept.vectors.copy()
    _add_rows(vectors, kept, places, delta)
    moved = replace(kept, duals=duals, vectors=vectors, primal=primal)
    return _Moved(moved, disturbed)


def _add_rows(
    vectors: NDArray[np.float64],
    kept: KeptRegional,
    places: NDArray[np.intp],
    delta: NDArray[np.float64],
) -> None:
    """Add to the vectors what changed duals give to them."""
    nodes, weights, _ = shares_of(kept, places)
    rows = biased_rows(kept, places)
    signed = delta * signs(
        kept.rows.class_index[places], len(delta), kept.settings.joint
    )
    for own, steps in zip(vectors, signed, strict=True):
        moving = np.flatnonzero(steps)
        for s in range(nodes.shape[1]):
            added = (steps[moving] * weights[moving, s])[:, np.newaxis] * rows[moving]
            np.add.at(own, nodes[moving, s], added)


def _is_few(
    kept: KeptRegional, places: NDArray[np.intp], touched: NDArray[np.int32]
) -> bool:
    """Whether a repair is to be made, and not a warm start."""
    if kept.settings.loss != "hinge":
        # Newton's method, with which a warm start may end, proves the weights of its
        # last step, which are not those of the duals that are kept.
        return True
    return (
        not kept.settings.joint
        and len(places) <= max(1.0, _FEW_ROWS * kept.rows.n_rows)
        and len(touched) <= max(1.0, _FEW_REGIONS * kept.regions.n_regions)
    )


def _solve_warm(kept: KeptRegional, options: FitOptions) -> RegionalUpdate:
    """Solve all problems, from the duals that there are."""
    settings = kept.settings
    solution, _ = solve_rows(
        kept.problem(),
        kept.codes,
        kept.regions,
        settings,
        replace(options, tol=_WARM_SHARE * options.tol).for_solver(settings.loss),
        kept.duals,
    )
    found = replace(
        kept,
        duals=solution.duals,
        primal=np.array([each.primal for each in solution.certificates]),
        dual=np.array([each.dual for each in solution.certificates]),
    )
    ends = [each.status for each in solution.certificates]
    return RegionalUpdate(with_vectors(found), False, 0, solution.n_iter, ends)


def _repair(
    kept: KeptRegional,
    due: NDArray[np.intp],
    touched: NDArray[np.integer[Any]],
    options: FitOptions,
) -> RegionalUpdate:
    """Solve the tasks that are due, beginning in the regions of the changed rows."""
    duals, vectors = kept.duals.copy(), kept.vectors.copy()
    primal, dual = kept.primal.copy(), kept.dual.copy()
    is_touched = np.zeros(kept.regions.n_regions, dtype=np.uint8)
    is_touched[touched] = 1
    nearest = kept.nodes.values[:, 0]
    change = _core.LinearChange(
        squared_norms=kept.norms.values, near=is_touched[nearest]
    )
    rows, core_options = as_rows(kept.rows.X.values), _core_options(kept, options)
    problem, certificates = kept.problem(), []
    blocks = _blocks_of(kept) if kept.regions.is_hard else None
    for task in due:
        own = _task(problem, task, duals[task : task + 1], vectors[task : task + 1])
        if blocks is not None:
            coupling = kept.settings.global_weight**2
            found = _core.update_blocks(
                rows, own, *blocks, coupling, change, core_options
            )
        else:
            found = _core.update_codes(
                rows, own, kept.nodes.values, kept.weights.values, change, core_options
            )
        primal[task], dual[task] = found.primal, found.dual
        certificates.append(found)
    solved = replace(kept, duals=duals, vectors=vectors, primal=primal, dual=dual)
    return _ended(solved, certificates)


def _solve_regions(
    kept: KeptRegional, due: NDArray[np.intp], options: FitOptions
) -> RegionalUpdate:
    """Solve the regions that are due, each of them a problem of its own."""
    duals, vectors = kept.duals.copy(), kept.vectors.copy()
    primal, dual = kept.primal.copy(), kept.dual.copy()
    n_regions = kept.regions.n_regions
    problem, core_options = kept.problem(), _core_options(kept, options)
    near = np.ones(kept.rows.n_places, dtype=np.uint8)
    change = _core.LinearChange(squared_norms=kept.norms.values, near=near)
    rows, certificates = as_rows(kept.rows.X.values), []
    for number in due:
        task, region = divmod(int(number), n_regions)
        members = np.flatnonzero(kept.nodes.values[:, 0] == region)
        vector = np.ascontiguousarray(vectors[task : task + 1, region : region + 1])
        own = _task(problem, task, duals[task : task + 1], vector)
        found = _core.update_blocks(
            rows, own, np.array([0, len(members)]), members, 0.0, change, core_options
        )
        vectors[task, region] = vector[0, 0]
        primal[number], dual[number] = found.primal, found.dual
        certificates.append(found)
    solved = replace(kept, duals=duals, vectors=vectors, primal=primal, dual=dual)
    return _ended(solved, certificates)


def _core_options(kept: KeptRegional, options: FitOptions) -> _core.RunOptions:
    return options.for_solver(kept.settings.loss).to_core()


def _task(
    problem: LinearProblem,
    task: int,
    duals: NDArray[np.float64],
    vectors: NDArray[np.float64],
) -> _core.LinearTask:
    """One task; its duals and vectors are start and result."""
    return _core.LinearTask(
        labels=problem.class_index,
        bounds=problem.bounds,
        first_positive=1 if problem.n_classes == 2 else int(task),
        bias=problem.intercept_scaling,
        duals=duals,
        nodes=vectors,
    )


def _blocks_of(kept: KeptRegional) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the rows of each region begin, and the rows in that order."""
    region, n_regions = kept.nodes.values[:, 0], kept.regions.n_regions
    start = np.zeros(n_regions + 1, dtype=np.int64)
    np.cumsum(np.bincount(region, minlength=n_regions), out=start[1:])
    # NumPy sorts small integers by their digits, in linear time.
    small = region.astype(np.int16) if n_regions < 2**15 else region
    order = np.argsort(small, kind="stable").astype(np.int64, copy=False)
    return start, order


def _ended(kept: KeptRegional, certificates: list[_core.Certificate]) -> RegionalUpdate:
    n_iter = max(each.n_iter for each in certificates)
    return RegionalUpdate(
        kept, False, 0, n_iter, [each.status for each in certificates]
    )
