"""CPU time of predictions: one row, one row compiled, and batches of 10,000.

Every estimator is fitted to 5000 rows of a synthetic table of ten columns with two
classes; StagedSVC, LinearSVC and XGBoost (left out if it is not installed) also to
public data. CPU microseconds per row on one thread, the least of several repeats, so
that another process on the machine does not count. ``--before FOLDER`` measures a build
of an older commit in the same way: a folder with its package ``localsvm``.

``python benchmarks/predict_latency.py [--before FOLDER]`` writes
results/predict_latency.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

import localsvm
from localsvm import (
    AdditiveSVC,
    ClusteredSVC,
    LocalSVC,
    MixtureSVC,
    ReducedSVC,
    StagedSVC,
    SupportClusterSVC,
)
from localsvm.estimators import LocallyLinearSVC

NAME = "predict_latency"
COMMAND = "python benchmarks/predict_latency.py"
TASKS = ("adult", "covtype", "ijcnn1", "svmguide1", "usps")
MOST_ROWS, BATCH = 20_000, 10_000
_PEERS = ("LinearSVC", "XGBoost")
_SETTING = {
    "gradient_metric": None,
    "C": 1.0,
    "kernel_C": 1.0,
    "gamma_factor": 4.0,
    "cell_size": 200,
    "random_state": 0,
}
_JOIN = {"additive": 1.0, "regions": 1.0, "rbf": 1.0, "laplace": 1.0, "bias": [0.1]}


def models() -> Iterator[tuple[str, Any]]:
    """Every estimator in the forms whose predictions differ."""
    yield "LinearSVC", LinearSVC()
    if xgboost := _xgboost():
        yield "XGBoost", xgboost.XGBClassifier(n_jobs=1)
    yield "AdditiveSVC", AdditiveSVC(C=1.0, random_state=0)
    yield "ClusteredSVC soft", ClusteredSVC(n_regions=40, random_state=0)
    yield "ClusteredSVC hard", ClusteredSVC(10, n_nearest=1, random_state=0)
    yield "LocallyLinearSVC", LocallyLinearSVC(random_state=0)
    yield "LocalSVC by rows", LocalSVC(random_state=0)
    yield "LocalSVC by centres", LocalSVC(route="center", random_state=0)
    yield "MixtureSVC", MixtureSVC(random_state=0)
    yield "SupportClusterSVC", SupportClusterSVC(random_state=0)
    yield "ReducedSVC linear", ReducedSVC(kernel="linear", random_state=0)
    yield "ReducedSVC RBF", ReducedSVC(random_state=0)
    ranks = {"scaling": "ranks", "additive_C": 1.0, "laplace_C": 1.0, "join": _JOIN}
    yield "StagedSVC sum", StagedSVC(**_SETTING, **ranks)
    standard = {"scaling": "standard", "join": "switch", "threshold": 1.0}
    yield "StagedSVC switch", StagedSVC(**_SETTING, **standard)


def _xgboost() -> Any:
    try:
        import xgboost
    except ImportError:
        return None
    return xgboost


def made_rows() -> tuple[NDArray[Any], NDArray[Any]]:
    """Ten columns, the border curved in three of them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000 + BATCH, 10))
    noise = 0.3 * rng.standard_normal(len(X))
    return X, (X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + noise > 0).astype(int)


def task_rows(name: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Training rows with classes from 0, and rows to predict."""
    with np.load(Path(os.environ["LOCALSVM_DATA"]) / f"{name}.npz") as file:
        split = "X_train" in file
        X, y = (file["X_train"], file["y_train"]) if split else (file["X"], file["y"])
        test = file["X_test"] if split else X
    order = np.random.default_rng(0).permutation(len(X))
    train = order[:MOST_ROWS]
    test = test[:BATCH] if split else X[order[MOST_ROWS : MOST_ROWS + BATCH]]
    classes = np.unique(y[train], return_inverse=True)[1]
    return X[train].astype(np.float64), classes, test.astype(np.float64)


def cpu_us(call: Callable[[], Any], n_rows: int) -> float:
    """Least CPU time of a row, of calls for so many."""
    per_round = max(1, 60 // n_rows)
    call()
    times = []
    for _ in range(7 if n_rows == 1 else 3):
        start = time.process_time()
        for _ in range(per_round):
            call()
        times.append((time.process_time() - start) / (per_round * n_rows))
    return round(1e6 * min(times), 2)


def measure(model: Any, queries: NDArray[Any]) -> dict[str, Any]:
    """Time one row and a batch, of the estimator and compiled."""
    row = queries[:1].copy()
    found = {
        "one_us": cpu_us(lambda: model.predict(row), 1),
        "batch_us": cpu_us(lambda: model.predict(queries), len(queries)),
    }
    if not hasattr(localsvm, "compile"):
        return found
    try:
        fast = localsvm.compile(model)
    except TypeError as error:
        return found | {"not_compiled": str(error)}
    return found | {
        "compiled_us": cpu_us(lambda: fast.predict(row), 1),
        "compiled_batch_us": cpu_us(lambda: fast.predict(queries), len(queries)),
    }


def made_results() -> Iterator[dict[str, Any]]:
    """Measure every estimator on the synthetic table."""
    X, y = made_rows()
    for name, model in models():
        model.fit(X[:5000], y[:5000])
        yield {"data": "synthetic", "model": name, **measure(model, X[5000:])}


def task_results() -> Iterator[dict[str, Any]]:
    """StagedSVC as it chooses itself, beside its peers, on public data."""
    for task in TASKS:
        X, y, queries = task_rows(task)
        peers = dict(models())
        named = {"StagedSVC": StagedSVC(random_state=0)}
        named |= {each: peers[each] for each in _PEERS if each in peers}
        for name, model in named.items():
            model.fit(X, y)
            yield {"data": task, "model": name, **measure(model, queries)}


def main() -> None:
    """Measure this build, and an older one beside it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", help="folder with an older package localsvm")
    parser.add_argument("--print", action="store_true", help="only print the rows")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    results = made_results()
    if arguments.print:
        print(json.dumps(list(results)))
        return
    rows = []
    for row in chain(results, task_results()):
        print(row, flush=True)
        rows.append(row)
    notes = {}
    if arguments.before:
        paths = [arguments.before, os.environ.get("PYTHONPATH", "")]
        done = subprocess.run(
            [sys.executable, __file__, "--print"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            capture_output=True,
            text=True,
            check=True,
        )
        notes["before"] = json.loads(done.stdout)
    from records import save

    save(NAME, COMMAND, rows, data=TASKS, **notes)


if __name__ == "__main__":
    main()
