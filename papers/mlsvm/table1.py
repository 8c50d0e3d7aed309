"""Table I: accuracy on odd against even digits by the number of training rows."""

from papers._experiment import Experiment, Size
from papers._printed import read_printed
from papers.mlsvm import methods
from papers.mlsvm.runs import SMOKE_CUTS, digit_runs
from papers.mlsvm.tables import accuracy_table

_PRINTED = read_printed("""
      | LSVM       | SVM        | Bst-SVM    | MLSVM
100   | 80.62±2.33 | 84.70±1.21 | 80.62±2.33 | 82.82±1.97
500   | 82.71±0.80 | 91.71±0.96 | 82.71±0.80 | 90.12±1.43
1000  | 84.71±0.53 | 94.59±0.21 | 83.67±0.24 | 92.82±0.26
5000  | 88.47±0.28 | 97.30±0.16 | 87.40±0.24 | 93.91±0.33
10000 | 89.60±0.13 | 98.01±0.09 | 88.98±0.21 | 94.89±0.23
All   | 90.28      | 98.49      | 89.72      | 95.20
""")
STANDARD_CUTS = (
    "3 repetitions instead of 10; with 5000 rows and more settings are chosen by one "
    "held-out fifth of 2000 training rows instead of 5 folds of all; the kernel SVM "
    "sees 60 principal components; the boosted SVM is not run with all rows, that with "
    "C = 1 with at most 1000."
)
_COLUMNS = {
    methods.LSVM: (methods.LSVM, methods.LSVM_1),
    methods.BOOSTED: (methods.BOOSTED, methods.BOOSTED_1),
    "MLSVM": (methods.PRINTED_MODEL, methods.ONE_STEP, methods.SOFTMAX),
}
_NOTES = {
    methods.LSVM: "The chosen C is smaller: C = 1 comes close to the printed values.",
    methods.LSVM_1: "The C that the paper chose is not known.",
    methods.SVM: "The C and gamma that the paper chose are not known; ours are better.",
    methods.BOOSTED: "The chosen C is smaller, see the linear SVM.",
    methods.BOOSTED_1: "The C that the paper chose is not known.",
    methods.PRINTED_MODEL: "The printed likelihood is not that of a mixture, and its EM "
    "makes the model worse: see the column with one step.",
    methods.ONE_STEP: "One EM step; the later ones make the printed model worse.",
    methods.SOFTMAX: "Better: the prior stands inside the gate.",
}

TABLE1 = Experiment(
    id="mlsvm/table1",
    title="Table I: accuracy (%) on handwritten digits, odd against even",
    shows=(
        "MNIST with pixels divided by 255: a linear SVM (LSVM), one with Gaussian "
        "kernel (SVM), AdaBoost on up to 100 linear SVMs (Bst-SVM) and the mixture "
        "(MLSVM) on subsets of the training rows, tested on all 10000 test rows. The "
        "mixture begins with 10 components. It is run as printed (tau = 1), as printed "
        "but with one EM step, and with the softmax gate of MixtureSVC; the printed "
        "column stands beside each. C, gamma and nu are chosen on training rows (nu from 0 "
        "and one percent of the rows); the paper gives no grid."
    ),
    runs=digit_runs,
    cuts={Size.SMOKE: SMOKE_CUTS, Size.STANDARD: STANDARD_CUTS},
    table=accuracy_table(_PRINTED, _COLUMNS, _NOTES),
    remarks=(
        "With C = 1 the linear and the boosted SVM are within 0.4 points of every "
        "printed value, and boosting has 1, 1 and 100 SVMs with 100, 500 and 1000 rows "
        "as in Table II: the printed columns are those of C = 1. Cross-validation "
        "chooses a smaller C here, which is better.\n\n"
        "The printed mixture is reproduced, but by its start from k-means: all EM steps "
        "after the first take 0 to 1.3 points away. The prior stands outside a gate "
        "that is normalised already, so that its likelihood is not that of a mixture. "
        "With the prior inside, EM helps, and the mixture is 1.5 to 4 points above the "
        "printed one.\n\n"
        "The grid of gamma ended at 0.05 at first; the fit to all rows took twice "
        "as long with it. The kernel SVM then had 95.77, 97.98 and 99.25 with 1000, "
        "5000 and all rows, and up to twice the support vectors."
    ),
)
