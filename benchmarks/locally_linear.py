"""LocallyLinearSVC, ClusteredSVC and LinearSVC on the data of the CSVM paper.

Nothing is tuned: 100 anchors or regions, the eight nearest, and the penalty that
``C="scale"`` is for unit-norm rows. CPU seconds of one thread, the models in turn,
seeds 0 to 2. Each task has floors that a correct LocallyLinearSVC reaches; the command
fails if one is missed. ``python benchmarks/locally_linear.py [NAME ...]`` runs only the
named tasks and then writes no file.
"""

from __future__ import annotations

import sys
import time
from typing import Any, NamedTuple

import numpy as np
from records import save, show
from sklearn.base import clone
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from localsvm import ClusteredSVC
from localsvm.data import load_task
from localsvm.estimators import LocallyLinearSVC

SEEDS = range(3)
INVERSE = LocallyLinearSVC()
COORDINATES = LocallyLinearSVC(coding="local_coordinates")
MODELS = {
    "LinearSVC(C=10)": LinearSVC(C=10),
    "ClusteredSVC(100)": ClusteredSVC(100),
    "LocallyLinearSVC()": INVERSE,
    "LocallyLinearSVC(coding='local_coordinates')": COORDINATES,
}


class Printed(NamedTuple):
    """Accuracy of LLSVM in Table 2 of Gu and Han (2013), and what ours must reach."""

    accuracy: float
    floor: float
    coordinates_floor: float


TASKS = {
    "svmguide1": Printed(87.64, 87.7, 88.1),
    "ijcnn1": Printed(94.07, 98.4, 97.4),
    "usps_odd_even": Printed(96.19, 96.7, 96.4),
    "mnist_3v8": Printed(98.62, 98.8, 98.3),
    "mnist_4v9": Printed(98.09, 98.4, 98.0),
    "mnist_odd_even": Printed(98.91, 98.1, 98.1),
}
# task, model, floor in percent
FLOORS = [
    (task, model, floor)
    for task, printed in TASKS.items()
    for model, floor in (
        (INVERSE, printed.floor),
        (COORDINATES, printed.coordinates_floor),
    )
]


def measure(data: Any, model: Any, seed: int) -> dict[str, float]:
    """Test accuracy in percent and CPU time of one fit."""
    fitted = clone(model).set_params(random_state=seed)
    start = time.process_time()
    fitted.fit(data.X_train, data.y_train)
    fit_seconds = time.process_time() - start
    start = time.process_time()
    accuracy = fitted.score(data.X_test, data.y_test)
    predict_seconds = time.process_time() - start
    return {
        "accuracy": 100 * accuracy,
        "fit_cpu_seconds": fit_seconds,
        "predict_cpu_microseconds": 1e6 * predict_seconds / len(data.y_test),
    }


def mean_accuracy(task: str, model: Any) -> float:
    """Mean test accuracy in percent over the seeds."""
    data = load_task(task)
    return float(np.mean([measure(data, model, seed)["accuracy"] for seed in SEEDS]))


def summarize(task: str, name: str, runs: list[dict[str, float]]) -> dict[str, Any]:
    """Join the runs of the seeds into one row of the result."""
    scores, fits, predicts = (
        [run[key] for run in runs]
        for key in ("accuracy", "fit_cpu_seconds", "predict_cpu_microseconds")
    )
    row = {
        "task": task,
        "model": name,
        "accuracy": round(float(np.mean(scores)), 3),
        "least": round(min(scores), 3),
        "most": round(max(scores), 3),
        "fit_cpu_seconds": round(float(np.median(fits)), 3),
        "predict_cpu_microseconds": round(float(np.median(predicts)), 2),
    }
    floors = [
        floor for of, model, floor in FLOORS if (of, model) == (task, MODELS[name])
    ]
    if floors:
        row |= {
            "printed": TASKS[task].accuracy,
            "floor": floors[0],
            "reached": row["accuracy"] >= floors[0],
        }
    return row


def run(task: str) -> list[dict[str, Any]]:
    """Measure all models on a task, one after another for each seed."""
    data = load_task(task)
    runs = [
        {name: measure(data, model, seed) for name, model in MODELS.items()}
        for seed in SEEDS
    ]
    return [summarize(task, name, [each[name] for each in runs]) for name in MODELS]


def main(chosen: list[str]) -> int:
    """Run the tasks; 1 if a floor is missed."""
    rows = []
    for task in chosen or TASKS:
        rows += run(task)
        show(
            [{"reached": "-", "printed": "-", "floor": "-"} | row for row in rows[-4:]]
        )
    if not chosen:
        command = "python benchmarks/locally_linear.py"
        save("locally_linear", command, rows, data=TASKS, threads=1)
    return 0 if all(row.get("reached", True) for row in rows) else 1


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main(sys.argv[1:]))
