"""What an updatable fit of linear SVMs over regions keeps besides its model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm import _core
from localsvm.cluster import RegionCodes
from localsvm.estimators._regional.blocks import with_global_node
from localsvm.estimators._regional.leave_one_out import (
    CodedGram,
    signed_duals,
    span_decisions,
)
from localsvm.estimators._regional.model import (
    RegionalFit,
    RegionalModel,
    RegionalSettings,
    Regions,
)
from localsvm.rows import (
    DistinctRows,
    GivenRows,
    GrowingRows,
    KeptRows,
    Rows,
    as_rows,
    squared_norms,
)
from localsvm.solvers import LinearProblem, LinearSolution


@dataclass(frozen=True)
class KeptRegional:
    """Rows, codes, duals and weight vectors of a fit, and its certificates.

    Attributes
    ----------
    settings : RegionalSettings
    regions : HardRegions, SoftRegions or LocalCoordinates
    class_weight : ndarray of shape (n_classes,)
        Of the fit; it does not follow the rows.
    rows : KeptRows
    nodes, weights : GrowingRows
        Code of each row, of shape (n_places, m): its regions, the nearest first, and
        what each counts. Of mixed rows the global node is the last.
    norms : GrowingRows
        Squared norm of each row with its constant column, of shape (n_places,).
    duals : ndarray of shape (n_tasks, n_places), float64
    vectors : ndarray of shape (n_tasks, n_nodes, n_features + 1), float64
        Those of the duals, as the solver has them.
    primal, dual : ndarray of shape (n_problems,)
        Objectives of each problem over all rows: of each task or, where regions are
        independent, of each task and region.
    masses : ndarray of shape (n_regions,)
        Share of the weight in each region when the regions were learned.
    """

    settings: RegionalSettings
    regions: Regions
    class_weight: NDArray[np.float64]
    rows: KeptRows
    nodes: GrowingRows
    weights: GrowingRows
    norms: GrowingRows
    duals: NDArray[np.float64]
    vectors: NDArray[np.float64]
    primal: NDArray[np.float64]
    dual: NDArray[np.float64]
    masses: NDArray[np.float64]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_weight)

    @property
    def is_independent(self) -> bool:
        """Whether each region is a problem of its own."""
        return self.regions.is_hard and self.settings.global_weight == 0

    @property
    def codes(self) -> RegionCodes:
        """Regions of all places, and their weights."""
        m = self.regions.n_nearest
        return RegionCodes(self.nodes.values[:, :m], self.weights.values[:, :m])

    @property
    def gaps(self) -> NDArray[np.float64]:
        """Relative duality gap of each problem."""
        return relative_gaps(self.primal, self.dual)

    def bounds(self, places: Any = slice(None)) -> NDArray[np.float64]:
        """Penalty of the rows in some places."""
        own = self.class_weight[self.rows.class_index[places]]
        return np.asarray(self.settings.C * own * self.rows.weight[places])

    def grown(self, rows: KeptRows, new: GivenRows, n_jobs: int | None) -> KeptRegional:
        """Take changed rows, of which the new ones get their codes and no dual."""
        if not new.n_rows:
            return replace(self, rows=rows)
        codes = self.regions.code(new.X, n_jobs)
        if int(codes.regions.max()) >= self.regions.n_regions:
            raise ValueError(
                f"The clusterer gives a row to add the label {codes.regions.max()}; "
                f"the model knows the labels below {self.regions.n_regions}. Fit again."
            )
        nodes, weights = _as_solved(codes, self.regions, self.settings)
        none = np.zeros((len(self.duals), new.n_rows))
        return replace(
            self,
            rows=rows,
            nodes=self.nodes.appended(nodes),
            weights=self.weights.appended(weights),
            norms=self.norms.appended(squared_norms(new.X) + self.settings.constant**2),
            duals=np.concatenate([self.duals, none], axis=1),
        )

    def problem(self) -> LinearProblem:
        """All rows as the solver takes them; removed ones have the bound zero."""
        return LinearProblem(
            self.rows.X.values,
            self.rows.class_index,
            self.n_classes,
            self.bounds(),
            self.settings.constant,
        )

    def model(self, dtype: Any) -> RegionalModel:
        """Weights of the regions as they predict."""
        solution = LinearSolution(
            self.vectors[:, :, :-1],
            self.vectors[:, :, -1] * self.settings.constant,
            self.duals,
            [],
        )
        weight = self.settings.global_weight
        # Of hard regions the global vector is itself one of the nodes, if there is one.
        if self.regions.is_hard and weight > 0:
            weight = 1.0
        return RegionalModel.from_solution(solution, weight, dtype)

    def region_sizes(self) -> NDArray[np.intp]:
        """Distinct rows whose nearest region it is."""
        nearest = self.nodes.values[self.rows.weight > 0, 0]
        return np.bincount(nearest, minlength=self.regions.n_regions)

    def present_masses(self) -> NDArray[np.float64]:
        """Share of the present weight in each region."""
        nearest, n_regions = self.nodes.values[:, 0], self.regions.n_regions
        mass = np.bincount(nearest, self.rows.weight, n_regions)
        return np.asarray(mass / mass.sum())

    @cached_property
    def unseen(self) -> NDArray[np.float64]:
        """Decisions of all places without their own row, by the span rule."""
        X = self.rows.X.values
        decisions = self.model(np.float64).decide(X, self.codes, 1)
        settings, classes = self.settings, self.rows.class_index
        return span_decisions(
            decisions,
            signed_duals(self.duals, classes, settings.joint),
            self.bounds(),
            CodedGram.of(X, self.codes, settings),
            squared=settings.loss == "squared_hinge",
        )

    def count_support(self) -> NDArray[np.intp]:
        """Distinct rows of each class with a dual in any task."""
        support = self.rows.class_index[(self.duals != 0).any(axis=0)]
        return np.bincount(support, minlength=self.n_classes)

    def compacted(self) -> KeptRegional:
        """Leave nothing of removed rows behind."""
        rows, place = self.rows.compacted()
        return replace(
            self,
            rows=rows,
            nodes=self.nodes.taken(place),
            weights=self.weights.taken(place),
            norms=self.norms.taken(place),
            duals=np.ascontiguousarray(self.duals[:, place]),
        )


def relative_gaps(
    primal: NDArray[np.float64], dual: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Gap of each problem over its primal objective; 0 where there is none."""
    gaps = np.zeros_like(primal)
    np.divide(np.maximum(primal - dual, 0.0), primal, out=gaps, where=primal > 0)
    return gaps


