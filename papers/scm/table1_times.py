"""Table 1, times: the 45 pairs of MNIST digits."""

from papers._experiment import Cell, Experiment, Table
from papers._printed import read_printed
from papers.scm.methods import NOT_AT_HAND
from papers.scm.pair_runs import CUTS, METHODS, pair_runs

_PRINTED = read_printed("""
                          | Training | Testing
libsvm                    | 5.78     | 1.77
SVMTorch                  | 3.96     | 7.20
SVMlight                  | 19.5     | 4.46
CVM                       | 27.9     | 1.21
SCM+TOD                   | 0.78     | 0.27
SCM+EM                    | 9.50     | 0.08
TOD, centroids and priors | -        | -
TOD, centroids alone      | -        | -
SCM+TOD, Eq. 8 and 12     | -        | -
""")
_SCORES = {"Training": "cpu_seconds.fit", "Testing": "cpu_seconds.predict"}
_RUN = {method.name for method in METHODS}

TABLE1_TIMES = Experiment(
    id="scm/table1_times",
    title="Table 1: average training and testing time (s) on the pairs of MNIST digits",
    shows="CPU seconds of the runs of the errors above, on average over the pairs. "
    "Training of SCM is clustering and learning; principal components, which all "
    "methods need alike, and the choice of settings are not counted. Other machine, "
    "other programs, fewer columns: only ratios within a column can be compared.",
    runs=pair_runs,
    cuts=CUTS,
    table=Table(
        {
            (row, column): Cell(
                row,
                (_SCORES[column],),
                printed,
                absent="" if row in _RUN else NOT_AT_HAND,
            )
            for (row, column), printed in _PRINTED.items()
        },
        unit="s",
        digits=3,
        ratio=True,
        repeated=False,
    ),
    remarks="SCM with TOD is the fastest in training and, with EM, in testing, as "
    "printed; the distance to libsvm is larger than the printed factors of 7 in training "
    "and 7 in testing. As in the paper, EM costs more than ten times as much as TOD.",
    records_of="scm/table1",
)
