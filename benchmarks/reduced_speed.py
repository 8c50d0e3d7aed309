"""Exact RBF SVMs of large data: ReducedSVC for all rows, by clusters, and SVC.

One thread, one process, CPU seconds. ``SVC`` and ReducedSVC have the same setting,
tolerance and cache. Clusters are tried where they take less than some minutes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from records import check_goals, save, show
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from localsvm import ReducedSVC
from localsvm.data import load_benchmark, load_task
from localsvm.estimators import Reduction

# task, rows, gamma, C, whether clusters are tried
TASKS: list[tuple[str, int, float, float, bool]] = [
    ("adult", 10_000, 0.03, 1.0, True),
    ("adult", 30_162, 0.03, 1.0, True),
    ("ijcnn1", 49_990, 2.0, 10.0, True),
    ("covtype", 20_000, 32.0, 10.0, True),
    ("covtype", 50_000, 32.0, 10.0, False),
]


def load(name: str, n_rows: int) -> tuple[Any, Any]:
    """First rows and labels of two classes; Covertype with columns in [0, 1]."""
    if name == "covtype":
        data = load_task("covtype_2_vs_rest")
        X = data.X_train[:n_rows].astype(np.float32)
        spread = np.maximum(np.ptp(X, axis=0), 1e-9)
        return np.ascontiguousarray((X - X.min(axis=0)) / spread), data.y_train[:n_rows]
    data = load_benchmark(name)
    X = np.ascontiguousarray(data.X_train[:n_rows], dtype=np.float32)
    return X, data.y_train[:n_rows] == 1


def measure(make: Callable[[], Any], X: Any, y: Any) -> tuple[float, Any]:
    """CPU seconds of a fit, and the model."""
    start = time.process_time()
    model = make().fit(X, y)
    return round(time.process_time() - start, 2), model


def run(
    name: str, n_rows: int, gamma: float, C: float, clusters: bool
) -> list[dict[str, Any]]:
    """Measure one task."""
    X, y = load(name, n_rows)
    setting = {"gamma": gamma, "C": C, "cache_size": 1000}
    task = {"task": name, "rows": len(X), "gamma": gamma, "C": C}
    found = []
    for reduction in (None, Reduction()) if clusters else (None,):
        seconds, model = measure(
            lambda reduction=reduction: ReducedSVC(reduction=reduction, **setting), X, y
        )
        found.append(
            {
                **task,
                "model": f"ReducedSVC(reduction={reduction})",
                "cpu_seconds": seconds,
                "support": len(model.support_),
                "at_bound": int(
                    np.count_nonzero(np.abs(model.dual_coef_[0]) >= C * (1 - 1e-9))
                ),
                "rows_used": model.n_rows_used_[0],
                "objective": round(float(model.dual_objective_[0]), 4),
                "exact": model.exact_,
            }
        )
        show(found[-1:])
    seconds, model = measure(lambda: SVC(**setting), X, y)
    found.append(
        {**task, "model": "SVC", "cpu_seconds": seconds, "support": len(model.support_)}
    )
    show(found[-1:])
    return found


def main() -> int:
    """Measure, compare with the goal, save."""
    rows = [row for task in TASKS for row in run(*task)]
    goals = []
    for name, n_rows, *_ in TASKS:
        seconds = {
            row["model"]: row["cpu_seconds"]
            for row in rows
            if (row["task"], row["rows"]) == (name, n_rows)
        }
        ratio = seconds["SVC"] / seconds["ReducedSVC(reduction=None)"]
        goals.append((f"SVC / ours, {name} {n_rows:,} rows", ratio, ">=", 3))
    comparison = check_goals(goals)
    show(comparison)
    save(
        "reduced_speed",
        "python benchmarks/reduced_speed.py",
        rows,
        data=[name for name, *_ in TASKS],
        goals=comparison,
        threads=1,
    )
    return 0


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
