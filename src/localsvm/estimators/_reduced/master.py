"""The master problem over blocks: gather, solve, check all rows, until it is exact.

A master problem consists of the rows that have entered it and of what stands for the
groups that stay in the blocks.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from scipy import sparse

from localsvm.engine import Blocks, Labels, MemoryNeed, cancel_event
from localsvm.estimators._reduced.blocks import (
    Hyperplanes,
    Plan,
    check_block,
    summarize_block,
)
from localsvm.estimators._reduced.records import (
    ActiveRows,
    Check,
    Groups,
    PassState,
    ReducedStore,
    stack,
)
from localsvm.estimators._reduced.reduction import (
    TwoClassRows,
    hinge_loss,
    largest_violation,
    objectives,
    solve_all,
)
from localsvm.estimators._reduced.result import (
    PassEnd,
    Places,
    ReducedFit,
    TaskSolution,
    collect,
    with_group_duals,
)
from localsvm.estimators._reduced.settings import (
    FitOptions,
    ReducedSettings,
    ReductionRule,
)
from localsvm.estimators._reduced.spaces import FeatureSpace, RowSpace
from localsvm.passes import Content

# So many clusters of a class are no burden to the first solve.
_CHEAP_CLUSTERS = 2000
# Rows that may enter after a pass, in rows and groups of its problem.
_GROWTH = 2.0
_CURE = (
    "Use kernel='linear', with which rows far inside the margin stay where they are, a "
    "smaller band or a smaller C; LocalSVC or SupportClusterSVC, which solve for "
    "neighbourhoods or summaries of the rows; or allow more memory."
)


def reduce_blocks(
    blocks: Blocks,
    content: Content,
    labels: Labels,
    settings: ReducedSettings,
    options: FitOptions,
) -> ReducedFit:
    """Summarise, solve and check until the solution is that of all rows."""
    plan = make_plan(blocks, content, labels, settings, options)
    with options.clock.stage("cluster"):
        places, first = summarize(blocks, plan)
    end = run_passes(blocks, plan, options, places, first)
    with options.clock.stage("collect"):
        return collect(blocks, plan, settings, options, places, end)


def make_plan(
    blocks: Blocks,
    content: Content,
    labels: Labels,
    settings: ReducedSettings,
    options: FitOptions,
) -> Plan:
    """Settle what is the same for all blocks and passes."""
    like: Any = np.empty((0, blocks.n_features))
    if content.is_sparse:
        like = sparse.csr_array(like)
    counts = np.maximum(content.totals.counts, 1.0)
    rule = settings.reduction or ReductionRule()
    is_linear = settings.kernel.name == "linear"
    rule = replace(rule, use_bounds=rule.use_bounds and is_linear)
    solver = replace(options.for_reduction(), deadline=None)
    return Plan(
        ReducedStore(blocks.store),
        labels,
        settings.kernel,
        settings.C,
        settings.takes_interior_point(like),
        rule.with_options(options.tol, solver),
        settings.clusterer,
        np.maximum(np.sqrt(counts), _CHEAP_CLUSTERS) / counts,
        options.seed,
    )


def summarize(blocks: Blocks, plan: Plan) -> tuple[Places, PassState]:
    """Cluster the rows of each block; the clusters are the first groups."""
    found = blocks.reduce(summarize_block, plan, stage="cluster")
    offer = found.offer
    sizes = np.zeros(blocks.n_blocks, dtype=np.int64)
    sizes[offer.number] = found.n_rows
    present = found.n_kept > 0
    numbers = offer.number[present].tolist()
    starts = (np.cumsum(sizes) - sizes)[numbers].tolist()
    return Places(numbers, starts, int(sizes.sum())), PassState(
        0,
        0,
        int(offer.n_new.sum()),
        int(offer.n_left.sum()),
        offer.n_groups[present],
        np.empty((0, plan.n_tasks), dtype=np.int64),
    )


def run_passes(
    blocks: Blocks, plan: Plan, options: FitOptions, places: Places, state: PassState
) -> PassEnd:
    """Pass after pass, until no row violates the conditions."""
    clock = options.clock
    saved = blocks.checkpoint.load("passes") if blocks.checkpoint else None
    if saved is not None:
        state = PassState.from_arrays(saved)
    plan.stored.drop_results(state.version, places.numbers, plan.n_tasks)
    while True:
        require_room(blocks, plan, options, state)
        with clock.stage("solve"):
            n_active, solved = solve_tasks(blocks, plan, options, places, state)
        used = np.vstack([state.used, [each.n_units for each in solved]])
        state = replace(state, n_active=n_active, used=used)
        with clock.stage("check"):
            check = check_blocks(blocks, plan, places, state, solved)
        end = PassEnd(state, solved, check)
        if _is_done(plan, options, end):
            return end
        state = replace(
            state,
            version=state.version + 1,
            n_new=int(check.offer.n_new.sum()),
            n_left=int(check.offer.n_left.sum()),
            n_groups=check.offer.n_groups,
        )
        # Once this is saved, older passes are not needed.
        if blocks.checkpoint is not None:
            blocks.checkpoint.save("passes", state.as_arrays(), now=True)
        plan.stored.drop_before(state.version, places.numbers, plan.n_tasks)


def _is_done(plan: Plan, options: FitOptions, end: PassEnd) -> bool:
    offer = end.check.offer
    stuck = not offer.n_new.any() and np.array_equal(offer.n_groups, end.state.n_groups)
    return bool(
        end.violation.max() <= options.tol
        or end.state.version == plan.settings.max_passes
        or stuck
        or options.clock.remaining() == 0.0
    )


def require_room(
    blocks: Blocks, plan: Plan, options: FitOptions, state: PassState
) -> None:
    """Refuse before rows enter if they do not fit where they are solved for."""
    itemsize, n_tasks = blocks.dtype.itemsize, plan.n_tasks
    n_rows = state.n_active + state.n_new
    n_rows += int(state.n_groups.sum(axis=0).max(initial=0))
    cache = min(options.cache_size * 2**20, itemsize * float(n_rows) ** 2)
    need = MemoryNeed(
        copies=4.0 + 16.0 / itemsize,
        bytes_per_row=100.0 + 16.0 * n_tasks,
        fixed=0.0 if plan.by_interior_point else cache,
    )
    what = f"The SVM after pass {state.version}, of the rows that can matter,"
    blocks.require_memory_of(need, n_rows, what, _CURE)
    per_row = 16.0 * (n_tasks + 1)
    if plan.kernel.name == "linear":
        kept = MemoryNeed(copies=0.0, bytes_per_row=per_row)
        what = "What the model says of rows with a dual (support_, dual_coef_)"
        n_rows += state.n_left
    else:
        kept = MemoryNeed(copies=3.0, bytes_per_row=per_row)
        what = "The model with its support vectors"
    blocks.require_memory_here(kept, n_rows, what, _CURE)


def solve_tasks(
    blocks: Blocks, plan: Plan, options: FitOptions, places: Places, state: PassState
) -> tuple[int, list[TaskSolution]]:
    """Bring the new rows to the others and solve each task."""
    version = state.version
    (n_active,) = blocks.run(
        gather, [version], plan, places.numbers, places.starts, stage="gather"
    )
    # Processes have no other clock in common.
    left = options.clock.remaining()
    deadline = None if left is None else time.time() + left
    solved = blocks.run(
        solve_task, range(plan.n_tasks), version, plan, deadline, stage="solve"
    )
    return n_active, list(solved)


def gather(version: int, plan: Plan, numbers: list[int], starts: list[int]) -> int:
    """Put the new rows of all blocks to those that have entered before.

    Parameters
    ----------
    version : int
        Of the pass before which this happens.
    plan : Plan
    numbers : list of int
        Blocks with rows.
    starts : list of int
        How many rows the blocks before each of them have.

    Returns
    -------
    int
        Active rows, equal ones counted once.
    """
    stored, n_tasks, pieces = plan.stored, plan.n_tasks, []
    if version:
        before = stored.read_active(version - 1)
        duals = stored.read_duals(n_tasks, version - 1)
        duals_of_rows = np.array([own[: before.n_rows] for own in duals])
        pieces.append(replace(before, duals=duals_of_rows))
    groups: list[list[Groups]] = [[] for _ in range(n_tasks)]
    for number, start in zip(numbers, starts, strict=True):
        new, own = stored.read_given(number, version, n_tasks)
        pieces.append(replace(new, number=new.number + start))
        for known, each in zip(groups, own, strict=True):
            known.append(each)
    whole = ActiveRows.joined(pieces, plan.seed)
    stored.write_units(version, whole, [Groups.joined(each) for each in groups])
    return whole.n_rows


def solve_task(
    task: int, version: int, plan: Plan, deadline: float | None
) -> TaskSolution:
    """Solve the SVM of the active rows and of what stands for the groups.

    ``deadline`` is the time, as of ``time.time``, at which the solver stops.
    """
    active = plan.stored.read_active(version)
    groups = plan.stored.read_groups(version, task)
    X = stack([active.X, groups.X])
    rows = TwoClassRows(
        active.X,
        plan.signs(active.class_index)[task],
        plan.C * active.weight,
        np.zeros(active.n_rows, dtype=np.intp),
    )
    units = TwoClassRows(
        X,
        np.concatenate([rows.sign, groups.sign]),
        np.concatenate([rows.bounds, groups.bounds]),
        np.zeros(X.shape[0], dtype=np.intp),
    )
    start = np.concatenate([active.duals[task], groups.duals])
    left = None if deadline is None else max(0.0, deadline - time.time())
    options = replace(
        plan.settings.options,
        deadline=None if left is None else time.perf_counter() + left,
        cancel=cancel_event(),
        n_threads=1,
    )
    is_linear = plan.kernel.name == "linear"
    space = (
        FeatureSpace(X, plan.by_interior_point)
        if is_linear
        else RowSpace(X, plan.kernel, 1)
    )
    found = solve_all(units, space, options, start)
    own, last = slice(active.n_rows), found.last
    primal, dual = objectives(units, found)
    plan.stored.write_duals(task, version, found.duals)
    return TaskSolution(
        group_duals=found.duals[active.n_rows :],
        coef=np.empty(0) if last.coef is None else last.coef,
        intercept=float(last.intercept),
        objective=dual,
        primal=primal
        - hinge_loss(units, last.decisions)
        + hinge_loss(rows, last.decisions[own]),
        violation=largest_violation(rows, found.duals[own], last.decisions[own]),
        n_units=X.shape[0],
        status=last.status.value,
        n_iter=last.n_iter,
    )


def check_blocks(
    blocks: Blocks,
    plan: Plan,
    places: Places,
    state: PassState,
    solved: Sequence[TaskSolution],
) -> Check:
    """Check the rows of all blocks, which store what they give to the next pass."""
    planes = Hyperplanes(
        state.version,
        np.array([each.coef for each in solved]),
        np.array([each.intercept for each in solved]),
    )
    items = with_group_duals(places, state, solved)
    share = _GROWTH * float(state.used[-1].max()) / max(1, state.n_left)
    found = blocks.run(check_block, items, plan, planes, share, stage="check")
    whole: Check = reduce(Check.merge, found)
    return whole


def memory_of_blocks(itemsize: int) -> MemoryNeed:
    """Rows as they are read, merged, and those of a class in float64, clustered.

    As much again, and more, is what the allocator keeps of arrays that are gone.
    """
    return MemoryNeed(copies=6.0 + 3 * 8.0 / itemsize, bytes_per_row=300.0)
