"""The artificial problem: runs that several tables and figures share."""

from collections.abc import Callable, Sequence
from typing import Any

from papers._definition import Method, Run
from papers._experiment import Size
from papers.clustersvm.measures import (
    clustering_time,
    rows_used,
)
from papers.clustersvm.methods import (
    INTERIOR_POINT,
    SMO,
    all_rows,
    cluster_svm,
)
from papers.clustersvm.problems import ARTIFICIAL_KERNEL, artificial

N_ROWS = {Size.SMOKE: 300, Size.STANDARD: 6000, Size.FULL: 6000}
REPETITIONS = {Size.SMOKE: 2, Size.STANDARD: 10, Size.FULL: 10}

ALL_BY_SMO = all_rows("SMO", ARTIFICIAL_KERNEL, SMO)
CLUSTERS_BY_SMO = cluster_svm("ClusterSVM", ARTIFICIAL_KERNEL, SMO)
ALL_BY_INTERIOR_POINT = all_rows(
    "All rows, interior point", ARTIFICIAL_KERNEL, INTERIOR_POINT
)
CLUSTERS_BY_INTERIOR_POINT = cluster_svm(
    "ClusterSVM, interior point", ARTIFICIAL_KERNEL, INTERIOR_POINT
)


def artificial_run(
    group: str,
    method: Method,
    n_rows: int,
    seed: int,
    measures: Sequence[Callable[..., Any]] = (rows_used, clustering_time),
) -> Run:
    """Define a run on the artificial problem."""
    data = artificial(n_rows, seed)
    return Run(group, data, method, seed=seed, measures=measures)
