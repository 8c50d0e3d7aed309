"""Table III: accuracy on forest cover types by the number of training rows."""

from papers._experiment import Experiment, Size
from papers._printed import read_printed
from papers.mlsvm import methods
from papers.mlsvm.runs import SMOKE_CUTS, forest_runs
from papers.mlsvm.tables import accuracy_table

_PRINTED = read_printed("""
      | LSVM       | SVM        | Bst-SVM    | MLSVM
100   | 64.79±3.52 | 66.19±2.47 | 65.70±2.86 | 65.98±2.79
500   | 73.34±1.10 | 73.05±0.93 | 73.30±1.50 | 73.62±0.89
1000  | 74.78±0.47 | 75.22±0.43 | 74.76±0.51 | 74.89±0.36
5000  | 75.97±0.20 | 78.92±0.29 | 76.06±0.25 | 77.12±0.15
10000 | 76.19±0.12 | 79.98±0.16 | 76.13±0.12 | 77.34±0.18
""")
STANDARD_CUTS = (
    "5 repetitions instead of 10; tested on 20000 of the other rows instead of all; "
    "with 5000 rows and more settings are chosen by one held-out fifth of the training "
    "rows (kernel SVM: of 2000) instead of 5 folds."
)
_COLUMNS = {"MLSVM": (methods.PRINTED_MODEL, methods.ONE_STEP, methods.SOFTMAX)}
_NOTES = {
    methods.LSVM: "The grid ends at C = 10, and neither the grid nor the scaling of the "
    "columns is printed; C = 100 has 74.6 with 1000 rows, seen on test rows and so not "
    "taken.",
    methods.SVM: "The C and gamma that the paper chose are not known.",
    methods.PRINTED_MODEL: "It collapses to one component (Table IV): a linear SVM.",
    methods.ONE_STEP: "One EM step, before it collapses.",
    methods.SOFTMAX: "Another model: the prior stands inside the gate.",
}

TABLE3 = Experiment(
    id="mlsvm/table3",
    title="Table III: accuracy (%) on forest cover types, type 2 against the others",
    shows=(
        "As Table I on covtype, with columns scaled to [0, 1] by the training rows. The "
        "softmax gate also chooses the number of components, from 1, 3 and 10."
    ),
    runs=forest_runs,
    cuts={Size.SMOKE: SMOKE_CUTS, Size.STANDARD: STANDARD_CUTS},
    table=accuracy_table(_PRINTED, _COLUMNS, _NOTES),
    remarks=(
        "The printed model ends as a linear SVM, with its accuracy, at every number of "
        "rows; what the paper gains over the linear SVM with 5000 rows and more needs a "
        "mixture that does not collapse, and the softmax gate has it. With 500 and 1000 "
        "rows every method is a little below its printed value, the linear SVM too."
    ),
)
