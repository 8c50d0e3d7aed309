"""ClusterSVM: the SVM of all rows from units that are opened where it matters."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from localsvm.estimators._reduced.settings import ReductionSettings
from localsvm.estimators._reduced.spaces import (
    DualSpace,
    OutOfTimeError,
    Units,
    UnitSolution,
)
from localsvm.solvers import KernelOptions, Status

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_OUTSIDE, _INSIDE = 0, 1
_CLOSING_PASSES = 3
_ROUNDING = 1e-9
# Part of a margin that is worth a word, whatever the tolerance.
_VISIBLE = 1e-6


@dataclass(frozen=True)
class TwoClassRows:
    """Rows of two sides, in clusters of one side each.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    sign : ndarray of shape (n_samples,)
        Side of each row, +1 or -1.
    bounds : ndarray of shape (n_samples,)
        Largest dual of each row; rows with zero are left out.
    clusters : ndarray of shape (n_samples,)
        Cluster of each row, from 0.
    """

    X: Any
    sign: Floats
    bounds: Floats
    clusters: NDArray[np.intp]

    def all_units(self) -> Units:
        """Each row as a unit of its own."""
        identity = sparse.eye_array(len(self.sign), format="csr")
        return Units(identity, self.sign, self.bounds)


@dataclass(frozen=True)
class ReducedSolution:
    """Duals of all rows, and how they were found.

    Attributes
    ----------
    duals : ndarray of shape (n_samples,)
        Signed.
    last : UnitSolution
        That of the last pass.
    violation : float
        Largest violation of the optimality conditions, over all rows.
    rows_used : list of int
        Units of each pass.
    """

    duals: Floats
    last: UnitSolution
    violation: float
    rows_used: list[int] = field(default_factory=list)

    @property
    def n_passes(self) -> int:
        """Passes after the first SVM."""
        return len(self.rows_used) - 1

    def ended(self, status: Status) -> ReducedSolution:
        """Say why there is no further pass, unless the last one ended early itself."""
        if self.last.status != Status.converged:
            return self
        return replace(self, last=replace(self.last, status=status))


def signs_of_tasks(class_index: NDArray[np.int32], n_classes: int) -> list[Floats]:
    """Sides of the rows: two classes are one task, more are one each against the rest.

    Parameters
    ----------
    class_index : ndarray of shape (n_samples,)
    n_classes : int

    Returns
    -------
    list of ndarray of shape (n_samples,)
        +1 and -1.
    """
    positive = [1] if n_classes == 2 else range(n_classes)
    return [np.where(class_index == label, 1.0, -1.0) for label in positive]


def solve_all(
    rows: TwoClassRows,
    space: DualSpace,
    options: KernelOptions,
    start: Floats | None = None,
) -> ReducedSolution:
    """Solve the SVM of all rows at once, from given duals where the solver can."""
    last = space.solve(rows.all_units(), options, start)
    violation = largest_violation(rows, last.duals, last.decisions)
    found = ReducedSolution(last.duals, last, violation, [len(rows.sign)])
    # At very large bounds the solver's own gradients drift from what the duals say.
    return found.ended(Status.stalled) if violation > _VISIBLE + options.tol else found


def reduce_units(
    rows: TwoClassRows, space: DualSpace, settings: ReductionSettings
) -> ReducedSolution:
    """Algorithm 1, corrected: train, open what the margin tells, train again.

    The first pass, of few units, is completed however late it is; each later one takes
    the place of the one before only if there was time for it.
    """
    opened = np.zeros(len(rows.sign), dtype=bool)
    side = np.zeros(len(rows.sign), dtype=np.intp)
    options = settings.options
    first = first_representative(space.averages_cheaply, settings)
    units = make_units(rows, opened, side, first)
    at_once = replace(options, deadline=None, max_time=options.seconds)
    found = _solve_units(rows, space, units, at_once, None)
    while found.violation > settings.tol and found.n_passes != settings.max_passes:
        if options.is_over:
            return found.ended(Status.max_time)
        before = opened
        # Closing rows again may go round in circles, so it ends after a few passes.
        may_close = (
            settings.representative == "mean" and found.n_passes < _CLOSING_PASSES
        )
        kept = opened & is_free(rows, found.duals) if may_close else opened
        opened, side = open_rows(
            rows, kept, found.duals, found.last.decisions, settings
        )
        if np.array_equal(opened, before):
            return found.ended(Status.stalled)
        closed = ~opened
        if settings.representative == "mean":
            # Rows outside the margin have no dual unless they violate, and are opened.
            closed &= side == _INSIDE
        units = make_units(rows, opened, side, settings.representative, closed)
        try:
            found = _solve_units(rows, space, units, options, found)
        except OutOfTimeError:
            return found.ended(Status.max_time)
    return found


def _solve_units(
    rows: TwoClassRows,
    space: DualSpace,
    units: Units,
    options: KernelOptions,
    before: ReducedSolution | None,
) -> ReducedSolution:
    """One pass, from the duals of the one before."""
    duals = np.zeros(len(rows.sign)) if before is None else before.duals
    last = space.solve(units, options, unit_duals(units, duals))
    duals = np.asarray(units.shares.T @ last.duals)
    violation = largest_violation(rows, duals, last.decisions)
    used = [] if before is None else before.rows_used
    return ReducedSolution(duals, last, violation, [*used, len(units.sign)])


def open_rows(
    rows: TwoClassRows,
    kept: Flags,
    duals: Floats,
    decisions: Floats,
    settings: ReductionSettings,
) -> tuple[Flags, NDArray[np.intp]]:
    """Lines 10 to 20: rows that become units, and the side of the margin of others.

    A pseudo-centre that has a dual is opened: dropped, it would leave duals that do not
    sum to zero.
    """
    margin = rows.sign * decisions
    inside = margin < 1 - settings.band
    near = np.abs(margin - 1) <= settings.band
    alone = np.zeros(len(margin), dtype=bool)
    if not settings.use_bounds:
        near |= inside
    if settings.representative == "pseudo_center":
        alone = duals != 0
    wrong = violations(rows, duals, decisions - rows.sign) > settings.tol
    side = np.where(inside, _INSIDE, _OUTSIDE)
    return (kept | near | alone | wrong) & (rows.bounds > 0), side


def first_representative(averages_cheaply: bool, settings: ReductionSettings) -> str:
    """Choose what stands for clusters at first, when every row is in one."""
    if settings.representative == "mean" and not averages_cheaply:
        return "weighted_center"
    return settings.representative


def make_units(
    rows: TwoClassRows,
    opened: Flags,
    side: NDArray[np.intp],
    representative: str,
    grouped: Flags | None = None,
) -> Units:
    """Make units of opened rows and of what a cluster has on a side.

    Without ``grouped`` all rows that are not opened are in groups. "weighted_center" is
    a pseudo-centre with the bounds of its group.
    """
    in_groups = ~opened if grouped is None else grouped
    closed = np.flatnonzero(in_groups & (rows.bounds > 0))
    _, group = np.unique(2 * rows.clusters[closed] + side[closed], return_inverse=True)
    bounds: Floats = np.bincount(group, weights=rows.bounds[closed]).astype(np.float64)
    if representative == "mean":
        share: Floats = rows.bounds[closed] / bounds[group]
    else:
        closed, group = pseudo_centers(rows, closed, group)
        share = np.ones(len(closed))
        if representative == "pseudo_center":
            bounds = rows.bounds[closed]
    alone = np.flatnonzero(opened)
    n_groups = len(bounds)
    shares = sparse.csr_array(
        (
            np.r_[share, np.ones(len(alone))],
            (np.r_[group, n_groups + np.arange(len(alone))], np.r_[closed, alone]),
        ),
        shape=(n_groups + len(alone), len(rows.sign)),
    )
    sign = np.empty(n_groups)
    sign[group] = rows.sign[closed]
    return Units(
        shares, np.r_[sign, rows.sign[alone]], np.r_[bounds, rows.bounds[alone]]
    )


def pseudo_centers(
    rows: TwoClassRows, members: NDArray[np.intp], group: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Eq. 2.15: the member of each group nearest to their mean, and its group."""
    if not len(members):
        return members, group
    X = rows.X[members]
    member = sparse.csr_array((np.ones(len(group)), (group, np.arange(len(group)))))
    means = sparse.diags_array(1 / np.bincount(group)) @ (member @ X)
    away = X - means[group]
    squared = (
        away.multiply(away).sum(axis=1)
        if sparse.issparse(away)
        else (np.einsum("ij,ij->i", away, away, dtype=np.float64))
    )
    order = np.lexsort((np.asarray(squared).ravel(), group))
    _, first = np.unique(group[order], return_index=True)
    return members[order[first]], np.arange(len(first))


