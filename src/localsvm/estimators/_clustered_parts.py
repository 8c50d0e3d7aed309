"""What ClusteredSVC does with one partition, or with one task over all of them."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localsvm.cluster import HardRegions, RegionCodes, SoftRegions
from localsvm.engine import (
    Block,
    Statistics,
    cancel_event,
    read_array,
    read_rows,
    write_folder,
    write_rows,
)
from localsvm.estimators._clustered_base import with_global_node
from localsvm.solvers import CodedRows, CodedTask, SelectiveDescent, SolverOptions


@dataclass(frozen=True)
class Coding:
    """How rows of the files are read as rows of the solver.

    Attributes
    ----------
    regions : HardRegions or SoftRegions
    global_weight : float
        Of the global node in the code of every row; 0 without one.
    C : float
    """

    regions: HardRegions | SoftRegions
    global_weight: float
    C: float

    @property
    def n_nodes(self) -> int:
        """Regions, and the global node if there is one."""
        return self.regions.n_regions + int(self.global_weight > 0)


@dataclass(frozen=True)
class Plan:
    """What the tasks of a fit share.

    Attributes
    ----------
    folder : Path
        Of the files of all partitions and tasks.
    coding : Coding
    tasks : tuple of CodedTask
    starts : ndarray of shape (n_partitions + 1,)
        Place of the first row of each partition among all.
    capacity : int
        Rows of a solve that are new to it.
    options : SolverOptions
    """

    folder: Path
    coding: Coding
    tasks: tuple[CodedTask, ...]
    starts: NDArray[np.int64]
    capacity: int
    options: SolverOptions

    @property
    def n_rows(self) -> int:
        """Rows of all partitions."""
        return int(self.starts[-1])

    def vectors_file(self, task: int, version: int) -> Path:
        """File of the weight vectors of a task after so many passes."""
        return self.folder / f"vectors-{task}-{version}.npy"

    def duals_file(self, task: int, version: int) -> Path:
        """File of the duals of a task after so many passes."""
        return self.folder / f"duals-{task}-{version}.npy"

    def read(self, number: int) -> CodedRows:
        """Rows of a partition as the solver takes them."""
        own = part_folder(self.folder, number)
        codes = RegionCodes(read_array(own, "regions"), self._weights(own))
        nodes, weights = with_global_node(
            codes, self.coding.regions.n_regions, self.coding.global_weight
        )
        return CodedRows(
            read_rows(own),
            read_array(own, "class"),
            self.coding.C * read_array(own, "weight"),
            nodes,
            weights,
        )

    def _weights(self, own: Path) -> NDArray[Any]:
        scores = read_array(own, "scores")
        if isinstance(self.coding.regions, SoftRegions):
            return self.coding.regions.soften(scores)
        return scores


def part_folder(folder: Path, number: int) -> Path:
    """Folder of the files of a partition."""
    return folder / f"part-{number}"


def assign_part(
    block: Block,
    folder: Path,
    regions: HardRegions | SoftRegions,
    classes: NDArray[Any],
    class_weight: NDArray[np.float64],
) -> Statistics:
    """Find the regions of the rows and write both to files.

    Rows without weight are left out. Files that an earlier, interrupted fit wrote are
    taken as they are.

    Returns
    -------
    dict
        Number of the partition, rows written, sum of the squared distances to the
        nearest centre, rows and weights of each region and class.
    """
    own = part_folder(folder, block.number)
    if not own.exists():
        _write_part(own, block, regions, classes, class_weight)
    return {
        name: read_array(own, name)
        for name in ("number", "n_rows", "distance", "pairs", "sizes", "counts")
    }


def merge_assignments(first: Statistics, second: Statistics) -> Statistics:
    """Add up the sums of two partitions; put their numbers side by side."""
    pairs, kind = np.unique(
        np.concatenate([first["pairs"], second["pairs"]]), axis=0, return_inverse=True
    )
    sums = {
        name: np.bincount(kind, np.concatenate([first[name], second[name]]), len(pairs))
        for name in ("sizes", "counts")
    }
    return {
        "number": np.concatenate([first["number"], second["number"]]),
        "n_rows": np.concatenate([first["n_rows"], second["n_rows"]]),
        "distance": first["distance"] + second["distance"],
        "pairs": pairs,
        **sums,
    }


def run_pass(
    item: tuple[int, int, float], plan: Plan, max_time: float | None
) -> dict[str, float]:
    """Take a task over all partitions once, from one version of its files to the next.

    Parameters
    ----------
    item : tuple
        Number of the task, of the passes before, and the primal objective after them.
    plan : Plan
    max_time : float or None
        Seconds after which the rest of the pass is left out.
    """
    number, version, objective = item
    task = plan.tasks[number]
    begin, cancel = time.monotonic(), cancel_event()
    target = plan.duals_file(number, version + 1)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    shutil.copyfile(plan.duals_file(number, version), temporary)
    duals = np.load(temporary, mmap_mode="r+")
    descent = SelectiveDescent(
        task,
        np.load(plan.vectors_file(number, version)),
        duals,
        plan.capacity,
        objective,
        replace(plan.options, cancel=cancel, seed=_seed(plan, number, version)),
    )
    for part, rows in _in_random_order(plan, _seed(plan, number, version)):
        if cancel is not None and cancel.is_set():
            raise InterruptedError("cancelled")
        if max_time is not None:
            left = max_time - (time.monotonic() - begin)
            if left <= 0:
                break
            descent.options = replace(descent.options, max_time=left)
        descent.look(rows, int(plan.starts[part]))
    descent.finish()
    duals.flush()
    del descent.duals, duals
    _save(plan.vectors_file(number, version + 1), descent.vectors)
    os.replace(temporary, target)
    return {"solves": float(descent.n_solves)}


def evaluate_part(
    number: int, plan: Plan, versions: tuple[tuple[int, int], ...]
) -> Statistics:
    """Losses, linear part of the dual and support rows of some tasks, in float64.

    Parameters
    ----------
    number : int
        Of the partition.
    plan : Plan
    versions : tuple of (task, version)

    Returns
    -------
    dict
        "terms" of shape (n_versions, 2); "support" of shape (n_versions, n_vectors).
    """
    rows = plan.read(number)
    rows = replace(
        rows, X=rows.X.astype(np.float64), weights=rows.weights.astype(np.float64)
    )
    own = slice(int(plan.starts[number]), int(plan.starts[number + 1]))
    terms, support = [], []
    for index, version in versions:
        task = plan.tasks[index]
        vectors = np.load(plan.vectors_file(index, version))
        stored = np.load(plan.duals_file(index, version), mmap_mode="r")
        duals = np.array(stored[:, own])
        found = task.compare(rows, task.decide(rows, vectors), duals)
        terms.append([found.loss.sum(), found.linear.sum()])
        support.append(np.count_nonzero(duals, axis=1))
    return {"terms": np.array(terms), "support": np.array(support)}


def merge_terms(first: Statistics, second: Statistics) -> Statistics:
    """Add up what :func:`evaluate_part` says of two partitions."""
    return {name: first[name] + second[name] for name in first}


def write_start(plan: Plan, n_features: int) -> None:
    """Write the first version of all tasks: nothing is learned."""
    for number, task in enumerate(plan.tasks):
        shape = (task.n_nodes, task.n_vectors, n_features + 1)
        _save(plan.vectors_file(number, 0), np.zeros(shape))
        path, n_duals = plan.duals_file(number, 0), (task.n_vectors, plan.n_rows)
        np.lib.format.open_memmap(path, "w+", np.float64, n_duals).flush()


def _write_part(
    own: Path,
    block: Block,
    regions: HardRegions | SoftRegions,
    classes: NDArray[Any],
    class_weight: NDArray[np.float64],
) -> None:
    class_index = np.searchsorted(classes, block.y).astype(np.int32)
    found, scores, distance = _search(regions, block.X)
    present = block.sample_weight > 0
    pairs, kind = np.unique(
        np.stack([found[present, 0], class_index[present]], axis=1),
        axis=0,
        return_inverse=True,
    )
    weight = block.sample_weight * class_weight[class_index]
    kept = weight > 0
    with write_folder(own) as folder:
        write_rows(folder, block.X if kept.all() else block.X[kept])
        arrays: Statistics = {
            "class": class_index[kept],
            "weight": weight[kept],
            "regions": found[kept],
            "scores": scores[kept],
            "number": np.array([block.number]),
            "n_rows": np.array([np.count_nonzero(kept)]),
            "distance": np.array(block.sample_weight @ distance),
            "pairs": pairs,
            "sizes": np.bincount(kind, minlength=len(pairs)).astype(np.float64),
            "counts": np.bincount(
                kind, block.sample_weight[present], len(pairs)
            ).astype(np.float64),
        }
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)


def _search(
    regions: HardRegions | SoftRegions, X: Any
) -> tuple[NDArray[np.int32], NDArray[Any], NDArray[np.float64]]:
    if isinstance(regions, SoftRegions):
        return regions.search(X)
    codes = regions.code(X)
    return codes.regions, codes.weights, np.zeros(X.shape[0])


def _in_random_order(plan: Plan, seed: int) -> Iterator[tuple[int, CodedRows]]:
    """Partitions with rows; the next one is read while one is worked on."""
    sizes = np.diff(plan.starts)
    order = np.random.default_rng(seed).permutation(np.flatnonzero(sizes)).tolist()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(plan.read, order[0])
        for index, number in enumerate(order):
            rows = coming.result()
            if index + 1 < len(order):
                coming = pool.submit(plan.read, order[index + 1])
            yield number, rows


def _seed(plan: Plan, task: int, version: int) -> int:
    words = (plan.options.seed, task, version)
    return int(np.random.SeedSequence(words).generate_state(1, np.uint32)[0])


def _save(path: Path, array: NDArray[np.float64]) -> None:
    """Write an array under another name first."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp.npy")
    np.save(temporary, array)
    os.replace(temporary, path)
