"""Training and prediction of the 45 pairs of MNIST digits, and a stream of rows.

SupportClusterSVC clusters the classes once for all pairs, or anew for each pair as a
user of single pairs would; SVC is fitted to the rows of each pair, with the setting
that is best on held-out training rows of two hard pairs. All on 60 principal
components, one thread, in one process. The stream is synthetic: ten columns, two
classes; only ``partial_fit`` is timed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from records import check_goals, peak_bytes, reset_peak, save, show
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC
from support_tasks import PAIRS, mean_pair_error, mnist, of_pair, pair_decisions
from threadpoolctl import threadpool_limits

from localsvm import SupportClusterSVC

SETTING = {"gamma": 0.04, "C": 350.0, "random_state": 0}
N_CLUSTERS = 145
SVC_GRID = list(product((0.02, 0.03, 0.04), (3.0, 10.0)))
HARD_PAIRS = ((3, 8), (4, 9))
STREAM_ROWS, BATCH_ROWS, STREAM_CLUSTERS = 10_000_000, 100_000, 100


def choose_svc() -> dict[str, float]:
    """Find the setting with the fewest errors on held-out rows of the hard pairs."""
    data = mnist(60)
    errors = dict.fromkeys(SVC_GRID, 0.0)
    for pair in HARD_PAIRS:
        rows = of_pair(data.y_train, pair)
        X, X_held, y, y_held = train_test_split(
            data.X_train[rows], data.y_train[rows], test_size=1 / 3, random_state=0
        )
        for gamma, C in SVC_GRID:
            model = SVC(gamma=gamma, C=C, cache_size=1000).fit(X, y)
            errors[gamma, C] += 1 - model.score(X_held, y_held)
    gamma, C = min(errors, key=errors.__getitem__)
    return {"gamma": gamma, "C": C}


def measure_pairs(make: Callable[[], Any]) -> dict[str, float]:
    """Seconds for a model of each pair, and their mean error in percent."""
    data = mnist(60)
    fit_seconds = predict_seconds = 0.0
    errors = []
    for pair in PAIRS:
        rows, test = of_pair(data.y_train, pair), of_pair(data.y_test, pair)
        X, y = data.X_train[rows], data.y_train[rows]
        X_test, y_test = data.X_test[test], data.y_test[test]
        start = time.perf_counter()
        model = make().fit(X, y)
        fitted = time.perf_counter()
        predicted = model.predict(X_test)
        predict_seconds += time.perf_counter() - fitted
        fit_seconds += fitted - start
        errors.append(np.mean(predicted != y_test))
    return {
        "error": round(100 * float(np.mean(errors)), 3),
        "fit_seconds": round(fit_seconds, 2),
        "predict_seconds": round(predict_seconds, 3),
    }


def measure_together() -> dict[str, float]:
    """Seconds for one model of all pairs, which decides all test rows for each."""
    data = mnist(60)
    model = SupportClusterSVC(N_CLUSTERS, **SETTING)
    start = time.perf_counter()
    model.fit(data.X_train, data.y_train)
    fitted = time.perf_counter()
    decisions = pair_decisions(model, data.X_test)
    decided = time.perf_counter()
    return {
        "error": round(mean_pair_error(decisions, data.y_test), 3),
        "fit_seconds": round(fitted - start, 2),
        "predict_seconds": round(decided - fitted, 3),
    }


def batch(rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows of two classes that no line separates."""
    X = rng.standard_normal((BATCH_ROWS, 10), dtype=np.float32)
    return X, (X[:, 0] * X[:, 1] > 0).astype(np.int64)


def measure_stream() -> dict[str, Any]:
    """Rows per second, and memory above that after the first batch."""
    rng = np.random.default_rng(0)
    model = SupportClusterSVC(STREAM_CLUSTERS).partial_fit(*batch(rng))
    before = reset_peak()
    seconds = 0.0
    for _ in range(STREAM_ROWS // BATCH_ROWS - 1):
        X, y = batch(rng)
        start = time.perf_counter()
        model.partial_fit(X, y)
        seconds += time.perf_counter() - start
    memory = peak_bytes() - before
    X, y = batch(rng)
    start = time.perf_counter()
    accuracy = model.score(X, y)
    return {
        "rows": int(model.summary_.weight.sum()),
        "rows_per_second": round((STREAM_ROWS - BATCH_ROWS) / seconds),
        "memory_growth_mb": round(memory / 2**20, 1),
        "batch_mb": round(X.nbytes / 2**20, 1),
        "clusters": model.summary_.n_clusters,
        "learn_and_score_seconds": round(time.perf_counter() - start, 2),
        "accuracy": round(100 * accuracy, 2),
    }


def main() -> int:
    """Measure, compare with the goals, save."""
    svc = choose_svc()
    name = f"SVC(gamma={svc['gamma']:g}, C={svc['C']:g})"
    results = {
        f"SupportClusterSVC({N_CLUSTERS}), one for all pairs": measure_together(),
        f"SupportClusterSVC({N_CLUSTERS}), one per pair": measure_pairs(
            lambda: SupportClusterSVC(N_CLUSTERS, **SETTING)
        ),
        name: measure_pairs(lambda: SVC(**svc, cache_size=1000)),
    }
    rows = [{"model": model, **result} for model, result in results.items()]
    show(rows)
    together, apart, peer = results.values()
    goals = []
    for words, ours in (("one for all pairs", together), ("one per pair", apart)):
        for part, wanted in (("fit", 10), ("predict", 5)):
            ratio = peer[f"{part}_seconds"] / ours[f"{part}_seconds"]
            goals.append((f"SVC {part} time / ours, {words}", ratio, ">=", wanted))
    stream = measure_stream()
    goals.append(
        (
            "memory of the stream / one batch",
            stream["memory_growth_mb"] / stream["batch_mb"],
            "<=",
            20,
        )
    )
    comparison = check_goals(goals)
    print()
    show([stream])
    print()
    show(comparison)
    save(
        "support_speed",
        "python benchmarks/support_speed.py",
        rows,
        data=["mnist"],
        stream=stream,
        goals=comparison,
        threads=1,
    )
    return 0


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
