"""LocalSVCCV against GridSearchCV over the same grid and folds, and local selection.

Two threads each. Writes results/local_search.json: seconds, what each chose, and the
test accuracy of the model that it ends with.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from records import save, show
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from localsvm import LocalSVC
from localsvm.data import load_task, make_2spiral
from localsvm.estimators import LocalSVCCV

N_ROWS = 30_000
SIZES = [50, 100, 200]
FACTORS = [0.25, 1.0, 4.0]
CS = [1.0, 10.0, 100.0]


def load(task: str) -> tuple[Any, ...]:
    """Training and test rows."""
    if task == "2spiral":
        return (
            *make_2spiral(N_ROWS, random_state=1),
            *make_2spiral(N_ROWS, random_state=3),
        )
    data = load_task(task)
    return data.X_train[:N_ROWS], data.y_train[:N_ROWS], data.X_test, data.y_test


def compare(task: str) -> list[dict[str, Any]]:
    """Run the searches on the training rows; score their models on the test rows."""
    X, y, X_test, y_test = load(task)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    searches = {
        "LocalSVC()": LocalSVC(random_state=0, n_jobs=2),
        "GridSearchCV(LocalSVC)": GridSearchCV(
            LocalSVC(random_state=0, n_jobs=2),
            {
                "n_neighbors": SIZES,
                "gamma": [("local", factor) for factor in FACTORS],
                "C": CS,
            },
            cv=folds,
        ),
        "LocalSVCCV(max_regions=None)": LocalSVCCV(
            n_neighbors=SIZES,
            Cs=CS,
            cv=folds,
            max_regions=None,
            random_state=0,
            n_jobs=2,
        ),
        "LocalSVCCV()": LocalSVCCV(
            n_neighbors=SIZES, Cs=CS, cv=folds, random_state=0, n_jobs=2
        ),
        "LocalSVC(local_grid=...)": LocalSVC(
            local_grid={"C": [0.1, 1.0, 10.0], "gamma": FACTORS},
            random_state=0,
            n_jobs=2,
        ),
    }
    rows = []
    for name, search in searches.items():
        start = time.perf_counter()
        search.fit(X, y)
        seconds = time.perf_counter() - start
        best = getattr(search, "best_params_", None)
        chosen = (
            f"k={best['n_neighbors']}, factor={best['gamma'][1]:g}, C={best['C']:g}"
            if best
            else "-"
        )
        rows.append(
            {
                "task": task,
                "search": name,
                "seconds": round(seconds, 2),
                "chosen": chosen,
                "test_accuracy": round(
                    100 * float(np.mean(search.predict(X_test) == y_test)), 2
                ),
            }
        )
        show(rows[-1:])
    return rows


def main() -> None:
    """Compare on every task and save."""
    warnings.simplefilter("ignore")
    rows = [
        row
        for task in ("covtype_2_vs_rest", "ijcnn1", "2spiral")
        for row in compare(task)
    ]
    show(rows)
    save(
        "local_search",
        "python benchmarks/local_search.py",
        rows,
        data=["covtype_2_vs_rest", "ijcnn1"],
        threads=2,
        rows_used=N_ROWS,
    )


if __name__ == "__main__":
    main()
