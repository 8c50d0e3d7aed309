"""What fits on partitions cost, on paper: time, memory, network and disk.

A model is taken from the smallest fit of a method, on one worker, and the formulas
below; it is compared with the other fits, and extrapolated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# Per second and worker, from the storage that all workers see.
BANDWIDTH = 1e9
# Of the scheduler, as measured for tiny tasks on two cores.
SECONDS_PER_TASK = 0.005
N_COLUMNS = 54
PARTITION_ROWS = 100_000
_FLOAT = 4
_DOUBLE = 8


@dataclass(frozen=True)
class Cost:
    """What a fit takes.

    Attributes
    ----------
    seconds : float
        Of work on the rows, shared by the workers, and of what one process does alone.
    read_bytes : float
        From files that all workers see, the rows themselves included.
    message_bytes : float
        Between workers and client.
    disk_bytes : float
        Of the files while the fit runs.
    n_tasks : float
        Of the scheduler.
    """

    seconds: float
    read_bytes: float
    message_bytes: float
    disk_bytes: float
    n_tasks: float


@dataclass(frozen=True)
class Size:
    """Of a fit: rows, workers, rows of a partition, rounds, and tasks of a round."""

    n_rows: float
    workers: float
    rounds: float
    n_classes: int
    block_rows: float = PARTITION_ROWS

    @property
    def n_partitions(self) -> float:
        """Number of partitions."""
        return self.n_rows / self.block_rows

    @property
    def n_svms(self) -> int:
        """Linear SVMs that are solved side by side: one for two classes."""
        return 1 if self.n_classes == 2 else self.n_classes


def size_of(row: dict[str, Any]) -> Size:
    """Size of a fit that was measured."""
    return Size(row["n_rows"], row["workers"], row["rounds"], row["n_classes"])


def support_cluster(base: dict[str, Any], size: Size) -> Cost:
    """One pass; summaries of partitions travel up a tree; one solve of all clusters."""
    growth, stages = size.n_rows / base["n_rows"], base["stages"]
    n_clusters = 200 * size.n_classes
    return Cost(
        stages["cluster"] * growth / size.workers + stages["learn"],
        size.n_rows * N_COLUMNS * _FLOAT,
        size.n_partitions * n_clusters * (2 * N_COLUMNS + 2) * _DOUBLE,
        0.0,
        2 * size.n_partitions,
    )


def clustered(base: dict[str, Any], size: Size) -> Cost:
    """Two passes over the source, then rounds over files, one task per class."""
    growth, stages = size.n_rows / base["n_rows"], base["stages"]
    solve = stages["solve"] * growth * size.rounds / base["rounds"]
    # As many classes at once as there are workers.
    at_once = size.n_svms / -(-size.n_svms // min(size.workers, size.n_svms))
    row_bytes = N_COLUMNS * _FLOAT + 8 * (_FLOAT + _FLOAT) + 12
    duals = 2 * size.n_svms * _DOUBLE
    n_vectors = 2 * size.n_rows**0.5 * (N_COLUMNS + 1)
    passes = size.rounds * (size.n_svms + 1)
    return Cost(
        # Regions, and the sample for them, grow with the root of the rows.
        (stages["scan"] * growth + stages["assign"] * growth**1.5) / size.workers
        + stages["cluster"] * growth
        + solve / at_once,
        size.n_rows * (2 * N_COLUMNS * _FLOAT + row_bytes * passes),
        passes * n_vectors * _DOUBLE,
        size.n_rows * (row_bytes + duals),
        size.n_partitions * (2 + size.rounds),
    )


def local(base: dict[str, Any], size: Size) -> Cost:
    """Rows are sorted into cells, and cells are solved, with the rows around them.

    These rows spread in many directions: the search compares each with all others.
    """
    growth, stages = size.n_rows / base["n_rows"], base["stages"]
    row_bytes = N_COLUMNS * _FLOAT + 3 * _DOUBLE
    return Cost(
        (stages["cells"] * growth + stages["solve"] * growth**2) / size.workers
        + stages["sample"]
        + stages["route"] * growth,
        size.n_rows * (2 * N_COLUMNS * _FLOAT + 2 * row_bytes),
        size.n_rows * row_bytes,
        2 * size.n_rows * row_bytes,
        5 * size.n_partitions,
    )


def mixture(base: dict[str, Any], size: Size) -> Cost:
    """Look at all rows to expect, ten times for the gate, some for the SVMs."""
    growth, stages = size.n_rows / base["n_rows"], base["stages"]
    steps = size.rounds / base["rounds"]
    looks, n_components = 1 + 10 + 3, 10
    row_bytes = N_COLUMNS * _FLOAT + 2 * n_components * _DOUBLE
    duals = n_components * size.n_svms * 2 * _DOUBLE
    rest = stages["expect"] + stages["gate"]
    workers = min(size.workers, n_components * size.n_svms)
    return Cost(
        (stages["scan"] + stages["write"]) * growth / size.workers
        + stages["cluster"]
        + rest * growth * steps / size.workers
        + stages["solve"] * growth * steps / workers,
        size.n_rows * (2 * N_COLUMNS * _FLOAT + size.rounds * looks * row_bytes),
        size.rounds * looks * size.n_partitions * n_components * (N_COLUMNS + 1) * 8.0,
        size.n_rows * (row_bytes + duals),
        size.n_partitions * size.rounds * looks,
    )


def reduced(base: dict[str, Any], size: Size) -> Cost:
    """Clusters of partitions; then solves of their means and looks at all rows."""
    growth, stages = size.n_rows / base["n_rows"], base["stages"]
    passes = size.rounds / base["rounds"]
    row_bytes = N_COLUMNS * _FLOAT + 3 * _DOUBLE
    # Clusters of a class are the square root of its rows at least.
    solve = stages["solve"] * passes * growth
    return Cost(
        (stages["scan"] + stages["cluster"]) * growth / size.workers
        + stages["check"] * growth * passes / size.workers
        + solve,
        size.n_rows * (2 * N_COLUMNS * _FLOAT + size.rounds * row_bytes),
        size.rounds * size.n_rows**0.5 * N_COLUMNS * _DOUBLE,
        size.n_rows * row_bytes,
        size.n_partitions * (2 + size.rounds),
    )


MODELS: dict[str, Callable[[dict[str, Any], Size], Cost]] = {
    "SupportClusterSVC": support_cluster,
    "ClusteredSVC": clustered,
    "LocalSVC": local,
    "MixtureSVC": mixture,
    "ReducedSVC": reduced,
}
