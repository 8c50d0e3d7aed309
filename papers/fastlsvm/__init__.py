"""Fast local support vector machines (Segata and Blanzieri 2008)."""

from papers._experiment import Paper
from papers.fastlsvm.readings import READINGS
from papers.fastlsvm.table1 import TABLE1
from papers.fastlsvm.table2 import TABLE2, TABLE2_SETTINGS, TABLE2_TIMES
from papers.fastlsvm.table3 import TABLE3, TABLE3_TIMES

PAPER = Paper(
    id="fastlsvm",
    title="Fast Local Support Vector Machines for Large Datasets",
    citation="N. Segata, E. Blanzieri. Fast local support vector machines for large "
    "datasets. Technical report DISI-08-063, University of Trento, 2008.",
    experiments=(
        TABLE1,
        TABLE2,
        TABLE2_SETTINGS,
        TABLE2_TIMES,
        READINGS,
        TABLE3,
        TABLE3_TIMES,
    ),
    summary=(
        "The tables hold: local SVMs are as accurate as the SVM or better, and on many "
        "rows far cheaper. On 2SPIRAL the RBF-SVM row is reached with columns of "
        "unit variance and noise whose standard deviation, not its variance, grows "
        "with the distance to the inner twist."
    ),
)
