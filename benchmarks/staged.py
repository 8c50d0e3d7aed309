"""StagedSVC, which is given nothing, against SVC and LightGBM tuned at full size.

Ten tasks, three seeds. Every model runs on one thread in CPU seconds of its process;
two tasks run at a time, one per core. SVC and LightGBM are fitted to all training rows
with the settings of ``staged_peers.py``, whose search is not counted here but has its
seconds in that script's results. A fit of SVC is stopped after ten minutes.

``python benchmarks/staged.py [TASK ...] [--again | --ours N]`` writes
results/staged.json after every task; tasks that are in the file are left out unless
``--again`` is given. ``--ours N`` measures StagedSVC again with N seeds and keeps the
rows of the others.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np
from records import check_goals, resume, save, show
from staged_peers import make_lightgbm, make_svc, prepared, settings
from staged_tasks import TASKS, Split, load
from threadpoolctl import threadpool_limits

from localsvm import LocalSVC, StagedSVC

NAME = "staged"
COMMAND = "python benchmarks/staged.py"
SEEDS = (0, 1, 2)
ALL_ROWS = "covtype_2_556k"
SVC_LIMIT = 600.0
LARGE, SMALL = 50_000, 8_000
FIT_RATIO, PREDICT_RATIO, SMALL_RATIO = 20, 50, 2
NEAR, N_NEAR = 0.1, 8

Model = Any


def main() -> None:
    """Measure the tasks that are missing, two at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", help="default: all")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--ours", type=int, metavar="N")
    arguments = parser.parse_args()
    rows = [] if arguments.again else resume(NAME)
    wanted = arguments.tasks or by_cost()
    measure_task = measure
    if arguments.ours is None:
        known = {row["task"] for row in rows}
        wanted = [name for name in wanted if name not in known]
    else:
        measure_task = partial(measure_ours, n_seeds=arguments.ours)
    # A fresh process per task: no task sees another's memory or threads.
    with ProcessPoolExecutor(
        2, mp_context=get_context("spawn"), max_tasks_per_child=1
    ) as pool:
        for done in as_completed([pool.submit(measure_task, name) for name in wanted]):
            found = done.result()
            measured = {(row["task"], row["model"]) for row in found}
            rows = [r for r in rows if (r["task"], r["model"]) not in measured] + found
            write(rows)


def by_cost() -> list[str]:
    """Tasks with the longest fits first."""
    first = ["covtype_2_100k", "covtype_7_50k", "covtype_2_50k", "mnist", "isolet"]
    return [*first, *(name for name in TASKS if name not in first)]


def write(rows: list[dict[str, Any]]) -> None:
    """Save the rows in the order of the tasks, and the goals once all are there."""
    order = list(TASKS)
    rows.sort(key=lambda row: order.index(row["task"]))
    complete = {row["task"] for row in rows} == set(order)
    goals = check_goals(goals_of(rows)) if complete else []
    data = {TASKS[row["task"]].data_set for row in rows}
    save(NAME, COMMAND, rows, data=data, goals=goals)
    if goals:
        show(goals)


def measure(name: str) -> list[dict[str, Any]]:
    """Rows of one task: StagedSVC for each seed, and the peers."""
    warnings.simplefilter("ignore")
    split = load(name)
    seeds = SEEDS[:1] if name == ALL_ROWS else SEEDS
    with threadpool_limits(1):
        rows = [staged_row(split, seed) for seed in seeds]
        rows += peer_rows(name, split)
    rows = [{"task": name, "rows": len(split.y_train), **row} for row in rows]
    for row in rows:
        print(row, flush=True)
    return rows


def measure_ours(name: str, n_seeds: int) -> list[dict[str, Any]]:
    """Rows of StagedSVC on one task."""
    warnings.simplefilter("ignore")
    split = load(name)
    seeds = SEEDS[: 1 if name == ALL_ROWS else n_seeds]
    with threadpool_limits(1):
        rows = [staged_row(split, seed) for seed in seeds]
    rows = [{"task": name, "rows": len(split.y_train), **row} for row in rows]
    for row in rows:
        print(row, flush=True)
    return rows


def staged_row(split: Split, seed: int) -> dict[str, Any]:
    """Choose and fit; then fit what was chosen, which has to be the same model."""
    start = time.process_time()
    model = StagedSVC(random_state=seed).fit(split.X_train, split.y_train)
    whole = time.process_time() - start
    given = StagedSVC(random_state=seed, **model.best_params_)
    row = model_row("StagedSVC", given, split.X_train, split.X_test, split)
    return {
        **row,
        "seed": seed,
        "choice_and_fit_cpu_seconds": round(whole, 2),
        "terms": list(model.terms_),
        "setting": {k: _plain(v) for k, v in model.best_params_.items()},
    }


def _plain(value: Any) -> Any:
    """Infinity is no number in JSON."""
    return "inf" if value == np.inf else value


