"""MixtureSVC on rows in partitions: scan, cluster, write, then EM by passes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.engine import MemoryNeed, Statistics
from localsvm.estimators._mixture.block_experts import (
    ExpertSolver,
    row_bytes_of,
)
from localsvm.estimators._mixture.block_steps import PartitionSteps
from localsvm.estimators._mixture.blocks import (
    START,
    MixtureFiles,
    merge_scanned_rows,
    merge_written,
    scan_rows,
    training_weight,
    write_part,
)
from localsvm.estimators._mixture.start import HoldOut
from localsvm.estimators._mixture.watch import EMWatch
from localsvm.passes import PartClusterer, PartFit, centers_for, working_bytes
from localsvm.solvers import CodedTask


class PartitionFit(PartFit):
    """Steps of the fit of one MixtureSVC."""

    def run(self) -> None:
        """Scan, cluster, write, and expect and maximise in turn."""
        model = self.model
        self.rows.require_memory(self._memory())
        clusterer = PartClusterer(
            model.clusterer, model.n_components, self.seed, "n_components"
        )
        with self.clock.stage("scan"):
            scan = self._scan(clusterer)
        with self.clock.stage("cluster"):
            weigh = partial(training_weight, hold_out=self.hold_out)
            model.clusterer_ = clusterer.fit(self.rows, scan, weigh)
        with self.clock.stage("write"):
            written, centers = self._write(scan)
        watch = model._watch()
        steps = self._steps(scan, written, centers, watch)
        model._run(steps, watch, self.seed)

    def _memory(self) -> MemoryNeed:
        source, model = self.rows.source, self.model
        row_bytes = row_bytes_of(source.n_features, source.dtype.itemsize)
        # Responsibilities and targets, and what is one number per row.
        per_row = 4.0 * 8.0 * model.n_components + 150.0
        fixed = working_bytes(row_bytes + per_row, source.n_rows)
        return MemoryNeed(copies=3.0, bytes_per_row=per_row, fixed=fixed)

    def _scan(self, clusterer: PartClusterer) -> Statistics:
        model, n_rows = self.model, self._count_rows()
        self.hold_out = HoldOut.of(model, n_rows, self.seed)
        scan = self._scan_rows(clusterer, n_rows, "scan")
        model.metric_ = None
        present = self._accept(scan, scan["mass"] + scan["aside_mass"]) > 0
        if not self.hold_out.accepts(
            scan["counts"][present], scan["aside_counts"][present], n_rows
        ):
            self.hold_out = replace(self.hold_out, fraction=0.0)
            scan = self._scan_rows(clusterer, n_rows, "scan-all")
        model._set_scales(float(scan["squares"] / scan["mass"].sum()))
        return scan

    def _scan_rows(
        self, clusterer: PartClusterer, n_rows: int, stage: str
    ) -> Statistics:
        return self.rows.reduce(
            scan_rows,
            merge_scanned_rows,
            self.hold_out,
            clusterer.sample_seed,
            clusterer.sample_limit(n_rows),
            stage=stage,
        )

    def _write(self, scan: Statistics) -> tuple[Statistics, NDArray[Any]]:
        model = self.model
        centers = centers_for("A mixture", model.clusterer_, "Use another clusterer.")
        self.files = MixtureFiles(self.rows.folder, model.C_, len(model.classes_))
        mass = scan["mass"] + scan["aside_mass"]
        written = self.rows.reduce(
            write_part,
            merge_written,
            self.files,
            model.classes_,
            model._class_weight(model.classes_, mass),
            centers,
            self.hold_out,
            stage="write",
        )
        return written, centers

    def _steps(
        self,
        scan: Statistics,
        written: Statistics,
        centers: NDArray[Any],
        watch: EMWatch,
    ) -> PartitionSteps:
        """Start of EM, or where an interrupted fit was."""
        model, source, weight = self.model, self.rows.source, scan["mass"].sum()
        distance = float(written["distance"] / weight)
        gate, order = model._start_gate(centers, written["sizes"], distance, self.seed)
        origin = scan["sums"] / weight
        seen = np.zeros((source.n_partitions, len(order)), dtype=np.int64)
        seen[written["number"]] = written["seen"][:, order]
        solver = ExpertSolver(self.rows, self.clock, self._tasks())
        nothing = solver.nothing(len(order))
        steps = PartitionSteps(
            gate=gate,
            experts=nothing.experts(source.n_features, 0.0),
            solution=nothing.endings,
            clock=self.clock,
            weight=float(written["total"]),
            gate_scale=float(np.sqrt(scan["spread"] / weight)) or 1.0,
            intercept_scaling=model.intercept_scaling_,
            dtype=source.dtype,
            rows=self.rows,
            files=self.files,
            numbers=written["number"].tolist(),
            origin=origin,
            solver=solver,
            solved=nothing,
            ids=np.arange(len(order)),
            starts_warm=model._starts_warm,
            n_done=0,
            step=START,
            seen=seen,
        )
        options = model._solver_options(self.seed, self.clock)
        checkpoint = self.rows.checkpoint
        state = checkpoint.load("em") if checkpoint is not None else None
        if state is not None:
            steps.restore(state, watch, model.min_responsibility, options)
        else:
            steps.start(order, written["counts"][order], options)
        return steps

    def _tasks(self) -> tuple[CodedTask, ...]:
        n_classes = len(self.model.classes_)
        positive = [1] if n_classes == 2 else range(n_classes)
        constant = self.model.intercept_scaling_
        return tuple(CodedTask(n_classes, each, 1, constant) for each in positive)
