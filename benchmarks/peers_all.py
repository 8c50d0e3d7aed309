"""The library's classifiers, boosted trees and other peers on all tasks.

``peers_tasks``, ``peers_trees`` and ``peers_methods`` say what the rows are, and how
each method is tuned, on training rows alone. Accuracy in percent; area under the ROC
curve, for several classes the mean over each against the rest; CPU seconds of the
whole fit, with encoding and every choice; CPU microseconds per row that is predicted,
encoding included. One thread.

``python benchmarks/peers_all.py [--tasks ...] [--methods ...] [--seeds ...] [--again]``
saves every row as soon as it is measured, and leaves out what the results file has,
unless ``--again`` is given. Each fit is a process of its own, ended after ``--limit``
CPU seconds; its row then has ``stopped_after`` instead of figures.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import signal
import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers_methods import METHODS
from peers_tasks import MOST_TEST_ROWS, MOST_TRAINING_ROWS, TASKS, Split, load
from records import Row, resume, save
from sklearn.metrics import roc_auc_score

NAME = "peers_all"
CPU_LIMIT = 300
Key = tuple[str, str, int]


def cpu_seconds() -> float:
    """CPU time of this process and its children."""
    used = os.times()
    return time.process_time() + used.children_user + used.children_system


def area(y: NDArray[np.int64], scores: NDArray[np.float64]) -> float:
    """Area under the ROC curve, or the mean over the classes against the rest."""
    if scores.ndim == 1:
        return float(roc_auc_score(y, scores))
    return float(np.mean([roc_auc_score(y == k, scores[:, k]) for k in np.unique(y)]))


def measure(method: str, split: Split, seed: int) -> Row:
    """Fit, score and time."""
    start = cpu_seconds()
    fitted = METHODS[method](split, seed)
    ready = cpu_seconds()
    scores = np.asarray(fitted.scores(split.X_test))
    done = cpu_seconds()
    found = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    return {
        "accuracy": round(100 * float((found == split.y_test).mean()), 3),
        "auc": round(area(split.y_test, scores), 5),
        "fit_cpu_seconds": round(ready - start, 3),
        "predict_cpu_microseconds": round(1e6 * (done - ready) / len(scores), 2),
        "chosen": fitted.chosen,
    }


def _answer(pipe: Any, limit: int, *arguments: Any) -> None:
    """Measure in a process of its own."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    pipe.send(measure(*arguments))


def measure_apart(method: str, split: Split, seed: int, limit: int) -> Row:
    """Row of a process that may be ended by its limit of CPU time."""
    context = multiprocessing.get_context("fork")  # the rows need not be copied
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(send, limit, method, split, seed))
    process.start()
    send.close()
    try:
        row: Row = receive.recv()
    except EOFError:
        process.join()
        if process.exitcode not in (-signal.SIGKILL, -signal.SIGXCPU):
            raise RuntimeError(f"{method} ended with {process.exitcode}.") from None
        row = {"stopped_after": limit}
    process.join()
    return row


def key(row: Row) -> Key:
    """Task, method and seed."""
    return row["task"], row["method"], row["seed"]


def write(rows: dict[Key, Row]) -> None:
    """Save in the order of tasks and methods."""
    tasks, methods = list(TASKS), list(METHODS)
    order = sorted(rows, key=lambda k: (tasks.index(k[0]), methods.index(k[1]), k[2]))
    save(
        NAME,
        "python benchmarks/peers_all.py",
        [rows[each] for each in order],
        data=sorted({TASKS[each[0]].file for each in order}, key=str),
        most_training_rows=MOST_TRAINING_ROWS,
        most_test_rows=MOST_TEST_ROWS,
        threads=1,
    )


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="*", choices=TASKS, default=list(TASKS))
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS))
    parser.add_argument("--seeds", nargs="*", type=int, default=[0])
    parser.add_argument("--limit", type=int, default=CPU_LIMIT)
    parser.add_argument("--again", action="store_true")
    asked = parser.parse_args()
    rows = {key(row): row for row in resume(NAME)}
    for seed in asked.seeds:
        for task in asked.tasks:
            known = set() if asked.again else set(rows)
            missing = [m for m in asked.methods if (task, m, seed) not in known]
            split = load(task, seed) if missing else None
            for method in missing:
                row = describe(task, method, seed, split)
                row.update(measure_apart(method, split, seed, asked.limit))
                rows[task, method, seed] = row
                write(rows)
                print(task, method, seed, *list(row.values())[7:11], flush=True)


def describe(task: str, method: str, seed: int, split: Split) -> Row:
    """Begin a row."""
    return {
        "task": task,
        "method": method,
        "seed": seed,
        "n_train": len(split.y_train),
        "n_test": len(split.y_test),
        "n_columns": split.X_train.shape[1],
        "n_classes": split.n_classes,
    }


if __name__ == "__main__":
    main()
