"""Speed, memory and accuracy of LocalSVC against SVC and others on Covertype.

Class 2 against the rest, raw columns, 25,000 test rows. LocalSVC has its default
parameters and two threads. The gamma of SVC is chosen by fits to 10,000 training rows,
scored on others; it runs up to the size at which it needs more than ten minutes. Each
fit has a process of its own, so that its peak memory is its own. The other peers are
fitted to 100,000 rows, with two threads where they can use them.

The batch of local problems is compared with a loop of SVC.fit over the same
neighbourhoods, both on one thread. Writes results/local_speed.json.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from records import check_goals, peak_bytes, reset_peak, save, show
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from localsvm import LocalSVC
from localsvm.cluster import NeighborhoodCover
from localsvm.data import Benchmark, load_task
from localsvm.kernels import Kernel
from localsvm.rows import Rows
from localsvm.solvers import (
    KernelOptions,
    LocalKernel,
    fit_neighborhoods,
)

SIZES = [10_000, 30_000, 100_000, 300_000, 556_000]
PEER_SIZE = 100_000
LIMIT_SECONDS = 600
PREDICT_SECONDS = 100  # for loading and predicting
SEARCH_ROWS = 10_000
SVC_GAMMAS = [1e-5, 3e-5]
SVC_C = 10.0
COMPARED_MODELS = 500

MODELS: dict[str, Callable[..., Any]] = {
    "LocalSVC()": lambda: LocalSVC(random_state=0, n_jobs=2),
    "LocalSVC(route='center')": lambda: LocalSVC(
        route="center", random_state=0, n_jobs=2
    ),
    "SVC": lambda **setting: SVC(**setting, cache_size=2000),
    "StandardScaler, LinearSVC()": lambda: make_pipeline(
        StandardScaler(), LinearSVC(random_state=0)
    ),
    "StandardScaler, Nystroem(500), LinearSVC()": lambda: make_pipeline(
        StandardScaler(),
        Nystroem(gamma=0.05, n_components=500, random_state=0),
        LinearSVC(random_state=0),
    ),
    "HistGradientBoostingClassifier(max_iter=500)": lambda: (
        HistGradientBoostingClassifier(max_iter=500, random_state=0)
    ),
    "KNeighborsClassifier(1)": lambda: KNeighborsClassifier(1, n_jobs=2),
}


def quiet() -> None:
    """Raw columns are meant, and a LinearSVC that stops early is near enough."""
    warnings.simplefilter("ignore")


def measure_here(name: str, n_rows: int, setting: dict[str, Any]) -> dict[str, Any]:
    """Fit and predict in this process."""
    data = load_task("covtype_2_vs_rest")
    X, y = data.X_train[:n_rows].copy(), data.y_train[:n_rows].copy()
    X_test, y_test = data.X_test, data.y_test
    del data
    MODELS[name](**setting).fit(X[:500], y[:500])  # loads every library
    model = MODELS[name](**setting)
    before = reset_peak()
    start = time.perf_counter()
    model.fit(X, y)
    fit_seconds = time.perf_counter() - start
    memory = peak_bytes() - before
    start = time.perf_counter()
    predicted = model.predict(X_test)
    return {
        "fit_seconds": round(fit_seconds, 3),
        "predict_seconds": round(time.perf_counter() - start, 3),
        "accuracy": round(100 * float(np.mean(predicted == y_test)), 2),
        "fit_memory_mb": round(memory / 2**20),
        "model_mb": round(len(pickle.dumps(model)) / 2**20, 1),
        "stages": {
            stage: round(seconds, 2)
            for stage, seconds in getattr(model, "fit_report_", {}).items()
        },
    }


def measure(
    name: str, n_rows: int, setting: dict[str, Any] | None = None
) -> dict[str, Any] | None:
    """Measure in a new process; None if it takes too long."""
    task = json.dumps([name, n_rows, setting or {}])
    command = [sys.executable, __file__, "--measure", task]
    try:
        run = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=True,
            timeout=LIMIT_SECONDS + PREDICT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return None
    row = {"model": name, "rows": n_rows, **(setting or {}), **json.loads(run.stdout)}
    print(row, flush=True)
    return row


def choose_svc(data: Benchmark) -> dict[str, float]:
    """Choose gamma of SVC on training rows."""
    X, y = data.X_train, data.y_train
    fitted, other = slice(0, SEARCH_ROWS), slice(SEARCH_ROWS, SEARCH_ROWS + 5000)
    scores = {
        gamma: SVC(C=SVC_C, gamma=gamma, cache_size=2000)
        .fit(X[fitted], y[fitted])
        .score(X[other], y[other])
        for gamma in SVC_GAMMAS
    }
    print(scores, flush=True)
    return {"C": SVC_C, "gamma": max(scores, key=lambda gamma: scores[gamma])}


def measure_svc(setting: dict[str, float]) -> list[dict[str, Any]]:
    """Run SVC up to the size that takes too long."""
    rows = []
    for size in SIZES:
        row = measure("SVC", size, setting)
        if row is None:
            rows.append({"model": "SVC", "rows": size, **setting, "fit_seconds": None})
            break
        rows.append(row)
        if row["fit_seconds"] > LIMIT_SECONDS:
            break
    return rows


def compare_batch(data: Benchmark) -> dict[str, float]:
    """Microseconds per model: the batch against a loop of SVC.fit, one thread."""
    X, y = data.X_train[:PEER_SIZE], data.y_train[:PEER_SIZE].astype(np.int32)
    cover = NeighborhoodCover(100, random_state=0, n_jobs=2).fit(X)
    mixed = [rows for rows in cover.neighborhoods_ if np.ptp(y[rows])]
    neighborhoods = np.array(mixed[:COMPARED_MODELS])
    rows = Rows.weighted(X, y, np.ones(len(y)), 2)
    local = LocalKernel(Kernel("rbf", gamma=1e-4), C=10.0)
    parts = [(X[rows].astype(np.float64), y[rows]) for rows in neighborhoods]
    ours, theirs = [], []
    for _ in range(5):
        start = time.perf_counter()
        fit_neighborhoods(rows, neighborhoods, local, KernelOptions(max_iter=20_000))
        ours.append(time.perf_counter() - start)
        start = time.perf_counter()
        for X_part, y_part in parts:
            SVC(C=10.0, gamma=1e-4).fit(X_part, y_part)
        theirs.append(time.perf_counter() - start)
    scale = 1e6 / len(neighborhoods)
    return {
        "batch_microseconds": round(scale * float(np.median(ours)), 1),
        "svc_loop_microseconds": round(scale * float(np.median(theirs)), 1),
    }


def growth(rows: list[dict[str, Any]]) -> float:
    """Exponent of the fit time in the number of rows."""
    sizes = np.log([row["rows"] for row in rows])
    seconds = np.log([row["fit_seconds"] for row in rows])
    return float(np.polyfit(sizes, seconds, 1)[0])


def compare_with_svc(
    ours: dict[int, dict[str, Any]], svc: list[dict[str, Any]]
) -> list[tuple[str, float, str, float]]:
    """Goals at the size of the peers, or at the largest that SVC came to."""
    finished = [row for row in svc if row["fit_seconds"] is not None]
    row = [row for row in finished if row["rows"] <= PEER_SIZE][-1]
    where = f"{row['rows']:,} rows"
    gain = ours[row["rows"]]["accuracy"] - row["accuracy"]
    return [
        (f"SVC fit time / LocalSVC, {where}", row["fit_ratio"], ">=", 30),
        (f"LocalSVC accuracy - SVC, {where}", gain, ">=", 0),
    ]


def main() -> None:
    """Measure, compare with the goals, save."""
    quiet()
    data = load_task("covtype_2_vs_rest")
    batch = compare_batch(data)
    local = [measure("LocalSVC()", size) for size in SIZES]
    center = [measure("LocalSVC(route='center')", size) for size in SIZES]
    peers = [measure(name, PEER_SIZE) for name in list(MODELS)[3:]]
    svc = measure_svc(choose_svc(data))
    by_size = {row["rows"]: row for row in local if row}
    for row in svc:
        ours = by_size[row["rows"]]
        if row["fit_seconds"] is None:
            row["fit_ratio_at_least"] = round(LIMIT_SECONDS / ours["fit_seconds"], 1)
            continue
        row["fit_ratio"] = round(row["fit_seconds"] / ours["fit_seconds"], 1)
        row["predict_ratio"] = round(
            row["predict_seconds"] / ours["predict_seconds"], 1
        )
    largest = by_size[SIZES[-1]]
    goals = [
        ("growth exponent of the fit time", growth(list(by_size.values())), "<=", 1.2),
        ("fit of 556,000 rows, s", largest["fit_seconds"], "<=", 60),
        (
            "SVC.fit loop time / batch, per model",
            batch["svc_loop_microseconds"] / batch["batch_microseconds"],
            ">=",
            3,
        ),
    ]
    goals += compare_with_svc(by_size, svc)
    comparison = check_goals(goals)
    show(comparison)
    rows = [*local, *center, *svc, *peers]
    save(
        "local_speed",
        "python benchmarks/local_speed.py",
        rows,
        data=["covtype_2_vs_rest"],
        goals=comparison,
        batch=batch,
        svc_limit_seconds=LIMIT_SECONDS,
        threads=2,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        quiet()
        print(json.dumps(measure_here(*json.loads(sys.argv[2]))))
    else:
        main()
