"""StagedSVC with 200 classes and 4000 rows, against ClusteredSVC and SVC.

Gaussian clusters of equal width, several per class; 4000 rows to fit and 4000 to score.
CPU seconds of one thread, the fit of StagedSVC with the choice of its parameters. The
command fails if StagedSVC takes more than 20 times the CPU of ClusteredSVC, or is less
accurate.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from records import save, show
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from localsvm import ClusteredSVC, StagedSVC

N_CLASSES, N_ROWS = 200, 4000


class Problem(NamedTuple):
    """Clusters of a class, and columns."""

    clusters: int
    columns: int


PROBLEMS = (Problem(3, 20), Problem(1, 20), Problem(1, 8), Problem(8, 30))


def make(problem: Problem, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows to fit, then as many to score."""
    rng = np.random.default_rng(seed)
    shape = N_CLASSES, problem.clusters, problem.columns
    centers = 1.5 * rng.standard_normal(shape)
    y = rng.integers(0, N_CLASSES, 2 * N_ROWS)
    X = centers[y, rng.integers(0, problem.clusters, 2 * N_ROWS)]
    return (X + 0.9 * rng.standard_normal(X.shape)).astype(np.float32), y


def measure(model: Any, X: NDArray[Any], y: NDArray[Any]) -> tuple[float, float]:
    """Accuracy in percent, and CPU seconds of the fit."""
    start = time.process_time()
    model.fit(X[:N_ROWS], y[:N_ROWS])
    seconds = time.process_time() - start
    return round(100 * model.score(X[N_ROWS:], y[N_ROWS:]), 2), round(seconds, 2)


def run(problem: Problem, seed: int) -> dict[str, Any]:
    """Compare the models on one problem."""
    X, y = make(problem, seed)
    models = {
        "clustered": ClusteredSVC(random_state=0),
        "staged": StagedSVC(random_state=0),
        "svc": SVC(C=10.0),
    }
    row: dict[str, Any] = problem._asdict()
    for name, model in models.items():
        row[name], row[f"{name}_s"] = measure(model, X, y)
    return row | {"times": round(row["staged_s"] / row["clustered_s"], 1)}


def main() -> None:
    """Run all problems and write the result file."""
    with threadpool_limits(1):
        rows = [run(problem, seed) for seed, problem in enumerate(PROBLEMS)]
    show(rows)
    command = "python benchmarks/staged_many_classes.py"
    save("staged_many_classes", command, rows, data=[])
    if any(row["times"] > 20 or row["staged"] < row["clustered"] for row in rows):
        raise SystemExit("StagedSVC is too slow or less accurate.")


if __name__ == "__main__":
    main()
