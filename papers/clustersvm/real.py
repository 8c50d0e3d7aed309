"""USPS and Isolet: the runs of Tables 3 and 4."""

from collections.abc import Callable, Mapping
from typing import Any

from papers._definition import Data, Run, Split
from papers._experiment import Size
from papers.clustersvm.measures import (
    all_rows_used,
    clustering_time,
    rows_used,
)
from papers.clustersvm.methods import (
    SHARED_MATRIX,
    SMO,
    all_rows,
    cluster_svm,
    condition_two,
    libsvm,
)

# By column, the one whose time is divided by its own.
REAL_BASELINES = {
    "SMO": "",
    "ClusterSVM": "SMO",
    "LIBSVM": "",
    "All rows, one matrix": "",
    "Condition 2, one matrix": "All rows, one matrix",
}
# Times vary; the models do not.
_REPETITIONS = {Size.SMOKE: 1, Size.STANDARD: 3, Size.FULL: 3}


def real_runs(data: Data, kernel: Mapping[str, Any]) -> Callable[[Size], list[Run]]:
    """Fit each method to the given split."""
    ours = (rows_used, clustering_time)
    methods = (
        (all_rows("SMO", kernel, SMO), ours),
        (cluster_svm("ClusterSVM", kernel, SMO), ours),
        (libsvm("LIBSVM", kernel), (all_rows_used,)),
        (all_rows("All rows, one matrix", kernel, SHARED_MATRIX), ours),
        (condition_two("Condition 2, one matrix", kernel, SHARED_MATRIX), ours),
    )

    def runs(size: Size) -> list[Run]:
        split = Split(n_train=600, n_test=300) if size == Size.SMOKE else Split()
        return [
            Run(method.name, data, method, split, seed=seed, measures=measured)
            for method, measured in methods
            for seed in range(_REPETITIONS[size])
        ]

    return runs
