"""Figures 2 and 3: accuracy and training time against the number of clusters."""

from collections.abc import Sequence
from typing import Any

from papers._experiment import Cell, Experiment, Size, Table
from papers._figures import Curve, draw_curves
from papers._results import Result
from papers.csvm.runs import (
    NUMBERS_OF_CLUSTERS,
    SMOKE_CUTS,
    TASKS,
    cluster_label,
    cluster_runs,
)

_ACCURACY = "scores.accuracy"
_TIME = "cpu_seconds.fit"
_COLUMNS = ("Linear SVM", *map(cluster_label, NUMBERS_OF_CLUSTERS))
_CUTS = {
    Size.SMOKE: SMOKE_CUTS,
    Size.STANDARD: "5 repetitions instead of 10; settings of the MNIST tasks are chosen "
    "by one held-out fifth instead of 5 folds.",
}


def _table(score: str, unit: str) -> Table:
    cells = {
        (task, column): Cell(f"{column} | {task}", (score,))
        for task in TASKS
        for column in _COLUMNS
    }
    return Table(cells, unit=unit)


def _curves(results: Sequence[Result], score: str) -> dict[str, list[Curve]]:
    """One panel per task: CSVM over k, and the linear SVM as a line."""
    values: dict[str, dict[str, list[float]]] = {}
    for result in results:
        column, _, task = result.run.group.partition(" | ")
        number = result.value(score)
        if number is not None:
            values.setdefault(task, {}).setdefault(column, []).append(number)
    return {task: _of_task(columns) for task, columns in values.items()}


def _of_task(columns: dict[str, list[float]]) -> list[Curve]:
    by_k = {
        float(k): columns[cluster_label(k)]
        for k in NUMBERS_OF_CLUSTERS
        if cluster_label(k) in columns
    }
    linear = columns.get("Linear SVM")
    curves = [Curve("CSVM", by_k)] if by_k else []
    return curves + ([Curve("Linear SVM", {0.0: linear})] if linear else [])


def _draw_accuracy(results: Sequence[Result]) -> Any:
    return draw_curves(
        _curves(results, _ACCURACY),
        xlabel="number of clusters k",
        ylabel="test accuracy (%)",
    )


def _draw_time(results: Sequence[Result]) -> Any:
    return draw_curves(
        _curves(results, _TIME),
        xlabel="number of clusters k",
        ylabel="CPU seconds",
        from_zero=True,
    )


FIGURE2 = Experiment(
    id="csvm/figure2",
    title="Figure 2: classification accuracy of CSVM against the number of clusters",
    shows=(
        "As CSVM in Table 2, with 2 to 20 clusters; settings are chosen for each number "
        "of clusters. The paper only draws the values."
    ),
    runs=cluster_runs,
    cuts=_CUTS,
    table=_table(_ACCURACY, "%"),
    draw=_draw_accuracy,
    remarks=(
        "The paper finds the accuracy stable in k on all tasks but SVMGUIDE1. Here it "
        "rises with k on IJCNN1 (from 5 clusters on), USPS OvE and MNIST OvE too; the "
        "values that Table 2 prints for 8 clusters on the latter two are reached with "
        "20, within the spread. On MNIST 3v8 and 4v9 it is stable from 8 clusters on, "
        "below the printed values. With 2 clusters IJCNN1 depends on the start of "
        "k-means. On SVMGUIDE1 C = 100 is chosen, and the solver stops at its limit of "
        "passes."
    ),
    records_of="csvm/table2",
)

FIGURE3 = Experiment(
    id="csvm/figure3",
    title="Figure 3: training time of CSVM against the number of clusters",
    shows="CPU seconds of the fits of Figure 2, clustering included.",
    runs=cluster_runs,
    cuts=_CUTS,
    table=_table(_TIME, "s"),
    draw=_draw_time,
    remarks=(
        "The paper finds the time roughly linear in k. Here ten times as many clusters "
        "take at most about three times as long, mostly much less: a step of "
        "the solver costs the same whatever the number of clusters, and k-means sees at "
        "most 10000 rows. It changes more with the chosen C. The linear SVM is "
        "LIBLINEAR's; where C = 100 was chosen (IJCNN1, MNIST OvE) it stops at its limit "
        "of 1000 passes and is slower than CSVM."
    ),
    records_of="csvm/table2",
)
