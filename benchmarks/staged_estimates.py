"""What StagedSVC expects of its choice, against the error on fresh rows.

Training rows of noisy two-class sets, cut to sizes at which one model and cells are
close, seeds 0 to 4. The estimate is the held-out error of the chosen setting in
``selection_``, on as many rows as it was tried on. It is compared with the error on
fresh training rows of the same setting fitted to as many rows as the trial was; the
error of the whole fit stands beside it. No test row is looked at. The command fails if
an estimate is off by more than two standard errors of the mean over the seeds.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from records import save, show
from threadpoolctl import threadpool_limits

from localsvm import StagedSVC
from localsvm.data import load_benchmark

SEEDS = range(5)
N_FRESH = 15_000


class Task(NamedTuple):
    """A data set, how many of its rows are fitted, and the share of labels flipped."""

    name: str
    n_rows: int
    noise: float


TASKS = (
    Task("covtype", 11_500, 0.05),
    Task("adult", 13_000, 0.0),
    Task("ijcnn1", 13_000, 0.08),
)


def draw(task: Task, seed: int) -> tuple[Any, ...]:
    """Rows to fit and fresh ones, from the training rows."""
    data = load_benchmark(task.name)
    X, y = data.X_train, data.y_train
    y = (y == 2).astype(int) if task.name == "covtype" else (y > 0).astype(int)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))[: task.n_rows + N_FRESH]
    X, y = X[order], y[order] ^ (rng.random(len(order)) < task.noise)
    return X[: task.n_rows], y[: task.n_rows], X[task.n_rows :], y[task.n_rows :]


def estimate(model: StagedSVC) -> dict[str, Any]:
    """Return the entry of the chosen setting that was tried on the most rows."""
    table = model.selection_
    chosen = np.flatnonzero(table["chosen"])
    last = chosen[np.argmax(table["n_rows"][chosen] - table["n_held_out"][chosen])]
    return {name: column[last] for name, column in table.items()}


def run(task: Task, seed: int) -> dict[str, Any]:
    """Fit, and compare the estimate with what fresh rows show."""
    X, y, fresh_X, fresh_y = draw(task, seed)
    start = time.process_time()
    model = StagedSVC(random_state=seed).fit(X, y)
    seconds = time.process_time() - start
    tried = estimate(model)
    n_trained = int(tried["n_rows"] - tried["n_held_out"])
    same = StagedSVC(random_state=seed, **model.best_params_)
    same.fit(X[:n_trained], y[:n_trained])
    return {
        "task": task.name,
        "seed": seed,
        "estimate": round(100 * float(tried["error"]), 3),
        "n_held_out": int(tried["n_held_out"]),
        "same_rows": round(100 * (1 - same.score(fresh_X, fresh_y)), 3),
        "fitted": round(100 * (1 - model.score(fresh_X, fresh_y)), 3),
        "terms": list(model.terms_),
        "cpu_seconds": round(seconds, 1),
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean difference over the seeds, and its standard error by the rows counted."""
    errors = np.array([[row["estimate"], row["same_rows"]] for row in rows]) / 100
    n_rows = np.array([[row["n_held_out"], N_FRESH] for row in rows])
    variance = (errors * (1 - errors) / n_rows).sum() / len(rows) ** 2
    difference = 100 * (errors[:, 0] - errors[:, 1]).mean()
    return {
        "task": rows[0]["task"],
        "estimate": round(100 * float(errors[:, 0].mean()), 2),
        "same_rows": round(100 * float(errors[:, 1].mean()), 2),
        "difference": round(float(difference), 2),
        "standard_error": round(100 * float(np.sqrt(variance)), 2),
        "fitted": round(float(np.mean([row["fitted"] for row in rows])), 2),
    }


def agrees(found: dict[str, Any]) -> bool:
    """Whether an estimate is within two standard errors."""
    return bool(abs(found["difference"]) <= 2 * found["standard_error"])


def main() -> None:
    """Run all tasks and write the result file."""
    with threadpool_limits(1):
        rows = [run(task, seed) for task in TASKS for seed in SEEDS]
    show(rows)
    found = [
        summary([row for row in rows if row["task"] == task.name]) for task in TASKS
    ]
    show(found)
    save(
        "staged_estimates",
        "python benchmarks/staged_estimates.py",
        rows,
        data=[task.name for task in TASKS],
        summary=found,
    )
    if not all(map(agrees, found)):
        raise SystemExit("An estimate is off by more than two standard errors.")


if __name__ == "__main__":
    main()
