"""One run: rows, choice of a setting, fit, prediction, measurements, record."""

from __future__ import annotations

import math
import platform
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any

import numpy as np
import sklearn
from benchmarks.environment import code, machine

import localsvm
from localsvm._threads import single_threaded_libraries
from papers._definition import Run, describe
from papers._measures import Fitted, accuracy
from papers._rows import TrainTest, rows_of
from papers._selection import Choice, choose
from papers._store import Record


class _Clock:
    """Seconds of this process per stage, by the wall and by its CPU time."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.cpu_seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start, cpu_start = time.perf_counter(), time.process_time()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 4)
        self.cpu_seconds[name] = round(time.process_time() - cpu_start, 4)


def execute(run: Run, choice: Choice | None = None) -> Record:
    """Carry out a run on one thread and return its record.

    Parameters
    ----------
    run : Run
    choice : Choice or None, default=None
        The setting, if a run with the same ``selection_key`` has chosen it.
    """
    clock = _Clock()
    with single_threaded_libraries(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        rows = rows_of(run.data, run.split, run.seed)
        if choice is None and run.selection_key is not None:
            choice = _choose(run, rows, clock)
        params = {} if choice is None else choice.params
        model = run.method.estimator.make(run.seed, **params)
        with clock.stage("fit"):
            model.fit(rows.X_train, rows.y_train)
        with clock.stage("predict"):
            predicted = model.predict(rows.X_test)
        scores, arrays = _measure(run, Fitted(model, rows, predicted))
        environment = {**code(), **machine()}
    return {
        "key": run.key,
        "group": run.group,
        "method": run.method.name,
        "seed": run.seed,
        "selection": run.selection_key,
        "chosen": None if choice is None else describe(dict(choice.params)),
        "validation_accuracy": None if choice is None else round(choice.score, 4),
        "scores": scores,
        "arrays": arrays,
        "seconds": {"prepare": round(rows.seconds, 4), **clock.seconds},
        "cpu_seconds": {"prepare": round(rows.cpu_seconds, 4), **clock.cpu_seconds},
        "stages": _stages(model),
        "rows": [*rows.X_train.shape, len(rows.y_test)],
        "warnings": sorted({str(warning.message) for warning in caught}),
        "run": describe(run),
        "versions": _versions(),
        "environment": environment,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def choice_of(record: Record) -> Choice | None:
    """Give the setting that a recorded run was fitted with, for others to share."""
    if record["selection"] is None:
        return None
    return Choice(_numbers(record["chosen"]), record["validation_accuracy"])


def _choose(run: Run, rows: TrainTest, clock: _Clock) -> Choice:
    assert run.selection is not None
    with clock.stage("select"):
        return choose(run.method, run.selection, rows.X_train, rows.y_train)


def _measure(run: Run, fitted: Fitted) -> tuple[dict[str, Any], dict[str, Any]]:
    measured: dict[str, Any] = dict(accuracy(fitted))
    for measure in run.measures:
        measured.update(measure(fitted))
    scores = {n: _rounded(v) for n, v in measured.items() if np.isscalar(v)}
    arrays = {n: v for n, v in measured.items() if not np.isscalar(v)}
    return scores, arrays


def _rounded(value: Any) -> float | int | None:
    if isinstance(value, int):
        return value
    number = float(value)
    return float(f"{number:.8g}") if math.isfinite(number) else None


def _stages(model: Any) -> dict[str, float]:
    report: Mapping[str, Any] = getattr(model, "fit_report_", None) or {}
    numbers = {n: v for n, v in report.items() if isinstance(v, int | float)}
    return {name: round(float(value), 4) for name, value in numbers.items()}


def _numbers(chosen: Mapping[str, Any]) -> dict[str, Any]:
    # JSON has no infinity; describe() wrote its name.
    return {n: float(v) if v in ("inf", "-inf") else v for n, v in chosen.items()}


@cache
def _versions() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "localsvm": localsvm.__version__,
    }