def violations(rows: TwoClassRows, duals: Floats, gradient: Floats) -> Floats:
    """How far each row is from where it may stay, given the intercept (2.16).

    Infinite for a row whose dual is beyond its bound, as that of a row may be that
    stands for others.
    """
    rises, falls = may_move(rows, duals)
    slack = rows.sign * gradient
    away = np.maximum(np.where(rises, -slack, 0.0), np.where(falls, slack, 0.0))
    beyond = rows.sign * duals > rows.bounds * (1 + _ROUNDING)
    return np.where(beyond, np.inf, away)


def may_move(rows: TwoClassRows, duals: Floats) -> tuple[Flags, Flags]:
    """Rows whose dual is below its bound, and those whose dual is above zero."""
    rounding = 1e-12 * rows.bounds
    size = rows.sign * duals
    return size < rows.bounds - rounding, size > rounding


def is_free(rows: TwoClassRows, duals: Floats) -> Flags:
    """Rows whose dual is neither zero nor at its bound."""
    rises, falls = may_move(rows, duals)
    return rises & falls


def largest_violation(rows: TwoClassRows, duals: Floats, decisions: Floats) -> float:
    """Find the largest violation over all rows."""
    return float(violations(rows, duals, decisions - rows.sign).max(initial=0.0))


def objectives(rows: TwoClassRows, solution: ReducedSolution) -> tuple[float, float]:
    """Primal and dual objective over all rows."""
    decisions = solution.last.decisions
    coef = solution.last.coef
    sums = decisions - solution.last.intercept
    squared = float(solution.duals @ sums if coef is None else coef @ coef)
    dual = float(solution.duals @ rows.sign - squared / 2)
    return squared / 2 + hinge_loss(rows, decisions), dual


