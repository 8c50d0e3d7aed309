"""Clustered support vector machines (Gu and Han 2013)."""

from papers._experiment import Paper
from papers.csvm.digits import DIGITS
from papers.csvm.figure1 import FIGURE1
from papers.csvm.figures23 import FIGURE2, FIGURE3
from papers.csvm.table2 import TABLE2
from papers.csvm.table3 import TABLE3
from papers.csvm.variants import VARIANTS

PAPER = Paper(
    id="csvm",
    title="Clustered Support Vector Machines",
    citation="Q. Gu, J. Han. Clustered support vector machines. AISTATS 2013, "
    "PMLR 31:307-315.",
    summary=(
        "Linear SVM and K-means+SVM agree with the paper on the four digit tasks, and "
        "kernel SVM on two of them. CSVM does not: the global penalty is worth at most a "
        "tenth of a point over K-means+SVM, where the paper prints about a whole one. "
        "The last two tables show what was tried. LLSVM agrees on most tasks. MSVM as "
        "printed ends with one component; with the prior inside its gate, and 20 "
        "components, it is better than CSVM with 8 clusters on every task. On IJCNN1 all rows but MSVM are above the printed ones, "
        "the linear SVM included. CSVM trains about as fast as K-means+SVM, and its time "
        "grows little with the number of clusters."
    ),
    experiments=(FIGURE1, TABLE2, TABLE3, FIGURE2, FIGURE3, DIGITS, VARIANTS),
)
