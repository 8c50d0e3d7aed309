"""Speed and memory of ClusteredSVC against LinearSVC and SVC on MNIST odd/even.

All on one thread, in one run, on the same 60000 x 784 unit-norm float32 rows; times
include clustering and, where it is used, PCA. The RBF setting is chosen on training
rows. Writes results/clustered_speed.json: the measurements, and the goals with what was
reached.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from records import check_goals, peak_bytes, save, show
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from localsvm import ClusteredSVC
from localsvm.data import Benchmark, load_task

REPEATS = 3
SEARCH_ROWS = 6000
RBF_GRID = {"svc__gamma": [1.0, 2.0, 4.0, 8.0], "svc__C": [3.0, 10.0, 30.0]}
HARD = {"n_regions": 8, "n_nearest": 1, "C": 10.0, "intercept_scaling": 1.0}


def with_pca(model: Any) -> Any:
    """Project to 60 principal components first."""
    return make_pipeline(PCA(60, svd_solver="covariance_eigh"), model)


def choose_rbf(data: Benchmark) -> dict[str, float]:
    """Choose the RBF setting by 3-fold cross-validation on the first rows."""
    search = GridSearchCV(with_pca(SVC()), RBF_GRID, cv=3)
    search.fit(data.X_train[:SEARCH_ROWS], data.y_train[:SEARCH_ROWS])
    return {name.removeprefix("svc__"): v for name, v in search.best_params_.items()}


def measure(make: Callable[[], Any], data: Benchmark, repeats: int) -> dict[str, Any]:
    """Median seconds to fit and to predict the test rows, and accuracy."""
    fit_seconds, predict_seconds = [], []
    for _ in range(repeats):
        model = make()
        start = time.perf_counter()
        model.fit(data.X_train, data.y_train)
        fit_seconds.append(time.perf_counter() - start)
        start = time.perf_counter()
        predicted = model.predict(data.X_test)
        predict_seconds.append(time.perf_counter() - start)
    return {
        "accuracy": round(100 * float(np.mean(predicted == data.y_test)), 2),
        "fit_seconds": round(float(np.median(fit_seconds)), 3),
        "predict_seconds": round(float(np.median(predict_seconds)), 4),
    }


def measure_all(data: Benchmark) -> dict[str, dict[str, Any]]:
    """Measure every model, the slow one once."""
    rbf = choose_rbf(data)
    models: dict[str, tuple[Callable[[], Any], int]] = {
        "LinearSVC()": (LinearSVC, REPEATS),
        "LinearSVC(loss='hinge', C=10)": (
            lambda: LinearSVC(loss="hinge", C=10.0),
            REPEATS,
        ),
        "ClusteredSVC(8, n_nearest=1, C=10)": (
            lambda: ClusteredSVC(**HARD, random_state=0),
            REPEATS,
        ),
        "PCA-60, ClusteredSVC(200)": (
            lambda: with_pca(ClusteredSVC(200, random_state=0)),
            REPEATS,
        ),
        "PCA-60, ClusteredSVC(600, n_nearest=20)": (
            lambda: with_pca(ClusteredSVC(600, n_nearest=20, random_state=0)),
            REPEATS,
        ),
        f"PCA-60, SVC(gamma={rbf['gamma']:g}, C={rbf['C']:g})": (
            lambda: with_pca(SVC(**rbf)),
            1,
        ),
    }
    return {
        name: measure(make, data, repeats) for name, (make, repeats) in models.items()
    }


def peak_memory(data: Benchmark, assignment: str) -> float:
    """Peak memory of a fit above the input, as a multiple of the input."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", data.X_train)
        np.save(Path(folder) / "y.npy", data.y_train)
        command = [sys.executable, __file__, "--memory", folder, assignment]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
    return round(float(run.stdout), 3)


def print_peak_memory(folder: str, assignment: str) -> None:
    """Fit in this fresh process and print the ratio."""
    X, y = (np.load(Path(folder) / f"{name}.npy") for name in "Xy")
    settings = {
        **HARD,
        "n_nearest": 1 if assignment == "hard" else 8,
        "random_state": 0,
    }
    ClusteredSVC(**settings).fit(X[:500], y[:500])  # loads every library
    before = peak_bytes()
    ClusteredSVC(**settings).fit(X, y)
    print((peak_bytes() - before) / X.nbytes)


def main() -> None:
    """Measure, compare with the goals, save."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    data = load_task("mnist_odd_even")
    results = measure_all(data)
    rows = [{"model": name, **result} for name, result in results.items()]
    show(rows)
    linear, linear_hinge, hard, soft, _, rbf = results.values()
    fastest_linear = min(linear["fit_seconds"], linear_hinge["fit_seconds"])
    goals = [
        ("hard fit time / LinearSVC", hard["fit_seconds"] / fastest_linear, "<=", 3),
        ("SVC fit time / soft", rbf["fit_seconds"] / soft["fit_seconds"], ">=", 20),
        ("SVC accuracy - soft", rbf["accuracy"] - soft["accuracy"], "<=", 0.3),
        (
            "SVC predict time / soft",
            rbf["predict_seconds"] / soft["predict_seconds"],
            ">=",
            50,
        ),
        ("memory / input, hard", peak_memory(data, "hard"), "<=", 0.5),
        ("memory / input, soft", peak_memory(data, "soft"), "<=", 0.5),
    ]
    comparison = check_goals(goals)
    print()
    show(comparison)
    save(
        "clustered_speed",
        "python benchmarks/clustered_speed.py",
        rows,
        data=["mnist_odd_even"],
        goals=comparison,
        threads=1,
    )


if __name__ == "__main__":
    with threadpool_limits(1):
        if sys.argv[1:2] == ["--memory"]:
            print_peak_memory(*sys.argv[2:])
        else:
            main()
