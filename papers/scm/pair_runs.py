"""The runs behind Table 1: every method on the pairs of MNIST digits."""

from papers._definition import Method, Run, Selection, Split
from papers._experiment import Size
from papers.scm.data import PAIRS, pair_of_digits
from papers.scm.measures import support_clusters, support_vectors
from papers.scm.methods import LIBSVM, centroids, per_cluster, scm, scm_em

_GRID = {"C": per_cluster(290, 1e2, 1e3, 1e4, 1e5), "gamma": (0.02, 0.04, 0.08)}
# Variances are raised by 1 / (4 gamma): by 0.01, 0.1, 1 and 5.
_PRINTED_GRID = {
    "C": per_cluster(290, 1e3, 1e5, 1e7),
    "gamma": (25.0, 2.5, 0.25, 0.05),
}

METHODS = (
    LIBSVM,
    scm("SCM+TOD", _GRID, n_clusters=145),
    scm_em("SCM+EM", _GRID, n_components=25),
    centroids("TOD, centroids and priors", _GRID, n_clusters=145, priors=True),
    centroids("TOD, centroids alone", _GRID, n_clusters=145, priors=False),
    scm("SCM+TOD, Eq. 8 and 12", _PRINTED_GRID, n_clusters=145, kernel_form="paper"),
)
CUTS = {
    Size.SMOKE: "one pair of digits, 600 training rows",
    Size.STANDARD: "60 principal components of each pair's training rows instead of "
    "784 pixels; settings chosen on one held-out fifth of the training rows, those of "
    "libsvm on 2500 rows",
}


def pair_runs(size: Size) -> list[Run]:
    """Every method on every pair of digits; runs of a method have one group."""
    pairs = ((3, 8),) if size == Size.SMOKE else PAIRS
    return [_run(method, pair, size) for pair in pairs for method in METHODS]


def _run(method: Method, pair: tuple[int, int], size: Size) -> Run:
    smoke = size == Size.SMOKE
    return Run(
        group=method.name,
        data=pair_of_digits(*pair, n_components=None if size == Size.FULL else 60),
        method=method,
        split=Split(n_train=600, n_test=300) if smoke else Split(),
        selection=_selection(method, size),
        measures=(support_vectors if method is LIBSVM else support_clusters,),
    )


def _selection(method: Method, size: Size) -> Selection:
    if size == Size.FULL:
        return Selection()
    return Selection(n_folds=1, max_rows=2500 if method is LIBSVM else None)
