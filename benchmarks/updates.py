"""Updates of fitted models: time, and whether they are what a refit would give.

Random single rows of covtype (class 2 against the rest, 100,000 standardised rows) and
of Adult are removed and come back. Afterwards the model is compared with one that is
solved from nothing for the rows present and the same frozen parts, on 10,000 queries.
A stream adds covtype batch by batch to a model of its first batch. CPU seconds of one
thread. Writes results/updates.json.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from records import check_goals, save, show

from localsvm import AdditiveSVC, ClusteredSVC
from localsvm.data import load_benchmark, load_task
from localsvm.estimators._additive.fit import fit_additive
from localsvm.estimators._regional.solve import solve_rows
from localsvm.estimators._regional.updates import measured, with_vectors
from localsvm.solvers import RunLimits, SolverOptions

COMMAND = "python benchmarks/updates.py"
TASKS = ("covtype_2_vs_rest",)
DATA = (*TASKS, "adult")
N_ROWS, N_QUERIES, N_STREAM = 100_000, 10_000, 20_000
MODELS: dict[str, tuple[Callable[..., Any], dict[str, Any], int]] = {
    "ClusteredSVC, soft": (ClusteredSVC, {}, 100),
    "ClusteredSVC, hard": (ClusteredSVC, {"n_nearest": 1}, 100),
    "ClusteredSVC, independent": (
        ClusteredSVC,
        {"n_nearest": 1, "global_reg": np.inf},
        100,
    ),
    "AdditiveSVC": (AdditiveSVC, {"C": 3.0}, 30),
}
Rows = tuple[NDArray[Any], NDArray[Any]]


def load(name: str) -> tuple[Rows, NDArray[Any]]:
    """Training rows, at most 100,000, and queries, standardised in single precision."""
    data = load_task(name) if name in TASKS else load_benchmark(name)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(data.X_train))
    rows = order[:N_ROWS]
    X = np.asarray(data.X_train, dtype=np.float64)
    mean, spread = X[rows].mean(axis=0), X[rows].std(axis=0)
    spread[spread == 0] = 1.0
    queries = np.asarray(data.X_test, dtype=np.float64)[:N_QUERIES]
    X, queries = (
        ((each - mean) / spread).astype(np.float32) for each in (X[rows], queries)
    )
    return (X, data.y_train[rows]), queries


def timed(function: Callable[..., Any], *args: Any, **more: Any) -> tuple[Any, float]:
    """Call, and measure the CPU seconds of it."""
    start = time.process_time()
    result = function(*args, **more)
    return result, time.process_time() - start


def refit(model: Any, tol: float) -> Any:
    """Solve from nothing for the rows present, regions or bins as they are."""
    kept = model._kept.compacted()
    if isinstance(model, AdditiveSVC):
        weight = kept.class_weight[kept.rows.class_index] * kept.rows.weight
        fit = fit_additive(
            np.ascontiguousarray(kept.rows.X.values.T),
            kept.bins,
            kept.rows.class_index,
            weight,
            len(kept.class_weight),
            kept.settings,
            RunLimits(tol=tol, max_iter=100),
        )
        return replace(kept, coef=fit.coef, model=fit.model).measured()
    options = SolverOptions(loss=kept.settings.loss, tol=tol, max_iter=1000)
    solution, _ = solve_rows(
        kept.problem(), kept.codes, kept.regions, kept.settings, options, None
    )
    return with_vectors(replace(kept, duals=solution.duals))


def compare(model: Any, other: Any, queries: NDArray[Any]) -> dict[str, Any]:
    """Decisions of the updated model and of the refit, and the distance allowed."""
    ours = model.decision_function(queries).astype(np.float64)
    if isinstance(model, AdditiveSVC):
        theirs = other.model.decide(queries).ravel()
        return {"agree": float(np.mean((ours > 0) == (theirs > 0))), "beyond": None}
    other = measured(other)
    kept = model._kept
    codes = kept.regions.code(queries)
    theirs = other.model(np.float64).decide(queries, codes, 1)
    square = (queries.astype(np.float64) ** 2).sum(axis=1) + kept.settings.constant**2
    weight = 1.0 + kept.settings.global_weight**2
    gaps = [np.sqrt(np.maximum(each.primal - each.dual, 0)) for each in (kept, other)]
    reach = gaps[0] + gaps[1]
    if kept.is_independent:
        reach = reach[codes.regions[:, 0]]
    far = np.abs(ours - theirs.ravel()) - reach * np.sqrt(weight * square)
    return {
        "agree": float(np.mean((ours > 0) == (theirs.ravel() > 0))),
        "beyond": int((far > 1e-3).sum()),
    }


def true_gap(model: Any) -> float:
    """Relative gap over all rows present, from the rows and duals alone."""
    kept = model._kept
    if isinstance(model, AdditiveSVC):
        return float(kept.measured().gaps.max())
    return float(measured(with_vectors(kept)).gaps.max())


def milliseconds(seconds: list[float], share: float) -> float:
    """Quantile of some times."""
    return round(1e3 * float(np.quantile(seconds, share)), 3)


def run_updates(name: str, title: str) -> dict[str, Any]:
    """Remove rows one by one and add them again."""
    make, params, n_updates = MODELS[title]
    (X, y), queries = load(name)
    model = make(random_state=0, updatable=True, **params)
    _, fit_seconds = timed(model.fit, X, y)
    rng = np.random.default_rng(1)
    removals, additions, idle, worst = [], [], [], 0.0
    for row in rng.choice(len(X), n_updates, replace=False):
        one = X[row : row + 1], y[row : row + 1]
        report, seconds = timed(model.update, remove=one)
        (removals if report.n_iter else idle).append(seconds)
        if rng.random() < 0.5:
            report, seconds = timed(model.update, add=one)
            additions.append(seconds)
        worst = max(worst, report.duality_gap)
    other, refit_seconds = timed(refit, model, model.tol)
    solved = removals or idle
    return {
        "data": name,
        "model": title,
        "n_rows": len(X),
        "n_updates": len(removals) + len(idle) + len(additions),
        "fit_seconds": round(fit_seconds, 3),
        "refit_seconds": round(refit_seconds, 3),
        "n_idle": len(idle),
        "idle_ms": milliseconds(idle, 0.5) if idle else None,
        "removal_ms": milliseconds(solved, 0.5),
        "removal_ms_99": milliseconds(solved, 0.99),
        "addition_ms": milliseconds(additions, 0.5),
        "addition_ms_99": milliseconds(additions, 0.99),
        "refits_per_removal": round(refit_seconds / float(np.median(solved)), 1),
        "worst_gap": worst,
        "true_gap": true_gap(model),
        "tol": model.tol,
        **compare(model, other, queries),
    }


def run_stream(title: str) -> dict[str, Any]:
    """Add all batches but the first to a model of the first."""
    make, params, _ = MODELS[title]
    (X, y), queries = load("covtype_2_vs_rest")
    batches = np.array_split(np.arange(N_STREAM), 100)
    first = np.concatenate(batches[:10])
    model = make(random_state=0, updatable=True, **params).fit(X[first], y[first])
    seconds = [
        timed(model.update, add=(X[batch], y[batch]))[1] for batch in batches[10:]
    ]
    other = refit(model, model.tol)
    return {
        "data": "covtype_2_vs_rest",
        "model": title,
        "n_rows": N_STREAM,
        "n_batches": len(batches),
        "batch_ms": milliseconds(seconds, 0.5),
        "batch_ms_99": milliseconds(seconds, 0.99),
        "true_gap": true_gap(model),
        "tol": model.tol,
        **compare(model, other, queries),
    }


def worst_of(row: dict[str, Any]) -> float:
    """Give the largest gap of a run, at its end or after one of its updates."""
    return float(max(row["true_gap"], row.get("worst_gap", 0.0)))


def goals_of(rows: list[dict[str, Any]], stream: list[dict[str, Any]]) -> list[Any]:
    """Compare what was reached with what was wanted."""
    covtype = {row["model"]: row for row in rows if row["data"] == DATA[0]}
    soft, hard, alone, _ = (covtype[title] for title in MODELS)
    every = [*rows, *stream]
    return check_goals(
        [
            (
                "gap over tol, worst",
                max(worst_of(r) / r["tol"] for r in every),
                "<=",
                1,
            ),
            ("decisions beyond reach", sum(r["beyond"] or 0 for r in every), "<=", 0),
            ("no dual: ms, soft", soft["idle_ms"], "<=", 0.2),
            ("a dual: ms, hard", hard["removal_ms"], "<=", 20),
            ("a dual: ms, soft", soft["removal_ms"], "<=", 40),
            ("a dual: ms, independent", alone["removal_ms"], "<=", 0.5),
            ("refits per removal, hard", hard["refits_per_removal"], ">=", 40),
            ("refits per removal, soft", soft["refits_per_removal"], ">=", 40),
        ]
    )


def main() -> None:
    """Measure all, print and save."""
    rows = []
    for name in DATA:
        for title in MODELS:
            rows.append(run_updates(name, title))
            show(rows[-1:])
    stream = [run_stream(title) for title in MODELS]
    show(stream[:3])
    goals = goals_of(rows, stream)
    show(goals)
    save("updates", COMMAND, rows, data=DATA, stream=stream, goals=goals)


if __name__ == "__main__":
    main()
