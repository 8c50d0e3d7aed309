"""Initial SVMs on the artificial problem: the runs of Figures 4 and 5."""

from collections.abc import Iterable, Sequence

from papers._definition import Run
from papers._experiment import Size
from papers._figures import Curve
from papers._results import Result
from papers.clustersvm.artificial import N_ROWS
from papers.clustersvm.measures import clustering_time, relative_difference
from papers.clustersvm.methods import INTERIOR_POINT, SMO, cluster_svm
from papers.clustersvm.problems import ARTIFICIAL_KERNEL, artificial

HEURISTIC = 45
SMOKE_CUTS = "300 rows, few numbers of clusters, 2 repetitions."
_SOLVERS = {"interior point": INTERIOR_POINT, "SMO": SMO}
_NUMBERS = range(1, 82, 2)
# Numbers of clusters and repetitions.
_PLAN: dict[Size, dict[str, tuple[Iterable[int], int]]] = {
    Size.SMOKE: {"interior point": ((1, 5, 17), 2), "SMO": ((1, 5), 1)},
    Size.STANDARD: {"interior point": (_NUMBERS, 10), "SMO": (_NUMBERS[::2], 2)},
    Size.FULL: {"interior point": (_NUMBERS, 10), "SMO": (_NUMBERS, 10)},
}


def initial_runs(size: Size, solver: str = "interior point") -> list[Run]:
    """Train an SVM on one row of each cluster."""
    numbers, n_seeds = _PLAN[size][solver]
    return [
        _run(solver, n_clusters, N_ROWS[size], seed)
        for n_clusters in numbers
        for seed in range(n_seeds)
    ]


def initial_curve(
    results: Sequence[Result], solver: str, score: str, label: str
) -> Curve:
    """Give a score against the number of clusters."""
    values: dict[float, list[float]] = {}
    for result in results:
        name, _, n_clusters = result.run.group.partition(" | ")
        number = result.value(score)
        if name == solver and number is not None:
            values.setdefault(float(n_clusters), []).append(number)
    return Curve(label, values)


def _run(solver: str, n_clusters: int, n_rows: int, seed: int) -> Run:
    return Run(
        group=f"{solver} | {n_clusters}",
        data=artificial(n_rows, seed),
        method=cluster_svm(
            "Initial SVM",
            ARTIFICIAL_KERNEL,
            _SOLVERS[solver],
            max_passes=0,
            n_clusters=n_clusters,
        ),
        seed=seed,
        measures=(clustering_time, relative_difference),
    )
