"""Table 2: accuracy of seven classifiers on six tasks."""

from papers._experiment import Cell, Experiment, Size, Table
from papers._printed import read_printed
from papers.csvm.runs import SMOKE_CUTS, STANDARD_CUTS, compared_runs

_PRINTED = read_printed("""
            | SVMGUIDE1  | IJCNN1     | USPS OvE   | MNIST 3v8  | MNIST 4v9  | MNIST OvE
Linear SVM  | 79.13      | 91.01      | 93.72      | 97.08      | 97.14      | 90.21
Kernel SVM  | 87.95      | 93.89      | 95.91      | 98.69      | 98.90      | 98.87
SVM-KNN     | 85.78      | 92.45      | 94.46      | 98.99      | 97.90      | 96.97
K-means+SVM | 80.45±1.15 | 93.19±0.60 | 95.45±0.20 | 98.45±0.19 | 97.80±0.26 | 96.06±0.22
MSVM        | 83.27±0.64 | 93.41±0.19 | 95.71±0.22 | 98.46±0.25 | 97.74±0.25 | 96.62±0.18
MSVM, softmax gate | - | - | - | - | - | -
LLSVM       | 87.64±0.30 | 94.07±0.45 | 96.19±0.25 | 98.62±0.18 | 98.09±0.24 | 98.91±0.09
CSVM        | 83.68±0.84 | 94.29±0.62 | 96.44±0.24 | 99.41±0.18 | 98.69±0.19 | 97.14±0.17
""")

_IJCNN1 = (
    "On this task already LIBLINEAR's linear SVM is above the printed value, with the "
    "file of the LIBSVM page and rows of unit norm. Probably the paper's rows were "
    "prepared in another way; which one is not known."
)
_BETTER_KERNEL = (
    "Settings of the paper's own grid, chosen on training rows, do better than printed."
)
_GAIN = (
    "The gain over K-means+SVM is not reproduced, and the cause is not known. It is not "
    "the solver: the relative duality gap is below 0.001."
)
_TRIED = (
    "It is not the choice of a setting: on MNIST 3v8 and 4v9 none of the grid comes near "
    "the printed value on the test rows. On 3v8 neither do a squared hinge loss, no "
    "constant column, another k-means or rows without unit norm (see the last two "
    "tables)."
)
_MORE_CLUSTERS = "With 20 clusters the printed value is reached (Figure 2)."
_COLLAPSE = (
    "As printed the prior stands outside a gate that already sums to one. On rows of "
    "unit norm EM then ends with one component, which is a linear SVM. With the prior "
    "inside the gate (the row below) the components stay."
)
_FEWER_ROWS = "The paper counts 917 test rows, the standard split has 2007."
_NOTES = {
    **{(row, "IJCNN1"): _IJCNN1 for row, _ in _PRINTED},
    ("Kernel SVM", "USPS OvE"): f"{_BETTER_KERNEL} {_FEWER_ROWS}",
    ("Kernel SVM", "MNIST 3v8"): _BETTER_KERNEL,
    ("SVM-KNN", "SVMGUIDE1"): _BETTER_KERNEL,
    ("SVM-KNN", "USPS OvE"): f"{_BETTER_KERNEL} {_FEWER_ROWS}",
    ("SVM-KNN", "MNIST 4v9"): _BETTER_KERNEL,
    ("SVM-KNN", "MNIST OvE"): _BETTER_KERNEL,
    ("K-means+SVM", "SVMGUIDE1"): (
        "C = 100 is chosen here, at the end of the grid; the paper does not say what it "
        "chose. The solver stops at its limit of passes, with a relative duality gap up "
        "to 0.02."
    ),
    **{("MSVM", column): _COLLAPSE for _, column in _PRINTED},
    ("LLSVM", "MNIST OvE"): (
        "The paper does not say how many of the 100 anchors code a row; here 8, and no "
        "other number was tried."
    ),
    ("CSVM", "USPS OvE"): f"{_GAIN} {_MORE_CLUSTERS} {_FEWER_ROWS}",
    ("CSVM", "MNIST 3v8"): f"{_GAIN} {_TRIED}",
    ("CSVM", "MNIST 4v9"): f"{_GAIN} {_TRIED}",
    ("CSVM", "MNIST OvE"): f"{_GAIN} {_MORE_CLUSTERS}",
}

TABLE2 = Experiment(
    id="csvm/table2",
    title="Table 2: classification accuracy (%) of large margin classifiers",
    shows=(
        "Seven classifiers on six two-class tasks with their given split; rows have unit "
        "norm, linear models a constant column of one. C is chosen from 0.01 to 100, "
        "gamma too, the number of neighbours from 20, 50 and 100, and CSVM's global "
        "penalty from 1 to 100, by cross-validation on the training rows. K-means+SVM "
        "and CSVM have 8 clusters, MSVM 20, LLSVM 100 anchors. Methods with k-means are "
        "repeated with 10 seeds. MSVM is the printed model with tau = 1; below it stands, "
        "not in the paper, the mixture whose gate has the prior inside."
    ),
    runs=compared_runs,
    remarks=(
        "The setting of each run is in its record. LIBLINEAR has its own default "
        "tolerance of 0.1 and 1000 passes; for large C it stops at that limit."
    ),
    cuts={Size.SMOKE: SMOKE_CUTS, Size.STANDARD: STANDARD_CUTS},
    table=Table(
        {
            (row, column): Cell(
                f"{row} | {column}",
                printed=printed,
                note=_NOTES.get((row, column), ""),
            )
            for (row, column), printed in _PRINTED.items()
        }
    ),
)
