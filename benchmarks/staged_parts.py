"""StagedSVC against what it is made of, each with its defaults.

Training rows of twelve data sets, cut to at most 2000, seeds 0 to 4; the errors are
those of up to 4000 other training rows. No test row is looked at. A part beats
StagedSVC on a task if its mean error over the seeds is smaller by more than one
standard error of the paired differences.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from records import save, show
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from localsvm import ClusteredSVC, LocalSVC, StagedSVC
from localsvm.data import load_benchmark
from localsvm.estimators import AdditiveSVC

TASKS = (
    *("adult", "covtype", "ijcnn1", "svmguide1", "vehicle", "vowel"),
    *("breast", "heart", "ionosphere", "sonar", "liver", "svmguide2"),
)
SEEDS = range(5)
N_ROWS, N_FRESH = 2000, 4000
PARTS = ("LinearSVC", "AdditiveSVC", "ClusteredSVC", "LocalSVC", "SVC")


def draw(task: str, seed: int) -> tuple[Any, ...]:
    """Rows to fit and fresh ones, from the training rows."""
    data = load_benchmark(task)
    X, y = data.X_train, data.y_train
    order = np.random.default_rng(seed).permutation(len(y))
    n_rows = min(N_ROWS, 2 * len(y) // 3)
    order = order[: n_rows + N_FRESH]
    X, y = X[order], y[order]
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def models(seed: int) -> dict[str, Any]:
    """StagedSVC and its parts, all with their defaults."""
    plain = {
        "LinearSVC": LinearSVC(random_state=seed),
        "ClusteredSVC": ClusteredSVC(random_state=seed),
        "LocalSVC": LocalSVC(random_state=seed),
        "SVC": SVC(),
    }
    return {
        "StagedSVC": StagedSVC(random_state=seed),
        "AdditiveSVC": AdditiveSVC(random_state=seed),
        **{name: make_pipeline(StandardScaler(), part) for name, part in plain.items()},
    }


def run(task: str, seed: int) -> list[dict[str, Any]]:
    """Errors in percent and seconds of each model."""
    X, y, fresh_X, fresh_y = draw(task, seed)
    rows = []
    for name, model in models(seed).items():
        start = time.process_time()
        model.fit(X, y)
        rows.append(
            {
                "task": task,
                "seed": seed,
                "model": name,
                "error": round(100 * (1 - model.score(fresh_X, fresh_y)), 3),
                "cpu_seconds": round(time.process_time() - start, 2),
            }
        )
    return rows


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean errors by task, and the parts that beat the whole by a standard error."""
    found = []
    for task in TASKS:
        errors = {
            name: np.array(
                [r["error"] for r in rows if (r["task"], r["model"]) == (task, name)]
            )
            for name in ("StagedSVC", *PARTS)
        }
        line = {"task": task, **{k: round(v.mean(), 2) for k, v in errors.items()}}
        found.append(line | {"beaten_by": _beaten_by(errors)})
    return found


def _beaten_by(errors: dict[str, Any]) -> str:
    """Parts with fewer errors, by more than a standard error of the difference."""
    names = []
    for name in PARTS:
        lead = errors["StagedSVC"] - errors[name]
        if lead.mean() > lead.std(ddof=1) / np.sqrt(len(lead)):
            names.append(f"{name} ({lead.mean():.2f})")
    return ", ".join(names)


def main() -> None:
    """Measure, save and show."""
    with threadpool_limits(1):
        rows = [row for task in TASKS for seed in SEEDS for row in run(task, seed)]
    table = summary(rows)
    command = "python benchmarks/staged_parts.py"
    save("staged_parts", command, rows, data=TASKS, summary=table)
    show(table)


if __name__ == "__main__":
    main()