def keep_regional(rows: Rows, fit: RegionalFit) -> KeptRegional:
    """Keep what an update of a fit to rows in memory needs.

    Parameters
    ----------
    rows : Rows
        Those of the fit.
    fit : RegionalFit
    """
    distinct = DistinctRows.of(rows)
    place = distinct.place
    codes, settings = fit.coded.codes, fit.settings
    nodes, weights = _as_solved(
        RegionCodes(codes.regions[place], codes.weights[place]),
        fit.coded.regions,
        settings,
    )
    certificates = fit.solution.certificates  # type: ignore[union-attr]
    kept = KeptRegional(
        settings,
        fit.coded.regions,
        rows.class_weights(),
        distinct.kept(),
        GrowingRows(nodes),
        GrowingRows(weights),
        GrowingRows(squared_norms(distinct.rows.X) + settings.constant**2),
        np.array([distinct.sums(own) for own in fit.duals]),
        np.empty((0, 0, 0)),
        np.array([each.primal for each in certificates]),
        np.array([each.dual for each in certificates]),
        np.empty(0),
    )
    return with_vectors(replace(kept, masses=kept.present_masses()))


def _as_solved(
    codes: RegionCodes, regions: Regions, settings: RegionalSettings
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    if regions.is_hard:
        return codes.regions, codes.weights
    return with_global_node(codes, regions.n_regions, settings.global_weight)


def with_vectors(kept: KeptRegional) -> KeptRegional:
    """Put the duals into their bounds and sum up the vectors that they define."""
    settings, duals = kept.settings, kept.duals
    if not settings.joint and settings.loss == "hinge":
        # Sums of duals round to more than the sums of their bounds.
        duals = np.minimum(duals, kept.bounds())
    n_nodes = kept.regions.n_regions + int(settings.global_weight > 0)
    nodes, weights = with_global_node(
        kept.codes, kept.regions.n_regions, settings.global_weight
    )
    X = kept.rows.X.values
    vectors = np.empty((n_nodes, len(duals), X.shape[1] + 1))
    signed = duals * signs(kept.rows.class_index, len(duals), settings.joint)
    _core.weigh_codes(
        as_rows(X),
        np.ascontiguousarray(signed),
        settings.constant,
        nodes,
        weights,
        vectors,
    )
    if kept.regions.is_hard and settings.global_weight > 0:
        vectors[-1] *= settings.global_weight
    return replace(
        kept, duals=duals, vectors=np.ascontiguousarray(vectors.swapaxes(0, 1))
    )


def signs(
    class_index: NDArray[np.int32], n_tasks: int, joint: bool
) -> NDArray[np.float64]:
    """Sign of the rows in each task, of shape (n_tasks, n_rows).

    Duals of several classes in one problem have signs of their own.
    """
    if joint:
        return np.ones((n_tasks, len(class_index)))
    positive = 1 if n_tasks == 1 else np.arange(n_tasks)[:, np.newaxis]
    signed = np.where(class_index == positive, 1.0, -1.0)
    return signed.reshape(n_tasks, -1)


def restore_regional(
    settings: RegionalSettings,
    regions: Regions,
    class_weight: NDArray[np.float64],
    rows: KeptRows,
    duals: NDArray[np.float64],
    masses: NDArray[np.float64],
    n_jobs: int | None = None,
) -> KeptRegional:
    """Build what is kept from rows and duals; it has no certificates yet."""
    X = rows.X.values
    codes = regions.code(X, n_jobs)
    if codes.regions.size and int(codes.regions.max()) >= regions.n_regions:
        raise ValueError(f"a kept row has a region beyond {regions.n_regions}.")
    nodes, weights = _as_solved(codes, regions, settings)
    kept = KeptRegional(
        settings,
        regions,
        class_weight,
        rows,
        GrowingRows(nodes),
        GrowingRows(weights),
        GrowingRows(squared_norms(X) + settings.constant**2),
        duals,
        np.empty((0, 0, 0)),
        np.empty(0),
        np.empty(0),
        masses,
    )
    return with_vectors(kept)
