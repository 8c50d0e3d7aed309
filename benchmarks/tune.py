"""The race of all methods against models that are given nothing, on the same rows.

Every data set once, rows as published; at most 20,000 training and 20,000 test rows,
drawn at random, always alike. Where there is no published split, a quarter is for
testing. The race sees the training rows alone and holds out a part of them itself: its
own score, with its interval, is shown beside that on the test rows.

Budgets and costs are CPU seconds of one thread. The limits that the race gives to fits
are of the wall clock, which is later than that on a busy machine.

``python benchmarks/tune.py [DATA ...] [--again]`` writes results/tune.json after every
data set; those that are in the file are left out unless ``--again`` is given.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray
from records import resume, save
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from localsvm import StagedSVC
from localsvm.data import load_benchmark
from localsvm.tune import race

NAME = "tune"
COMMAND = "python benchmarks/tune.py"
MOST_ROWS = 20_000
SMALL = 10.0
BUDGETS = {  # seconds
    "iris": SMALL,
    "wine": SMALL,
    "sonar": SMALL,
    "glass": SMALL,
    "heart": SMALL,
    "liver": SMALL,
    "ionosphere": SMALL,
    "svmguide2": SMALL,
    "breast": SMALL,
    "vehicle": SMALL,
    "fourclass": SMALL,
    "vowel": SMALL,
    "leukemia": SMALL,
    "svmguide1": 30.0,
    "usps": 60.0,
    "isolet": 60.0,
    "ijcnn1": 60.0,
    "adult": 60.0,
    "covtype": 60.0,
    "mnist": 60.0,
}
FEWER_ROWS = {"mnist": 10_000}
LIKE_NUMBERS = ("breast",)  # its first column is the number of the sample
PEERS: dict[str, Callable[[], Any]] = {
    "StagedSVC": lambda: StagedSVC(random_state=0),
    "LinearSVC": lambda: make_pipeline(StandardScaler(), LinearSVC(random_state=0)),
    "SVC": lambda: make_pipeline(StandardScaler(), SVC(cache_size=1000)),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
}


@dataclass(frozen=True)
class Split:
    """Training and test rows of a data set."""

    X_train: NDArray[Any]
    y_train: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]


def main() -> None:
    """Measure the data sets that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", help="default: all")
    parser.add_argument("--again", action="store_true")
    arguments = parser.parse_args()
    wanted = arguments.data or list(BUDGETS)
    rows = resume(NAME)
    known = set() if arguments.again else {row["data"] for row in rows}
    for name in wanted:
        if name in known:
            continue
        # A fresh process: no data set sees another's memory.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            measured = pool.submit(measure, name).result()
        rows = [row for row in rows if row["data"] != name] + measured
        rows.sort(key=lambda row: list(BUDGETS).index(row["data"]))
        save(NAME, COMMAND, rows, data=[row["data"] for row in rows])


def load(name: str) -> Split:
    """Rows of a data set, the same in every call."""
    data = load_benchmark(name)
    if data.X_test is None:
        split = train_test_split(
            data.X_train,
            data.y_train,
            test_size=min(0.25, MOST_ROWS / len(data.y_train)),
            stratify=data.y_train,
            random_state=0,
        )
        X_train, X_test, y_train, y_test = split
    else:
        X_train, X_test = data.X_train, data.X_test
        y_train, y_test = data.y_train, data.y_test
    n_train = FEWER_ROWS.get(name, MOST_ROWS)
    X_train, y_train = some_rows(name, X_train, y_train, n_train)
    X_test, y_test = some_rows(name, X_test, y_test, MOST_ROWS)
    return Split(X_train, y_train, X_test, y_test)


def some_rows(
    name: str, X: NDArray[Any], y: NDArray[Any], n_rows: int
) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """Random rows as float32."""
    kept = np.random.default_rng(0).permutation(len(y))[:n_rows]
    columns = slice(1, None) if name in LIKE_NUMBERS else slice(None)
    return np.asarray(X[kept][:, columns], dtype=np.float32), y[kept]


def measure(name: str) -> list[dict[str, Any]]:
    """Rows of one data set: the race, then the peers."""
    warnings.simplefilter("ignore")
    split = load(name)
    facts = {
        "data": name,
        "rows": len(split.y_train),
        "columns": split.X_train.shape[1],
        "classes": len(np.unique(split.y_train)),
        "test_rows": len(split.y_test),
    }
    rows = []
    with threadpool_limits(1):
        rows.append({**facts, **race_row(name, split)})
        print(rows[-1], flush=True)
        for label, make in PEERS.items():
            rows.append({**facts, "model": label, **peer_row(make(), split)})
            print(rows[-1], flush=True)
    return rows


def race_row(name: str, split: Split) -> dict[str, Any]:
    """Tell what the race found, and how good that is."""
    result = race(
        split.X_train,
        split.y_train,
        time_budget=BUDGETS[name],
        clock=time.process_time,
    )
    found = result.to_dict()
    return {
        "model": "race",
        "accuracy": accuracy(result.best_estimator_, split),
        "cpu_seconds": round(result.seconds, 2),
        "budget": result.time_budget,
        "trials": sum(trial.score is not None for trial in result.trials),
        "candidates": len(
            {(t.method, t.scaling, repr(t.params)) for t in result.trials}
        ),
        "fitted_rows": result.n_rows,
        **{key: found[key] for key in ("method", "scaling", "params")},
        "held_out": {
            key: round(100 * value, 2) if key != "n_rows" else value
            for key, value in found["score"].items()
        },
    }


def peer_row(model: Any, split: Split) -> dict[str, Any]:
    """Accuracy and cost of a model that is given nothing."""
    start = time.process_time()
    model.fit(split.X_train, split.y_train)
    seconds = time.process_time() - start
    return {"accuracy": accuracy(model, split), "cpu_seconds": round(seconds, 2)}


def accuracy(model: Any, split: Split) -> float:
    """Share of the test rows that is right, in percent."""
    return round(100 * float(model.score(split.X_test, split.y_test)), 2)


if __name__ == "__main__":
    main()
