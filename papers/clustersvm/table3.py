"""Table 3: USPS."""

from papers._experiment import Experiment, Size
from papers._printed import read_printed
from papers.clustersvm.cells import make_table
from papers.clustersvm.problems import USPS, USPS_KERNEL
from papers.clustersvm.real import REAL_BASELINES, real_runs

_PRINTED = read_printed("""
                    | SMO  | ClusterSVM
N_train,1           | 7291 | 788
N_train,2           | 7291 | 2364
N_train,3           | 7291 | 1975
N_train,4           | 7291 | 1544
N_train,5           | 7291 | 2259
N_train,6           | 7291 | 1621
N_train,7           | 7291 | 1206
N_train,8           | 7291 | 2407
N_train,9           | 7291 | 1560
N_train,10          | 7291 | 2638
N_train             | 7291 | 1836
Training time (s)   | 105  | 68
Clustering time (s) | -    | 18
Speedup             | -    | 1.5
Error rate (%)      | 5.43 | 5.28
""")

_BORDER = (
    "The smoothing at the border of an image is not given and moves this number by "
    "hundreds: with zeros or reflection instead of background digit 2 has 2225 or 2299 "
    "rows, 0 has 2486 or 2405."
)
_NOTES = {
    **{f"N_train,{number}": _BORDER for number in range(1, 11)},
    "Speedup": "Our SMO for all rows is 1.4 times as fast as LIBSVM, which the paper "
    "used, on these rows; over LIBSVM the speed-up is 1.4.",
}


def _position(number: int) -> int:
    """Digits 1 to 9 come first, then 0: only so do the numbers of rows agree."""
    return number % 10 + 1


TABLE3 = Experiment(
    id="clustersvm/table3",
    title="Table 3: USPS data set",
    shows=(
        "As Table 2; rows smoothed by a Gaussian of width 0.75, homogeneous polynomial "
        "kernel of degree 3, C = 10. The last three columns are not in the paper: "
        "LIBSVM, the program that the paper used, and all rows and condition 2 with one "
        "kernel matrix for all classifiers. Three fits each."
    ),
    runs=real_runs(USPS, USPS_KERNEL),
    cuts={Size.SMOKE: "600 training and 300 test rows."},
    table=make_table(_PRINTED, REAL_BASELINES, _NOTES, _position),
    remarks=(
        "Holds: a quarter of the rows gives about the same error; it is a little lower "
        "than that of all rows here as in the paper, by 4 of 2007 digits. The numbers of "
        "rows agree only if the classifiers are those of the digits 1 to 9, then 0 (rank "
        "correlation 0.85; in the order 0 to 9 it is -0.58).\n\n"
        "The speed-up does not hold for the SMO here, only over LIBSVM, which takes 1.4 "
        "times as long as ClusterSVM. One kernel matrix for all classifiers and no "
        "clusters is faster than both, with the exact SVM. Condition 2 needs a sixth of "
        "the rows of ClusterSVM for the exact SVM, and more time, since it averages "
        "kernel values of all rows."
    ),
)
