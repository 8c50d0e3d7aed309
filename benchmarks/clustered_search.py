"""ClusteredSVCCV against GridSearchCV over the same grid and folds, one thread.

Writes results/clustered_search.json: seconds of both, their ratio and what each chose.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from records import save, show
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from threadpoolctl import threadpool_limits

from localsvm import ClusteredSVC
from localsvm.data import load_task
from localsvm.estimators import ClusteredSVCCV

TASKS = {"usps_odd_even": 60, "ijcnn1": None, "mnist_3v8": 60}
N_CLUSTERS = [8, 50, 200]
GLOBAL_REGS = [1.0, 10.0]
C_FACTORS = [1.0, 3.0, 10.0, 30.0]


def compare(task: str, components: int | None) -> list[dict[str, Any]]:
    """Run both searches on the training rows; score the winners on the test rows."""
    data = load_task(task)
    X, X_test = data.X_train, data.X_test
    if components is not None:
        pca = PCA(components, svd_solver="covariance_eigh").fit(X)
        X, X_test = (np.ascontiguousarray(pca.transform(part)) for part in (X, X_test))
    Cs = [
        factor / float((X.astype(float) ** 2).sum(axis=1).mean())
        for factor in C_FACTORS
    ]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    searches = {
        "GridSearchCV(ClusteredSVC)": GridSearchCV(
            ClusteredSVC(random_state=0),
            {"C": Cs, "global_reg": GLOBAL_REGS, "n_regions": N_CLUSTERS},
            cv=folds,
        ),
        "ClusteredSVCCV": ClusteredSVCCV(
            Cs=Cs,
            global_regs=GLOBAL_REGS,
            n_regions=N_CLUSTERS,
            cv=folds,
            random_state=0,
        ),
    }
    rows = []
    for name, search in searches.items():
        start = time.perf_counter()
        search.fit(X, data.y_train)
        seconds = time.perf_counter() - start
        best = search.best_params_
        rows.append(
            {
                "task": task,
                "search": name,
                "seconds": round(seconds, 2),
                "C_factor": C_FACTORS[int(np.argmin(np.abs(np.array(Cs) - best["C"])))],
                "global_reg": best["global_reg"],
                "n_regions": best["n_regions"],
                "cv_accuracy": round(100 * search.best_score_, 2),
                "test_accuracy": round(100 * search.score(X_test, data.y_test), 2),
            }
        )
    ratio = rows[0]["seconds"] / rows[1]["seconds"]
    return [{**row, "grid_search_time_ratio": round(ratio, 2)} for row in rows]


def main() -> None:
    """Compare on every task and save."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = [row for task, pca in TASKS.items() for row in compare(task, pca)]
    show(rows)
    command = "python benchmarks/clustered_search.py"
    save("clustered_search", command, rows, data=TASKS, threads=1)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
