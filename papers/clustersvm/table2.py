"""Table 2: the artificial problem."""

from papers._definition import Run
from papers._experiment import Experiment, Size
from papers._printed import read_printed
from papers.clustersvm.artificial import (
    ALL_BY_INTERIOR_POINT,
    ALL_BY_SMO,
    CLUSTERS_BY_INTERIOR_POINT,
    CLUSTERS_BY_SMO,
    N_ROWS,
    REPETITIONS,
    artificial_run,
)
from papers.clustersvm.cells import make_table
from papers.clustersvm.methods import INTERIOR_POINT, condition_two
from papers.clustersvm.problems import ARTIFICIAL_KERNEL

_PRINTED = read_printed("""
                    | SMO   | ClusterSVM
N_train,1           | 6000  | 3260
N_train,2           | 6000  | 3026
N_train,3           | 6000  | 3022
N_train             | 6000  | 3103
Training time (s)   | 8344  | 2588
Clustering time (s) | -     | 3
Speedup             | -     | 3.2
Error rate (%)      | 25.47 | 25.43
""")
_BY_SMO = (ALL_BY_SMO, CLUSTERS_BY_SMO)
_CONDITION_TWO = condition_two(
    "Condition 2, interior point", ARTIFICIAL_KERNEL, INTERIOR_POINT
)
_BY_INTERIOR_POINT = (ALL_BY_INTERIOR_POINT, CLUSTERS_BY_INTERIOR_POINT, _CONDITION_TWO)
_BASELINES = {
    "SMO": "",
    "ClusterSVM": "SMO",
    "All rows, interior point": "",
    "ClusterSVM, interior point": "All rows, interior point",
    "Condition 2, interior point": "All rows, interior point",
}

_NOTES = {
    "Speedup": "Up to 200 million steps are nearly all of the time, and with the shrinking "
    "of today's SMO a step costs the same for half of the rows. One repetition.",
    "Error rate (%)": "One pair of training and test rows; the best rule there is errs on "
    "26.35 % of these test rows, against 25.5 % of all. Ten pairs are to the right.",
}


def _runs(size: Size) -> list[Run]:
    by_smo = REPETITIONS[size] if size == Size.FULL else 1
    repeated = [(method, by_smo) for method in _BY_SMO]
    repeated += [(method, REPETITIONS[size]) for method in _BY_INTERIOR_POINT]
    return [
        artificial_run(method.name, method, N_ROWS[size], seed)
        for method, n_seeds in repeated
        for seed in range(n_seeds)
    ]


TABLE2 = Experiment(
    id="clustersvm/table2",
    title="Table 2: artificial data set",
    shows=(
        "N_train,i is the number of rows in the last problem of the i-th classifier; "
        "ClusterSVM makes one pass. SMO is the same in both columns, and each classifier "
        "computes its own kernel values, as in the paper. Times are CPU seconds of a fit, on another machine "
        "than the paper's. The last three columns are not in the paper: the same SVMs by "
        "an interior point method, and condition 2, the extension that Section 4 "
        "announces, to convergence; their speed-up is over all rows by that method."
    ),
    runs=_runs,
    cuts={
        Size.SMOKE: "300 rows; 1 repetition of SMO, 2 of others.",
        Size.STANDARD: "1 repetition of SMO and ClusterSVM instead of 10, seed 0.",
    },
    table=make_table(_PRINTED, _BASELINES, _NOTES),
    remarks=(
        "Holds: half of the rows are enough for the same error. The speed-up of 3.2 does "
        "not: it is 1.2 by SMO, and an interior point method solves for all rows in "
        "0.07 s, faster than from clusters. SMO is slow here because C is large, not "
        "because there are many rows: its steps grow in proportion to C while the SVM "
        "hardly changes.\n\n"
        "Condition 2, which the paper leaves as future work, is exact with a twentieth "
        "of the rows where condition 1 needs half of them."
    ),
)
