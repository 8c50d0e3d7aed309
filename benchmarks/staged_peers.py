"""Settings of SVC and LightGBM for the tasks of the staged SVM, by training rows.

Each is tuned on one thread, as ``peer_svc`` and ``peer_lightgbm`` describe; no test row
is looked at. Covertype with 100,000 rows compares the best settings for 50,000 rows at
its own size. With all rows only LightGBM is tuned, on the first 100,000.

``python benchmarks/staged_peers.py [TASK ...] [--again] [--minutes M] [--finish]``
writes results/staged_peers.json after every task. Tasks that are in the file are left
out unless ``--again`` is given, perhaps with ``--only svc`` or ``--only lightgbm``. No
fit of SVC to all rows is begun that would end after more than M minutes; such a task
has ``"full_size": false``, and ``--finish`` makes up for it (with ``--rows N`` by fits
to N rows instead of all).
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace
from typing import Any

import lightgbm
import peer_lightgbm
import peer_svc
from peer_lightgbm import Limits, TreeSearch, make_lightgbm
from peer_svc import Candidate, Effort, Rows, Search, make_svc, parts_of, prepared
from records import measured_now, resume, save
from staged_tasks import TASKS, load
from threadpoolctl import threadpool_limits

__all__ = ["make_lightgbm", "make_svc", "prepared", "settings"]

NAME = "staged_peers"

ORDER = [  # the longest fits come last
    "svmguide1",
    "usps",
    "ijcnn1",
    "adult",
    "isolet",
    "covtype_2_50k",
    "covtype_7_50k",
    "mnist",
    "mnist_odd_even",
    "covtype_2_100k",
    "covtype_2_556k",
]
PREPARATIONS = {
    "mnist": ["pca60", "unit_pca60"],  # 784 columns are 13 times slower
    "usps": ["scaled", "standardised", "pca60"],
    "isolet": ["scaled", "standardised", "pca60"],
    "svmguide1": ["scaled"],  # its columns are standardised already
}
FEW_GAMMAS = [0.25, 0.5, 1.0, 2.0, 4.0]  # of images and sounds
GAMMAS = {
    "mnist": FEW_GAMMAS,
    "usps": FEW_GAMMAS,
    "isolet": FEW_GAMMAS,
    "covtype": [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0],
}
USUAL_GAMMAS = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
CS = [1.0, 10.0, 100.0]
FULL_FITS = {"mnist": 2, "mnist_odd_even": 2, "covtype_2_100k": 2}
FULL_SECONDS = {"covtype_2_100k": 1200.0}

# many columns and classes: coarser, to stay within minutes
SLOW = Limits(300, 30, (31, 63), (0.6, 0.3), 63, None, search_rows=6000)
LIMITS = {
    "mnist": replace(SLOW, full_fits=1),
    "mnist_odd_even": Limits(1500, 100, (31, 127), (0.6, 0.3), 63, None),
    "usps": replace(SLOW, trees=500, patience=50),
    "isolet": replace(SLOW, leaves=(31,)),
    "covtype_2_50k": Limits(search_rows=40_000),
    "covtype_2_100k": Limits(patience=400, full_fits=3),
    "covtype_7_50k": Limits(1000, 150, slower=None),
}
SIMILAR = {"covtype_7_50k": "covtype_2_50k"}  # begins with the best of the other
SMALLER = {"covtype_2_100k": "covtype_2_50k"}
TREE_ROWS = 100_000
SAME_ROWS = {"covtype_2_556k": "covtype_2_100k"}  # of the first 100,000


def settings(task: str) -> dict[str, Any]:
    """Read the settings of a task; those of SVC are None for all of Covertype.

    Those under ``svc`` suit :func:`prepared` (by their ``preparation``) and
    :func:`make_svc`, those under ``lightgbm`` suit :func:`make_lightgbm`.
    """
    rows = saved()
    if task not in rows:
        raise KeyError(f"No settings of {task!r}; found {', '.join(rows) or 'none'}.")
    return rows[task]


def saved() -> dict[str, dict[str, Any]]:
    """Rows of the results file by task."""
    return {row["task"]: row for row in resume(NAME)}


def tune_svc(task: str, X: Rows, y: Rows, until: float) -> dict[str, Any]:
    """Choose a setting of SVC."""
    search = Search(task, X, y)
    if task in SMALLER:
        result = peer_svc.tune_further(
            search, settings(SMALLER[task])["svc"], effort(task, until)
        )
        return {**result, "ranked_by": SMALLER[task]}
    screen = task not in SIMILAR
    return peer_svc.tune(search, grid(task), effort(task, until), screen=screen)


def effort(task: str, until: float) -> Effort:
    """Limit what fits of SVC to all rows may cost."""
    return Effort(FULL_FITS.get(task, 6), FULL_SECONDS.get(task, 400.0), until)


def grid(task: str) -> list[Candidate]:
    """Candidates for SVC to begin with."""
    if task in SIMILAR:
        return peer_svc.candidates_of(settings(SIMILAR[task])["svc"])
    data_set = TASKS[task].data_set
    return [
        Candidate(preparation, gamma, C)
        for preparation in PREPARATIONS.get(data_set, ["scaled", "standardised"])
        for gamma in GAMMAS.get(data_set, USUAL_GAMMAS)
        for C in CS
    ]


def finish(task: str, until: float, n_rows: int | None = None) -> dict[str, Any]:
    """Make the fits of SVC to all rows that a search with too little time left out."""
    row, split = settings(task), load(task)
    search = Search(task, split.X_train, split.y_train)
    before = settings(SMALLER.get(task, task))["svc"]
    result = peer_svc.tune_further(search, before, effort(task, until), n_rows)
    if result["fitted_rows"] == before["fitted_rows"]:
        return row
    for key in ("tried", "tuning_cpu_seconds"):
        result[key] = round(result[key] + row["svc"][key], 1)
    return {**measured_now(row), "svc": {**row["svc"], **result}}


def tune_lightgbm(task: str, X: Rows, y: Rows) -> dict[str, Any]:
    """Choose a setting of LightGBM."""
    if task in SAME_ROWS and SAME_ROWS[task] in saved():
        same = SAME_ROWS[task]
        return {**settings(same)["lightgbm"], "full_size": False, "taken_from": same}
    parts = parts_of(y)
    if len(y) > 5000:
        parts = parts[:1]
    search = TreeSearch(task, (X, y), parts, LIMITS.get(task, Limits()))
    other = {**SMALLER, **SIMILAR}.get(task)
    if other is None:
        return peer_lightgbm.tune(search)
    order = settings(other)["lightgbm"]["compared"]
    return {**peer_lightgbm.tune(search, order), "ranked_by": other}


def tune(task: str, until: float, only: str | None = None) -> dict[str, Any]:
    """Choose the settings of a task, or only those of one model."""
    split = load(task)
    X, y = split.X_train, split.y_train
    row: dict[str, Any] = {"task": task, "rows": len(y), "columns": X.shape[1]}
    before = measured_now(saved().get(task, {}))
    row = {**row, "svc": None, "lightgbm": None, **before}
    if only != "svc":
        row["lightgbm"] = tune_lightgbm(task, X[:TREE_ROWS], y[:TREE_ROWS])
    if only != "lightgbm" and TASKS[task].floor is not None:
        row["svc"] = tune_svc(task, X, y, until)
    return row


def write(rows: dict[str, dict[str, Any]]) -> None:
    """Write the results file."""
    save(
        NAME,
        "python benchmarks/staged_peers.py",
        [rows[task] for task in ORDER if task in rows],
        data={TASKS[task].data_set for task in rows},
        lightgbm=lightgbm.__version__,
        threads=1,
        svc_cache_mb=peer_svc.CACHE_MB,
    )


def main() -> None:
    """Tune for the tasks that are missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", nargs="*", help=", ".join(ORDER))
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--only", choices=["svc", "lightgbm"])
    parser.add_argument("--finish", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    chosen = parser.parse_args()
    # its successor came with LightGBM 4.7
    warnings.filterwarnings("ignore", message="The argument 'eval_set'")
    until = time.monotonic() + 60 * chosen.minutes
    for task in chosen.task or ORDER:
        row = saved().get(task)
        if row is None or chosen.again:
            row = tune(task, until, chosen.only)
        elif chosen.finish and row["svc"] and not row["svc"]["full_size"]:
            row = finish(task, until, chosen.rows)
        else:
            continue
        write({**saved(), task: row})


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