def hinge_loss(rows: TwoClassRows, decisions: Floats) -> float:
    """Sum of the margin errors, each times the bound of its row."""
    return float(rows.bounds @ np.maximum(0.0, 1.0 - rows.sign * decisions))


def relative_gap(primal: float, dual: float, violation: float) -> float:
    """Duality gap over the primal objective.

    It is infinite where a dual is beyond its bound, which ``violation`` says.
    """
    if not np.isfinite(violation):
        return float("inf")
    return max(0.0, primal - dual) / primal if primal > 0 else 0.0


def unit_duals(units: Units, duals: Floats) -> Floats:
    """Where the units start: the sum of the duals of their rows."""
    pattern = units.shares.copy()
    pattern.data = np.ones_like(pattern.data)
    return np.asarray(pattern @ duals)


@dataclass(frozen=True)
class Seen:
    """Duals and decisions of the rows of a block after a solve.

    Attributes
    ----------
    tasks : list of TwoClassRows
    duals, decisions : ndarray of shape (n_tasks, n_rows)
    """

    tasks: list[TwoClassRows]
    duals: Floats
    decisions: Floats


def split_group(task: TwoClassRows, decisions: Floats) -> NDArray[np.int32]:
    """Part each group by the sides of the margin that its rows are on.

    With all rows of each group on one side the means say of the rows what is true.
    """
    inside = task.sign * decisions < 1
    _, group = np.unique(2 * task.clusters + inside, return_inverse=True)
    return group.astype(np.int32)


def open_groups(
    seen: Seen, groups: NDArray[np.int32], settings: ReductionSettings
) -> NDArray[np.bool_]:
    """Rows that leave their groups: those that are wrong in a group that stays whole.

    A group that is parted is tried again first. Without ``use_bounds`` all rows inside
    the margin leave.
    """
    opened = np.zeros(groups.shape[1], dtype=bool)
    for task, group, duals, decisions in zip(
        seen.tasks, groups, seen.duals, seen.decisions, strict=True
    ):
        left = task.bounds > 0
        before = np.bincount(task.clusters, left)[task.clusters]
        whole = np.bincount(group, left)[group] == before
        wrong = violations(task, duals, decisions - task.sign) > settings.tol
        opened |= whole & wrong
        if not settings.use_bounds:
            opened |= left & (task.sign * decisions < 1 + settings.band)
    return opened


def open_most(seen: Seen, most: int, settings: ReductionSettings) -> NDArray[np.bool_]:
    """Rows that ClusterSVM opens, but not more than so many, and wrong ones first.

    The SVM of few rows is wrong about many that will turn out not to matter.
    """
    opened = np.zeros(seen.decisions.shape[1], dtype=bool)
    wrong = np.zeros_like(opened)
    nothing = np.zeros_like(opened)
    for task, duals, decisions in zip(
        seen.tasks, seen.duals, seen.decisions, strict=True
    ):
        opened |= open_rows(task, nothing, duals, decisions, settings)[0]
        wrong |= violations(task, duals, decisions - task.sign) > settings.tol
    # The rows of a block are in a random order.
    chosen = np.flatnonzero(opened)
    chosen = chosen[np.argsort(~wrong[chosen], kind="stable")]
    opened[chosen[most:]] = False
    return opened
