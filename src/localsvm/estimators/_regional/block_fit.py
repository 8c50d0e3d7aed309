"""The fit of linear SVMs over regions to rows in blocks: cluster, assign, solve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from localsvm.cluster import HardRegions, SoftRegions
from localsvm.engine import Blocks, Labels, MemoryNeed, Statistics
from localsvm.estimators._regional.blocks import (
    Assignment,
    StoredRows,
    assign_block,
)
from localsvm.estimators._regional.fit import (
    Coded,
    FitOptions,
    RegionalFit,
    RegionalSettings,
)
from localsvm.estimators._regional.model import RegionalModel
from localsvm.passes import (
    PartClusterer,
    PartProblem,
    PartSolution,
    PartSolver,
    centers_for,
    count_rows,
    merge_scans,
    rows_of_a_solve,
    scan_part,
    working_bytes,
)
from localsvm.solvers import CodedTask, LinearSolution

# Arrays as large as the weight vectors of a task that a solve makes.
_VECTOR_COPIES = 8


def survey_blocks(
    blocks: Blocks, clusterer: PartClusterer, options: FitOptions
) -> Statistics:
    """Classes, scale of the rows, and the sample that the clusterer is fitted to."""
    with options.clock.stage("scan"):
        limit = clusterer.sample_limit(count_rows(blocks))
        return blocks.reduce(
            scan_part, merge_scans, clusterer.sample_seed, limit, stage="scan"
        )


def fit_blocks(
    blocks: Blocks,
    labels: Labels,
    survey: Statistics,
    settings: RegionalSettings,
    options: FitOptions,
) -> RegionalFit:
    """Cluster, assign and solve.

    Parameters
    ----------
    blocks : Blocks
    labels : Labels
    survey : dict
        Of the blocks.
    settings : RegionalSettings
    options : FitOptions
    """
    return _BlockFit(blocks, labels, settings, options).run(survey)


def memory_of_a_pass(
    blocks: Blocks, n_nearest: int, problem: PartProblem | None = None
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


@dataclass(frozen=True)
class _BlockFit:
    blocks: Blocks
    labels: Labels
    settings: RegionalSettings
    options: FitOptions

    def run(self, survey: Statistics) -> RegionalFit:
        settings, clock = self.settings, self.options.clock
        with clock.stage("cluster"):
            clusterer = PartClusterer(
                settings.clusterer, settings.n_regions, self.options.seed
            ).fit(self.blocks, survey)
        with clock.stage("assign"):
            regions, found = self._assign(clusterer, float(survey["mass"].sum()))
            problem = self._problem(regions, found)
        # Now the rows of every block are known, and the weight vectors.
        self.blocks.require_memory_of(
            memory_of_a_pass(self.blocks, settings.n_nearest, problem),
            int(problem.sizes.max()),
            "A pass over the largest partition",
            "Use smaller partitions, fewer regions or allow more memory.",
        )
        with clock.stage("solve"):
            solution = PartSolver(self.blocks, problem, clock).run()
        n_classes = len(self.labels.classes)
        n_regions = regions.n_regions
        coded = Coded(
            clusterer,
            regions,
            found.region_sizes(n_regions),
            found.class_counts(n_regions, n_classes),
        )
        n_support = solution.support_by_class(self.blocks, n_classes)
        return RegionalFit(settings, coded, self._model(solution), solution, n_support)

    def _assign(
        self, clusterer: Any, mass: float
    ) -> tuple[HardRegions | SoftRegions, Assignment]:
        """Put the rows with their regions into the store."""
        regions: HardRegions | SoftRegions = HardRegions(clusterer)
        if self.settings.n_nearest > 1:
            regions = SoftRegions(
                centers_for(
                    "n_nearest above 1",
                    clusterer,
                    "Use n_nearest=1, or another clusterer.",
                ),
                n_nearest=self.settings.n_nearest,
                sharpness=self.settings.sharpness,
            )
        found = self.blocks.reduce(
            assign_block, self.blocks.store, regions, self.labels, stage="assign"
        )
        regions.adapt(found.distance / mass, int(found.pairs[:, 0].max()) + 1)
        return regions, found

    @property
    def _global_weight(self) -> float:
        return float(1.0 / np.sqrt(self.settings.global_reg))

    def _problem(
        self, regions: HardRegions | SoftRegions, found: Assignment
    ) -> PartProblem:
        blocks, settings = self.blocks, self.settings
        read = StoredRows(blocks.store, regions, self._global_weight, settings.C)
        n_codes = regions.n_nearest + 1
        row_bytes = blocks.dtype.itemsize * (blocks.n_features + n_codes) + 8 * n_codes
        return PartProblem(
            folder=blocks.folder,
            name="solve",
            read=read,
            tasks=self._tasks(read.n_nodes),
            sizes=found.block_sizes(blocks.n_blocks),
            n_features=blocks.n_features,
            capacity=rows_of_a_solve(row_bytes),
            options=self.options.for_solver(settings.loss, limited=False),
        )

    def _tasks(self, n_nodes: int) -> tuple[CodedTask, ...]:
        n_classes = len(self.labels.classes)
        positive: list[int | None] = list(range(n_classes))
        if n_classes == 2:
            positive = [1]
        elif self.settings.joint:
            positive = [None]
        constant, loss = self.settings.constant, self.settings.loss
        return tuple(
            CodedTask(n_classes, each, n_nodes, constant, loss) for each in positive
        )

    def _model(self, solution: PartSolution) -> RegionalModel:
        tasks = range(len(solution.states))
        # Tasks (or, jointly, classes) first.
        nodes = np.concatenate(
            [solution.vectors(task).swapaxes(0, 1) for task in tasks]
        )
        linear = LinearSolution(
            nodes[:, :, :-1],
            nodes[:, :, -1] * self.settings.constant,
            np.empty((len(nodes), 0)),
            [],
        )
        return RegionalModel.from_solution(
            linear, self._global_weight, self.blocks.dtype
        )
