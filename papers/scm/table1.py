"""Table 1, error: the 45 pairs of MNIST digits."""

from papers._experiment import Cell, Experiment, Table
from papers._printed import read_printed
from papers.scm.methods import NOT_AT_HAND
from papers.scm.pair_runs import CUTS, METHODS, pair_runs

_PRINTED = read_printed("""
                          | Error
libsvm                    | 0.31
SVMTorch                  | 0.31
SVMlight                  | 0.31
CVM                       | 0.31
SCM+TOD                   | 1.07
SCM+EM                    | 1.47
TOD, centroids and priors | -
TOD, centroids alone      | -
SCM+TOD, Eq. 8 and 12     | -
""")
_RUN = {method.name for method in METHODS}
_NOTES = {
    "SCM+TOD": "Better than printed: the corrected kernel, on principal components. The "
    "printed kernel, whose variances have to be raised, comes nearer: see the last row.",
    "SCM+EM": "As SCM+TOD: the corrected kernel, on principal components.",
}

TABLE1 = Experiment(
    id="scm/table1",
    title="Table 1: average error (%) on the pairs of MNIST digits",
    shows="Mean test error of 45 two-class problems, settings chosen for each on "
    "held-out training rows. SCM is the corrected form, with about 280 clusters (TOD) "
    "or 50 (EM) a pair. The last three rows are not in the paper's table: what is left "
    "without covariances, also without priors, and the kernel as it is printed.",
    runs=pair_runs,
    cuts=CUTS,
    table=Table(
        {
            (row, column): Cell(
                row,
                ("scores.error",),
                printed,
                note=_NOTES.get(row, ""),
                absent="" if row in _RUN else NOT_AT_HAND,
            )
            for (row, column), printed in _PRINTED.items()
        },
        tolerance=0.1,
        repeated=False,
    ),
    remarks="The order of the methods holds: the SVM on all rows is best, then SCM with "
    "many clusters, then with few. Covariances lower the error, as the paper says; "
    "priors hardly change it here, but do in Table 3. Eq. 8 and 12 need variances that are raised, here by an amount chosen "
    "like gamma: SCM then has two parameters, not only C. How much it matters: on the "
    "784 pixels the error is 0.8 % if they are raised by 0.1 and 48 % if by 0.001 "
    "(benchmarks/support_accuracy.py, C chosen on test rows). The 60 components and the "
    "range of gamma and C are around those of an earlier study, which had looked at test "
    "errors. They were widened once, after test errors had been seen here too, where "
    "choices lay at an end; no error of SCM changed by more than 0.03 points, that of the "
    "centroids by up to 0.07.",
)
