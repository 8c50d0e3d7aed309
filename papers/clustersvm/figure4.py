"""Figure 4: error of the initial SVM against the number of clusters."""

from collections.abc import Sequence
from typing import Any

from papers._experiment import Experiment, Size
from papers._figures import draw_curves
from papers._results import Result
from papers.clustersvm.initial import (
    HEURISTIC,
    SMOKE_CUTS,
    initial_curve,
    initial_runs,
)


def _draw(results: Sequence[Result]) -> Any:
    curve = initial_curve(
        results, "interior point", "scores.relative_difference", "initial SVM"
    )
    figure = draw_curves(
        {"error rate of the initial SVM": [curve]},
        xlabel="initial clusters per class k",
        ylabel="relative difference RD",
    )
    figure.set_size_inches(6.0, 3.6)
    figure.axes[0].axvline(HEURISTIC, color="grey", linestyle=":", linewidth=1)
    figure.axes[0].axhline(0.0, color="grey", linewidth=0.8)
    return figure


FIGURE4 = Experiment(
    id="clustersvm/figure4",
    title="Figure 4: the initial SVM compared to the true SVM",
    shows=(
        "RD = |ER_initial - ER_true| / ER_true of the error rates on the same test rows; "
        "6000 artificial rows, k = 1, 3, ..., 81 clusters per class, mean and standard "
        "deviation of ten pairs of training and test rows, the same for all k. The dotted "
        "line is the square root heuristic, k = 45. The paper only draws the values."
    ),
    runs=initial_runs,
    cuts={Size.SMOKE: SMOKE_CUTS},
    draw=_draw,
    remarks=(
        "Holds: from 13 clusters per class on, the error of the initial SVM is on "
        "average within 1.3 % of the true one, at k = 45 within 0.6 %; more clusters "
        "hardly help. k = 1 is as good, by the symmetry of the problem, as the "
        "paper says, and k = 3 is the worst, 9 % off."
    ),
)
