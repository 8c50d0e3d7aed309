"""Table 3: error on Adult, all rows together and three parties that share clusters."""

from papers._definition import Method, Run, Selection, Split
from papers._experiment import Cell, Experiment, Size, Table
from papers._printed import read_printed
from papers.scm.data import ADULT
from papers.scm.measures import support_clusters, support_vectors
from papers.scm.methods import (
    LIBSVM,
    NOT_AT_HAND,
    centroids,
    per_cluster,
    scm,
    three_parties,
)

_PRINTED = read_printed("""
                              | Error
libsvm                        | 16.27
SVMTorch                      | 16.51
SVMlight                      | 15.70
CVM                           | 15.98
SCM                           | 16.66
SCM (p)                       | 16.83
SCM (p), ten rows per cluster | -
TOD, centroids and priors     | -
TOD, centroids alone          | -
""")
_GRID = {"C": per_cluster(600, 300.0, 1e3, 3e3, 1e4), "gamma": (0.015, 0.03, 0.06)}
_METHODS = (
    LIBSVM,
    scm("SCM", _GRID, n_clusters=300),
    three_parties("SCM (p)", _GRID, n_clusters=100),
    three_parties("SCM (p), ten rows per cluster", _GRID, n_clusters=100, coarse=True),
    centroids("TOD, centroids and priors", _GRID, n_clusters=300, priors=True),
    centroids("TOD, centroids alone", _GRID, n_clusters=300, priors=False),
)
_RUN = {method.name for method in _METHODS}
_COLUMNS = (
    "The paper does not say how columns are prepared; here numbers are standardised and "
    "the rest is one-hot."
)
_NOTES = {
    "libsvm": f"{_COLUMNS} The three SVM programs of the paper solve the same problem "
    "and still differ by 0.8 points. Columns scaled to [0, 1] do not explain it: "
    "15.35 % (not recorded).",
    "SCM": f"{_COLUMNS} With all columns scaled to [0, 1] SCM had about 17.0 % (two "
    "orders, not recorded): the printed value lies between.",
    "SCM (p)": f"{_COLUMNS} With all columns scaled to [0, 1] it was 17.0 and 17.8 % (two "
    "orders, not recorded): the printed value lies between.",
}
_REPETITIONS = {Size.SMOKE: 2, Size.STANDARD: 5, Size.FULL: 10}


def _runs(size: Size) -> list[Run]:
    return [
        _run(method, size, seed)
        for method in _METHODS
        # The SVM is the same for every seed.
        for seed in range(1 if method is LIBSVM else _REPETITIONS[size])
    ]


def _run(method: Method, size: Size, seed: int) -> Run:
    smoke = size == Size.SMOKE
    return Run(
        group=method.name,
        data=ADULT,
        method=method,
        split=Split(n_train=450, n_test=300) if smoke else Split(),
        selection=_selection(method, size),
        seed=seed,
        measures=(support_vectors if method is LIBSVM else support_clusters,),
    )


def _selection(method: Method, size: Size) -> Selection:
    if size == Size.SMOKE:
        return Selection(n_folds=1)
    if size == Size.STANDARD and method is LIBSVM:
        return Selection(n_folds=1, max_rows=3000)
    return Selection()


TABLE3 = Experiment(
    id="scm/table3",
    title="Table 3: error (%) on Adult, (p) for three parties that share clusters",
    shows="Test error of 15060 rows; about 600 clusters in all, wherever they come "
    "from. SCM is repeated with different orders of the rows for the clustering. The "
    "last three rows are not in the paper's table: parties that share no cluster of "
    "fewer than ten rows, and what is left without covariances, also without priors.",
    runs=_runs,
    cuts={
        Size.SMOKE: "450 training rows, two orders",
        Size.STANDARD: "five orders of the rows; settings of libsvm chosen on 3000 "
        "training rows, a fifth held out",
    },
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
        }
    ),
    remarks="That parties lose next to nothing by sharing clusters instead of rows holds, "
    "even if no cluster has fewer than ten rows; and SCM is as good as the SVM. Here it "
    "is the priors that matter: without them the error is far higher, while covariances "
    "change little. The values of gamma and C to choose from are around those of an "
    "earlier study, which had looked at test errors.",
)