def peer_rows(name: str, split: Split) -> list[dict[str, Any]]:
    """SVC and LightGBM with their settings; with all rows LocalSVC in SVC's place."""
    setting = settings(name)
    rows = []
    if name == ALL_ROWS:
        local = LocalSVC(random_state=0)
        rows.append(model_row("LocalSVC()", local, split.X_train, split.X_test, split))
    else:
        chosen = fastest_of_the_best(setting["svc"])
        rows.append(
            {
                **within(SVC_LIMIT, svc_row, chosen, split),
                "choice_cpu_seconds": setting["svc"]["tuning_cpu_seconds"],
                "setting": {k: chosen[k] for k in ("preparation", "gamma", "C")},
            }
        )
    trees = setting["lightgbm"]
    rows.append(
        {
            **model_row(
                "LightGBM", make_lightgbm(trees), split.X_train, split.X_test, split
            ),
            "choice_cpu_seconds": trees["tuning_cpu_seconds"],
        }
    )
    return rows


def fastest_of_the_best(searched: dict[str, Any]) -> dict[str, Any]:
    """Take the setting, or a faster one within a standard error of its error.

    Only where settings were not compared at full size, so that the order of the best is
    not known.
    """
    if searched["full_size"]:
        return searched
    error = searched["validation_error"]
    spread = math.sqrt(error * (100 - error) / searched["validation_rows"])
    good = [c for c in searched["compared"] if c["validation_error"] <= error + spread]
    return min(good, key=lambda c: c["cpu_seconds"])


def svc_row(chosen: dict[str, Any], split: Split) -> dict[str, Any]:
    """Fit SVC to rows prepared for it."""
    X_train, X_test = prepared(chosen["preparation"], split.X_train, split.X_test)
    return model_row("SVC", make_svc(chosen), X_train, X_test, split)


def within(
    seconds: float, work: Callable[..., dict[str, Any]], *arguments: Any
) -> dict[str, Any]:
    """Call in a process of its own; a row without figures if it does not end in time.

    LIBSVM cannot be interrupted in any other way.
    """
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sender.send(work(*arguments)))
    process.start()
    finished = receiver.poll(seconds)
    row = receiver.recv() if finished else {"model": "SVC", "stopped_after": seconds}
    process.kill()
    process.join()
    return row


def model_row(
    label: str, model: Model, X_train: Any, X_test: Any, split: Split
) -> dict[str, Any]:
    """Accuracy in percent, and CPU seconds of a fit and of one predicted row."""
    fit = cpu_seconds(lambda: model.fit(X_train, split.y_train))
    predicted: list[Any] = []
    predict = cpu_seconds(lambda: predicted.append(model.predict(X_test)))
    accuracy = float(np.mean(predicted[0] == split.y_test))
    return {
        "model": label,
        "accuracy": round(100 * accuracy, 3),
        "fit_cpu_seconds": round(fit, 3),
        "predict_cpu_microseconds": round(1e6 * predict / len(split.y_test), 2),
    }


def cpu_seconds(work: Callable[[], Any]) -> float:
    """CPU seconds of all threads of this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def goals_of(rows: list[dict[str, Any]]) -> list[tuple[str, float, str, float]]:
    """Compare the floors of each task and the ratios to SVC with what is wanted."""
    goals: list[tuple[str, float, str, float]] = []
    n_near = 0
    for name, task in TASKS.items():
        ours = [r for r in rows if r["task"] == name and r["model"] == "StagedSVC"]
        accuracy = statistics.mean(row["accuracy"] for row in ours)
        if task.floor is not None:
            goals.append((f"{name}: accuracy, %", accuracy, ">=", task.floor))
        peers = {r["model"]: r for r in rows if r["task"] == name}
        if "SVC" not in peers:
            continue
        svc = peers["SVC"]
        if "accuracy" in svc:
            n_near += accuracy >= svc["accuracy"] - NEAR
        goals += cost_goals(name, ours, svc)
    goals.append(("tasks within 0.1 points of SVC or above", n_near, ">=", N_NEAR))
    return goals


def cost_goals(
    name: str, ours: list[dict[str, Any]], svc: dict[str, Any]
) -> list[tuple[str, float, str, float]]:
    """Ratios of cost to SVC, by the mean over the seeds."""

    def mean(key: str) -> float:
        return statistics.mean(row[key] for row in ours)

    fit, whole = mean("fit_cpu_seconds"), mean("choice_and_fit_cpu_seconds")
    goals = []
    if "accuracy" in svc:
        ratio = svc["predict_cpu_microseconds"] / mean("predict_cpu_microseconds")
        goals.append((f"{name}: SVC prediction / ours", ratio, ">=", PREDICT_RATIO))
    if svc["rows"] >= LARGE:
        svc_fit = svc.get("fit_cpu_seconds", svc.get("stopped_after"))
        goals.append((f"{name}: SVC fit / ours", svc_fit / fit, ">=", FIT_RATIO))
        goals.append(
            (f"{name}: our choice and fit / SVC fit", whole / svc_fit, "<=", 1)
        )
    if svc["rows"] <= SMALL:
        grid = svc["choice_cpu_seconds"] + svc["fit_cpu_seconds"]
        goals.append(
            (f"{name}: our whole fit / SVC's", whole / grid, "<=", SMALL_RATIO)
        )
    return goals


if __name__ == "__main__":
    main()
