"""Fit of a mixture of linear SVMs to rows in memory: start, then EM (Figure 2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm._clock import StageClock
from localsvm.estimators._mixture.em import MixtureSteps, StepOptions, run_em
from localsvm.estimators._mixture.expectation import (
    Expectation,
    count_hits,
    expectation,
    weighted_by,
)
from localsvm.estimators._mixture.experts import (
    Certificate,
    SolvedInMemory,
    solve_experts,
    subsets_by,
)
from localsvm.estimators._mixture.settings import MixtureSettings, Scales
from localsvm.estimators._mixture.start import (
    assign_to_centers,
    sharpness,
    split_rows,
    start_gate,
)
from localsvm.estimators._mixture.watch import BestStep, EMWatch
from localsvm.passes import centers_of, fit_clusterer
from localsvm.rows import Rows, spread_around, squared_norms
from localsvm.solvers import GateRows, LinearProblem, RowTargets, SolverOptions


@dataclass(frozen=True)
class MixtureFit:
    """What a fit has found.

    Attributes
    ----------
    best : BestStep
        The step that is kept, with its model.
    history : dict of ndarray
        One entry per step, the start first.
    converged : bool
    certificate : Certificate
        Of the last SVMs.
    scales : Scales
    tau : float
    clusterer : object
        The fitted clusterer of the start.
    seconds : dict
        By stage.
    out_of_time : bool
    """

    best: BestStep
    history: dict[str, NDArray[Any]]
    converged: bool
    certificate: Certificate
    scales: Scales
    tau: float
    clusterer: Any
    seconds: dict[str, float]
    out_of_time: bool

    @classmethod
    def of(
        cls, steps: MixtureSteps[Any], watch: EMWatch, tau: float, clusterer: Any
    ) -> MixtureFit:
        """Collect what the last step has left."""
        return cls(
            best=watch.kept,
            history={name: np.array(each) for name, each in watch.history.items()},
            converged=watch.converged,
            certificate=steps.certificate,
            scales=steps.scales,
            tau=tau,
            clusterer=clusterer,
            seconds=steps.clock.seconds,
            out_of_time=steps.clock.remaining() == 0,
        )


@dataclass
class ArraySteps(MixtureSteps[SolvedInMemory]):
    """EM on rows in memory.

    Attributes
    ----------
    rows : Rows
    validation : Rows or None
        Rows that EM does not see.
    gate_rows : GateRows
    squared_norms : ndarray of shape (n_samples,)
    responsibilities : ndarray of shape (n_samples, n_components)
        Those of the last E-step; at first, whether a row is in a cluster.
    """

    rows: Rows
    validation: Rows | None
    gate_rows: GateRows
    squared_norms: NDArray[np.float64]
    responsibilities: NDArray[Any]

    def __post_init__(self) -> None:
        rows, scales = self.rows, self.scales
        self._problem = LinearProblem(
            rows.X,
            rows.class_index,
            rows.n_classes,
            scales.C * rows.penalty_weight,
            scales.intercept,
        )

    def _expect(self, options: StepOptions) -> Expectation:
        bounds, n_jobs = self._problem.bounds, self.gate_rows.n_jobs
        self.responsibilities, found = expectation(
            self.model, self.rows, bounds, options.cutoff, n_jobs
        )
        if self.validation is None:
            return found
        hits = count_hits(self.model, self.validation, n_jobs)
        return replace(found, validation_hits=hits)

    def _targets(self, found: Expectation) -> RowTargets:
        del found
        return RowTargets(
            self.gate_rows, weighted_by(self.rows, self.responsibilities)
        )

    def _solve(
        self, cutoff: float, options: SolverOptions, before: SolvedInMemory | None
    ) -> SolvedInMemory:
        subsets = subsets_by(self.responsibilities, self._problem.bounds, cutoff)
        return solve_experts(
            self._problem, self.squared_norms, subsets, options, before
        )


def fit_mixture(
    rows: Rows, settings: MixtureSettings, seed: int, clock: StageClock
) -> MixtureFit:
    """Start from clusters, then E-steps and M-steps in turn.

    Parameters
    ----------
    rows : Rows
    settings : MixtureSettings
    seed : int
        Of clusters, rows set aside and the order of the rows in the solver.
    clock : StageClock
    """
    training, validation = split_rows(rows, settings, seed)
    norms = squared_norms(training.X)
    scales = Scales.of(
        settings, float(np.average(norms, weights=training.sample_weight))
    )
    with clock.stage("cluster"):
        clusterer = fit_clusterer(
            settings.clusterer,
            training,
            settings.n_regions,
            seed,
            settings.n_jobs,
            "n_components",
        )
        centers = centers_of(clusterer, training)
        labels, distances = assign_to_centers(training.X, centers, settings.n_jobs)
        weight = training.sample_weight
        tau = sharpness(
            settings.gate.tau, float(np.average(distances, weights=weight))
        )
        sizes = np.bincount(labels, weight, len(centers)).astype(float)
        gate, order = start_gate(settings.gate, centers, sizes, tau, seed)
        component = np.argsort(order)[labels]
    gate_rows = gate_rows_of(training, settings.n_jobs)
    steps = ArraySteps(
        settings=settings,
        scales=scales,
        clock=clock,
        gate=gate,
        weight=float(training.penalty_weight.sum()),
        gate_scale=gate_rows.scale,
        dtype=training.X.dtype,
        rows=training,
        validation=validation,
        gate_rows=gate_rows,
        squared_norms=norms,
        responsibilities=_membership(component, len(order)),
    )
    steps.start(
        _class_counts(training, component, len(order)), settings.solver(seed, clock)
    )
    watch = EMWatch(settings, clock)
    run_em(steps, watch, seed)
    return MixtureFit.of(steps, watch, tau, clusterer)


def gate_rows_of(rows: Rows, n_jobs: int | None) -> GateRows:
    """Rows for the gate, with their mean and the root of their mean squared spread."""
    weight = rows.sample_weight
    origin = np.asarray(weight @ rows.X, dtype=np.float64).ravel() / weight.sum()
    spread = spread_around(rows.X, weight, origin) / weight.sum()
    return GateRows(rows.X, origin, np.sqrt(spread) or 1.0, n_jobs)


def _membership(component: NDArray[Any], n_components: int) -> NDArray[np.float64]:
    member = component[:, np.newaxis] == np.arange(n_components)
    return member.astype(np.float64)


def _class_counts(
    rows: Rows, component: NDArray[Any], n_components: int
) -> NDArray[np.int64]:
    """Rows with a weight, by component and class."""
    seen = rows.penalty_weight > 0
    counts = np.zeros((n_components, rows.n_classes), dtype=np.int64)
    np.add.at(counts, (component[seen], rows.class_index[seen]), 1)
    return counts
