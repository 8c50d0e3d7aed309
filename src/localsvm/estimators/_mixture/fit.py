"""The fit of a mixture of linear SVMs: survey, write, cluster, then EM (Figure 2).

``survey_rows`` looks at all rows once. ``fit_mixture`` does the rest over blocks of
rows; an array in memory is one block. Neither knows an estimator; what they return is
frozen. Only two steps differ in memory: a clusterer sees all rows instead of a sample,
and the SVMs are solved by one call of the core instead of by passes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from localsvm._threads import single_threaded_libraries
from localsvm.engine import Blocks, Labels, MemoryNeed
from localsvm.estimators._mixture.blocks import (
    START,
    Assigned,
    StoredRows,
    assign_block,
    start_shares,
    write_block,
)
from localsvm.estimators._mixture.em import (
    BestStep,
    Certificate,
    EMProblem,
    EMState,
    EMWatch,
    ExpertSolver,
    MemorySolver,
    PassSolver,
    SavedEM,
    constant_tasks,
    load_em,
    row_bytes_of,
    run_em,
)
from localsvm.estimators._mixture.gates import (
    CenterGate,
    Gate,
    LinearGate,
    TwoLevelGate,
)
from localsvm.estimators._mixture.model import MixtureModel
from localsvm.estimators._mixture.settings import FitOptions, MixtureSettings, Scales
from localsvm.estimators._mixture.survey import (
    HoldOut,
    MixtureSurvey,
    survey_mixture,
    training_weight,
)
from localsvm.passes import (
    BlockClusterer,
    centers_for,
    cluster_centers,
    count_rows,
    working_bytes,
)

# The sharpness tau="scale", times the mean squared distance of a row to its centre.
SCALED_TAU = 4.0


@dataclass(frozen=True)
class Surveyed:
    """What a look at all rows has found.

    Attributes
    ----------
    survey : MixtureSurvey
    hold_out : HoldOut
        Which rows were set aside.
    """

    survey: MixtureSurvey
    hold_out: HoldOut


@dataclass(frozen=True)
class MixtureFit:
    """What a fit has found.

    Attributes
    ----------
    best : BestStep
        The step that is kept, with its model.
    n_steps : int
        EM steps that were done.
    history : dict of ndarray
        One entry per step, the start first.
    converged : bool
    certificate : Certificate
        Of the last SVMs.
    n_support : ndarray of shape (n_classes,)
        Support vectors of the last SVMs.
    scales : Scales
    tau : float
    clusterer : object
        The fitted clusterer of the start.
    out_of_time : bool
        Whether EM ended with the time limit.
    """

    best: BestStep
    n_steps: int
    history: dict[str, NDArray[Any]]
    converged: bool
    certificate: Certificate
    n_support: NDArray[np.intp]
    scales: Scales
    tau: float
    clusterer: Any
    out_of_time: bool

    @property
    def model(self) -> MixtureModel:
        """The mixture of the step that is kept."""
        return self.best.model


def survey_rows(
    blocks: Blocks, settings: MixtureSettings, options: FitOptions
) -> Surveyed:
    """Choose the rows to set aside, and look at all rows once."""
    if not blocks.is_in_memory:
        blocks.require_memory(_memory(blocks, settings))
    with options.clock.stage("scan"):
        hold_out = HoldOut.of(settings, count_rows(blocks), options.seed)
        return _survey(blocks, settings, options, hold_out, "scan")


def fit_mixture(
    blocks: Blocks,
    surveyed: Surveyed,
    labels: Labels,
    settings: MixtureSettings,
    options: FitOptions,
) -> MixtureFit:
    """Start from clusters, then E-steps and M-steps in turn.

    Parameters
    ----------
    blocks : Blocks
    surveyed : Surveyed
        Of these blocks.
    labels : Labels
    settings : MixtureSettings
    options : FitOptions
    """
    clock = options.clock
    with clock.stage("scan"):
        surveyed = _accepted(blocks, surveyed, labels, settings, options)
    survey, hold_out = surveyed.survey, surveyed.hold_out
    scales = Scales.of(settings, survey.seen.squares / survey.seen.weight)
    stored = StoredRows(blocks.store, scales.C, len(labels.classes), blocks.n_jobs)
    with clock.stage("write"):
        written = blocks.reduce(write_block, stored, labels, hold_out, stage="write")
    with clock.stage("cluster"):
        clusterer, centers = _cluster(blocks, surveyed, stored, settings, options)
        found = blocks.run(
            assign_block, written.numbers.tolist(), stored, centers, stage="assign"
        )
        assigned = reduce(Assigned.merge, found)
        tau = sharpness(settings.gate.tau, assigned.distance / survey.seen.weight)
        gate, order = start_gate(settings, centers, assigned.sizes, tau, options.seed)
    problem = EMProblem(
        blocks=blocks,
        stored=stored,
        numbers=written.numbers.tolist(),
        settings=settings,
        options=options,
        scales=scales,
        solver=_solver(blocks, stored, options, scales),
        weight=written.weight,
        origin=survey.origin,
        gate_scale=survey.scale,
    )
    watch = EMWatch(options, settings.n_iter_no_change)
    saved = load_em(blocks.checkpoint, blocks.dtype)
    if saved is None:
        state = start_em(problem, gate, order, assigned.counts[order])
    else:
        state = resume_em(problem, saved, watch)
    state = run_em(problem, state, watch)
    out_of_time = clock.remaining() == 0
    return MixtureFit(
        best=watch.kept,
        n_steps=watch.n_steps - 1,
        history={name: np.array(each) for name, each in watch.history.items()},
        converged=watch.converged,
        certificate=state.solved.certificate,
        n_support=problem.solver.support(state.solved),
        scales=scales,
        tau=tau,
        clusterer=clusterer,
        out_of_time=out_of_time,
    )


def start_em(
    problem: EMProblem,
    gate: Gate,
    order: NDArray[np.intp],
    class_counts: NDArray[np.int64],
) -> EMState:
    """One SVM per cluster (section III-D).

    A cluster of one class gets the constant of that class and zero duals, if there is
    an intercept.

    Parameters
    ----------
    problem : EMProblem
    gate : Gate
    order : ndarray of shape (n_components,)
        Clusters of the components.
    class_counts : ndarray of shape (n_components, n_classes)
        Rows of each component by class.
    """
    options = problem.options
    with options.clock.stage("solve"):
        sizes = problem.run(start_shares, order, stage="start")
        seen = problem.seen(START, 0.0, np.arange(len(order)), sizes)
        solved = problem.solver.solve(seen, options.for_solver())
    experts = solved.experts
    if problem.scales.intercept > 0:
        constants = [dict(constant_tasks(own, experts.n_tasks)) for own in class_counts]
        experts = experts.with_constants(constants)
        solved = solved.without_duals([tuple(own) for own in constants])
    dtype = problem.blocks.dtype
    model = MixtureModel(gate, experts.coef, experts.intercept, dtype)
    return EMState(model, solved, seen)


def resume_em(problem: EMProblem, saved: SavedEM, watch: EMWatch) -> EMState:
    """Where an interrupted fit was; the watch gets its history."""
    watch.resume(saved)
    # The SVMs of the last step are solved, and found again by their names.
    solved = problem.solver.solve(saved.seen, problem.options.for_solver())
    return EMState(saved.model, solved, saved.seen, saved.n_done)


def sharpness(tau: float | str, mean_distance: float) -> float:
    """Resolve ``tau``; "scale" is 1 where every row lies on its centre."""
    if tau != "scale":
        return float(tau)
    return SCALED_TAU / mean_distance if mean_distance > 0 else 1.0


def start_gate(
    settings: MixtureSettings,
    centers: NDArray[Any],
    sizes: NDArray[np.float64],
    tau: float,
    seed: int,
) -> tuple[Gate, NDArray[np.intp]]:
    """Gate that is softest between the centres.

    With two levels, k-means finds groups among the centres.

    Parameters
    ----------
    settings : MixtureSettings
    centers : ndarray of shape (n_components, n_features)
    sizes : ndarray of shape (n_components,)
        Weight of the rows of each centre.
    tau : float
    seed : int

    Returns
    -------
    gate : Gate
    order : ndarray of shape (n_components,)
        The gate's j-th component is the ``order[j]``-th centre.
    """
    make = CenterGate.at if settings.as_printed else LinearGate.at
    n_groups = settings.gate.n_groups
    if settings.gate.levels == 1:
        return make(centers, tau), np.arange(len(centers))
    wide = np.asarray(centers, dtype=np.float64)
    wanted = round(math.sqrt(len(wide))) if n_groups == "auto" else int(n_groups)
    with single_threaded_libraries():
        grouping = KMeans(min(wanted, len(wide)), n_init=10, random_state=seed).fit(
            wide, sample_weight=np.maximum(sizes, 1e-12)
        )
    members = [
        np.flatnonzero(grouping.labels_ == g) for g in range(grouping.n_clusters)
    ]
    members = [group for group in members if len(group)]
    top = np.stack([_mean(wide[group], sizes[group]) for group in members])
    gate = TwoLevelGate(
        make(top, tau), tuple(make(wide[group], tau) for group in members)
    )
    return gate, np.concatenate(members)


def _mean(centers: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[Any]:
    weights = sizes if sizes.any() else None
    return np.asarray(np.average(centers, axis=0, weights=weights))


def _memory(blocks: Blocks, settings: MixtureSettings) -> MemoryNeed:
    """Memory of a block."""
    row_bytes = row_bytes_of(blocks.n_features, blocks.dtype.itemsize)
    # Responsibilities and targets, and what is one number per row.
    per_row = 4.0 * 8.0 * settings.n_regions + 150.0
    fixed = working_bytes(row_bytes + per_row, blocks.n_rows)
    return MemoryNeed(copies=3.0, bytes_per_row=per_row, fixed=fixed)


def _survey(
    blocks: Blocks,
    settings: MixtureSettings,
    options: FitOptions,
    hold_out: HoldOut,
    stage: str,
) -> Surveyed:
    sampling = 0, 0
    if not blocks.is_in_memory:
        sampling = _clusterer(settings, options).sampling(hold_out.n_rows)
    survey = blocks.reduce(survey_mixture, hold_out, *sampling, stage=stage)
    return Surveyed(survey, hold_out)


def _accepted(
    blocks: Blocks,
    surveyed: Surveyed,
    labels: Labels,
    settings: MixtureSettings,
    options: FitOptions,
) -> Surveyed:
    """Survey again with no rows set aside, if too few are left on either side."""
    survey, hold_out = surveyed.survey, surveyed.hold_out
    counts, aside = survey.training.counts, survey.aside.counts
    present = survey.all_rows.totals.mass * labels.class_weight > 0
    if hold_out.accepts(counts[present], aside[present]):
        return surveyed
    without = replace(hold_out, fraction=0.0)
    return _survey(blocks, settings, options, without, "scan-all")


def _clusterer(settings: MixtureSettings, options: FitOptions) -> BlockClusterer:
    wanted = settings.n_regions, options.seed
    return BlockClusterer(settings.clusterer, *wanted, n_jobs=options.n_jobs)


def _cluster(
    blocks: Blocks,
    surveyed: Surveyed,
    stored: StoredRows,
    settings: MixtureSettings,
    options: FitOptions,
) -> tuple[Any, NDArray[Any]]:
    """Fitted clusterer and its centres: of all rows in memory, else of a sample."""
    survey, clusterer = surveyed.survey, _clusterer(settings, options)
    if blocks.is_in_memory:
        rows = stored.training(0)
        training = Blocks.in_memory(rows, options.n_jobs)
        seen = replace(survey.seen, n_rows=rows.n_rows)
        fitted = clusterer.fit_blocks(training, seen)
        return fitted, cluster_centers(training, fitted)
    weigh = partial(training_weight, hold_out=surveyed.hold_out)
    fitted = clusterer.fit_blocks(blocks, survey.seen, weigh)
    return fitted, centers_for("A mixture", fitted, "Use another clusterer.")


def _solver(
    blocks: Blocks, stored: StoredRows, options: FitOptions, scales: Scales
) -> ExpertSolver:
    if blocks.is_in_memory:
        return MemorySolver.of(stored, scales.intercept)
    return PassSolver(blocks, stored, options.clock, scales.intercept)
