"""ClusteredSVC on rows in partitions: scan, cluster, assign, solve."""

from __future__ import annotations

from typing import Any

import numpy as np

from localsvm.cluster import HardRegions, SoftRegions
from localsvm.engine import MemoryNeed, Statistics
from localsvm.estimators._base import check_solution
from localsvm.estimators._regional.blocks import (
    Coding,
    assign_part,
    merge_assignments,
)
from localsvm.estimators._regional.fit import MAX_PASSES
from localsvm.estimators._regional.model import RegionalModel
from localsvm.passes import (
    PartClusterer,
    PartFit,
    PartProblem,
    PartSolution,
    PartSolver,
    centers_for,
    merge_scans,
    rows_of_a_solve,
    scan_part,
    working_bytes,
)
from localsvm.rows import SCALED_C, intercept_constant
from localsvm.solvers import CodedTask, LinearSolution, SolverOptions

# Arrays as large as the weight vectors of a task that a solve makes.
_VECTOR_COPIES = 8


class PartitionFit(PartFit):
    """Steps of the fit of one ClusteredSVC."""

    def run(self) -> None:
        """Scan, cluster, assign, solve."""
        self.rows.require_memory(self._memory())
        clusterer = PartClusterer(self.model.clusterer, self.model.n_regions, self.seed)
        with self.clock.stage("scan"):
            scan = self._scan(clusterer)
        with self.clock.stage("cluster"):
            fitted = clusterer.fit(self.rows, scan)
        with self.clock.stage("assign"):
            problem = self._assign(fitted, scan)
        # Now the rows of every partition are known, and the weight vectors.
        self.rows.require_memory_of(
            self._memory(problem),
            int(problem.sizes.max()),
            "A pass over the largest partition",
            "Use smaller partitions, fewer regions or allow more memory.",
        )
        with self.clock.stage("solve"):
            solution = PartSolver(self.rows, problem, self.clock).run()
        self._store(solution)
        check_solution(solution, self.model)

    def _memory(self, problem: PartProblem | None = None) -> MemoryNeed:
        """Say what a pass takes; with a problem, its weight vectors too.

        A partition is there as it is worked on, the next is read meanwhile, and where
        all rows are in doubt they are copied twice.
        """
        source, model = self.rows.source, self.model
        itemsize = source.dtype.itemsize
        codes = model.n_nearest
        code_bytes = (4 + itemsize) * (codes + 1) + 20.0
        shape = (0, 1, 0) if problem is None else problem.shape(0)
        dual_bytes = 24.0 * shape[1]
        row_bytes = source.n_features * itemsize + code_bytes + dual_bytes
        working = working_bytes(row_bytes, source.n_rows)
        return MemoryNeed(
            copies=4.0,
            bytes_per_row=4 * (code_bytes + dual_bytes),
            fixed=working + _VECTOR_COPIES * 8.0 * np.prod(shape),
        )

    def _scan(self, clusterer: PartClusterer) -> Statistics:
        limit = clusterer.sample_limit(self._count_rows())
        scan = self.rows.reduce(
            scan_part, merge_scans, clusterer.sample_seed, limit, stage="scan"
        )
        model, mass = self.model, scan["mass"]
        self._accept(scan, mass)
        mean = float(scan["squares"] / mass.sum())
        self.mean_square = mean if 0 < mean < np.inf else 1.0
        model.intercept_scaling_ = intercept_constant(model, self.mean_square)
        return scan

    def _assign(self, clusterer: Any, scan: Statistics) -> PartProblem:
        model, rows = self.model, self.rows
        regions: HardRegions | SoftRegions = HardRegions(clusterer)
        if model.n_nearest > 1:
            regions = SoftRegions(
                centers_for(
                    "n_nearest above 1",
                    clusterer,
                    "Use n_nearest=1, or another clusterer.",
                ),
                n_nearest=model.n_nearest,
                sharpness=model.sharpness,
            )
        class_weight = model._class_weight(model.classes_, scan["mass"])
        found = rows.reduce(
            assign_part,
            merge_assignments,
            rows.folder,
            regions,
            model.classes_,
            class_weight,
            stage="assign",
        )
        if isinstance(regions, SoftRegions):
            regions.adapt(float(found["distance"] / scan["mass"].sum()))
        else:
            n_centers = 0 if regions.centers is None else len(regions.centers)
            regions.n_regions = max(int(found["pairs"][:, 0].max()) + 1, n_centers)
        self._store_regions(clusterer, regions, found)
        return self._problem(regions, found)

    def _store_regions(
        self, clusterer: Any, regions: HardRegions | SoftRegions, found: Statistics
    ) -> None:
        model, (region, label) = self.model, found["pairs"].T
        model.clusterer_, model.regions_ = clusterer, regions
        model.n_regions_ = regions.n_regions
        sizes = np.bincount(region, found["sizes"], regions.n_regions)
        model.region_sizes_ = sizes.astype(np.intp)
        counts = np.zeros((regions.n_regions, len(model.classes_)))
        counts[region, label] = found["counts"]
        model.region_class_counts_ = counts

    def _problem(
        self, regions: HardRegions | SoftRegions, found: Statistics
    ) -> PartProblem:
        model, source = self.model, self.rows.source
        model.metric_ = None
        is_scaled = isinstance(model.C, str)
        model.C_ = SCALED_C / self.mean_square if is_scaled else float(model.C)
        coding = Coding(
            self.rows.folder, regions, float(1.0 / np.sqrt(model.global_reg)), model.C_
        )
        sizes = np.zeros(source.n_partitions, dtype=np.int64)
        sizes[found["number"]] = found["n_rows"]
        n_codes = getattr(regions, "n_nearest", 1) + 1
        row_bytes = source.dtype.itemsize * (source.n_features + n_codes) + 8 * n_codes
        return PartProblem(
            folder=self.rows.folder,
            name="solve",
            read=coding.read,
            tasks=self._tasks(coding),
            sizes=sizes,
            n_features=source.n_features,
            capacity=rows_of_a_solve(row_bytes),
            options=SolverOptions(
                loss=model.loss,
                tol=model.tol,
                max_iter=model.max_iter or MAX_PASSES,
                seed=self.seed,
            ),
        )

    def _tasks(self, coding: Coding) -> tuple[CodedTask, ...]:
        model = self.model
        n_classes = len(model.classes_)
        positive: list[int | None] = list(range(n_classes))
        if n_classes == 2:
            positive = [1]
        elif model.multi_class == "crammer_singer":
            positive = [None]
        return tuple(
            CodedTask(
                n_classes, each, coding.n_nodes, model.intercept_scaling_, model.loss
            )
            for each in positive
        )

    def _store(self, solution: PartSolution) -> None:
        model, states = self.model, solution.states
        vectors = [solution.vectors(task) for task in range(len(states))]
        # Tasks (or, jointly, classes) first.
        nodes = np.concatenate([each.swapaxes(0, 1) for each in vectors])
        linear = LinearSolution(
            nodes[:, :, :-1],
            nodes[:, :, -1] * model.intercept_scaling_,
            np.empty((len(nodes), 0)),
            [],
        )
        model._model = RegionalModel.from_solution(
            linear, float(1.0 / np.sqrt(model.global_reg)), self.rows.source.dtype
        )
        model.duality_gap_ = solution.worst_gap
        model.n_iter_ = solution.n_passes
        model.n_support_ = solution.support_by_class(self.rows, len(model.classes_))
        model.fit_report_ = self.clock.seconds
